r"""
Texts: which part of SciPy does a sentence describe?
====================================================

The first sentences of SciPy's documentation are short texts with a known class, the
subpackage of the function. Eight of each class keep their label. ``mercer.learn`` takes
the table with its column of texts as it is; with an embedding model installed,
``embed="text"`` compares the texts by meaning in place of their words.
"""

import inspect

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.stats
from matplotlib import pyplot as plt

import mercer

parts = {
    "linear algebra": scipy.linalg,
    "images": scipy.ndimage,
    "signals": scipy.signal,
    "statistics": scipy.stats,
}
texts = {
    (part, inspect.getdoc(getattr(module, name)).split("\n\n")[0].replace("\n", " "))
    for part, module in parts.items()
    for name in module.__all__
    if inspect.getdoc(getattr(module, name)) and name[0].islower()
}
frame = pd.DataFrame(sorted(texts), columns=["part", "text"])
frame = frame[frame.text.str.split().str.len() > 3].reset_index(drop=True)
frame.sample(4, random_state=0)

# %%
# Eight labels per class; all other cells of the column are empty.

truth = frame.part.to_numpy()
labeled = frame.groupby("part").sample(8, random_state=0).index
frame["part"] = frame.part.where(frame.index.isin(labeled))

result = mercer.learn(frame, target="part")
predicted = result.predictions.prediction.to_numpy()
hidden = ~frame.index.isin(labeled)
estimate = result.check.scores[0]
print(
    f"{hidden.sum()} texts without a label: expected {estimate.low:.0%} to "
    f"{estimate.high:.0%} right, in fact {np.mean((predicted == truth)[hidden]):.0%}"
)

# %%
# Rows of the matrix are the true parts, columns the predicted ones.

counts = pd.crosstab(truth[hidden], predicted[hidden], normalize="index")
figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
ax.imshow(counts, cmap="Blues", vmin=0, vmax=1)
ax.set_xticks(range(len(counts.columns)), counts.columns, rotation=20)
ax.set_yticks(range(len(counts)), counts.index)
for i, j in np.ndindex(counts.shape):
    share = counts.iloc[i, j]
    ax.text(
        j, i, f"{share:.0%}", ha="center", color="white" if share > 0.5 else "black"
    )
plt.show()
