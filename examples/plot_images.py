r"""
Images: one label per digit, the rest by the model
==================================================

Ten labelled images, one of each digit, and 1,787 without a label. The model predicts
all of them, and its probabilities say which predictions to look at: the picture shows
the least and the most certain ones. For photographs, give the model embeddings of a
pretrained network in place of the pixels (``mercer learn --embed``).
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from mercer import UnifiedKernelMachine

images, truth = load_digits(return_X_y=True)
y = np.full(len(truth), -1)
rng = np.random.default_rng(1)
for digit in range(10):
    y[rng.choice(np.flatnonzero(truth == digit))] = digit

model = UnifiedKernelMachine(random_state=0).fit(images, y)

# %%
# How often is the model right, by how certain it is?

proba = model.training_proba()
confidence, hidden = proba.max(axis=1), y == -1
right = model.transduction_ == truth
for low, high in ((0.0, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.01)):
    rows = hidden & (confidence >= low) & (confidence < high)
    if rows.any():
        print(
            f"confidence {low:.2f} to {min(high, 1):.2f}: {rows.sum():5} images, "
            f"{right[rows].mean():.0%} right"
        )

# %%
# The least certain images in the first two rows, the most certain ones below. Wrong
# predictions are red.

order = np.flatnonzero(hidden)[np.argsort(confidence[hidden])]
shown = np.concatenate([order[:20], order[-20:]])
figure, axes = plt.subplots(4, 10, figsize=(9, 4.4), layout="constrained")
for ax, row in zip(axes.ravel(), shown, strict=True):
    ax.imshow(images[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(
        f"{model.transduction_[row]} ({confidence[row]:.0%})",
        fontsize=8,
        color="black" if right[row] else "red",
    )
    ax.axis("off")
plt.show()
