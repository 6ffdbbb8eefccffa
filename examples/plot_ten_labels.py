r"""
Ten labels, 1,797 digits
========================

A kernel is learned from one labelled image of each digit and the other 1,787 images
without labels. Its accuracy on those stands next to scikit-learn's LabelSpreading on
the same ten labels, and the picture shows what was learned: the similarity of every
image to every other, images sorted by the digit they show. Nothing but the ten labels
went in; the ten blocks are the digits.

This is one draw of labels, a lucky one for both methods; ``benchmarks/headline.py`` has
the means over twelve draws.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from mercer import RBF, UnifiedKernelMachine

X, truth = load_digits(return_X_y=True)
X = X / 16
rng = np.random.default_rng(0)
labeled = np.array([rng.choice(np.flatnonzero(truth == digit)) for digit in range(10)])
y = np.full(len(truth), -1)
y[labeled] = truth[labeled]
hidden = y == -1

models = {
    "Mercer": UnifiedKernelMachine(random_state=0).fit(X, y),
    "LabelSpreading": LabelSpreading().fit(X, y),
}

print(f"{len(X)} images of digits, {len(labeled)} of them labelled")
for name, model in models.items():
    accuracy = np.mean(model.transduction_[hidden] == truth[hidden])
    print(f"{name:>15}: {accuracy:.1%} of the unlabelled images right")

# %%
# The kernel before and after. Rows are normalised so that k(x, x) = 1.

order = np.argsort(truth, kind="stable")
learned = models["Mercer"].transform(X)[order]
learned /= np.linalg.norm(learned, axis=1, keepdims=True)
fixed = RBF(gamma=1 / np.var(X) / X.shape[1])(X[order])

figure = plt.figure(figsize=(9, 4.8), layout="constrained")
panels = figure.subplots(1, 2)
titles = ("Gaussian kernel", "learned from ten labels")
for ax, K, title in zip(panels, (fixed, learned @ learned.T), titles, strict=True):
    image = ax.imshow(K, vmin=0, vmax=1, cmap="viridis", interpolation="antialiased")
    middles = [np.mean(np.flatnonzero(truth[order] == digit)) for digit in range(10)]
    ax.set_xticks(middles, range(10))
    ax.set_yticks(middles, range(10))
    ax.tick_params(length=0)
    ax.set_title(title)
figure.colorbar(image, ax=panels, shrink=0.8, label="similarity")

plt.show()
