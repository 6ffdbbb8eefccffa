r"""
Thirty graphs, twelve labels: which graph is good?
==================================================

Threes and eights of scikit-learn's digits, six of each labelled. Thirty neighbour
graphs are built, with 1 to 10 neighbours in three distances: Euclidean, the smallest
over small affine changes of one image, and the tangent distance. Each graph gives a
kernel, the pseudo-inverse of its Laplacian.

`GraphAnnealedKernelMachine` chooses among them while it finds the unknown labels (Dai
and Yeung 2007). The picture follows their Figure 1: the weight each kernel gets and,
above, the error of the machine with that kernel alone. The machine never saw those
errors.
"""

import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from mercer.exceptions import DisconnectedGraphWarning
from mercer.graphs import AffineDistance, TangentDistance
from mercer.machines import GraphAnnealedKernelMachine

digits = load_digits()
rows = np.flatnonzero(np.isin(digits.target, (3, 8)))
X, truth = digits.data[rows] / 16, digits.target[rows]
rng = np.random.default_rng(0)
y = np.full(len(truth), -1)
for digit in (3, 8):
    shown = rng.choice(np.flatnonzero(truth == digit), 6, replace=False)
    y[shown] = digit
hidden = y == -1


def error(machine: GraphAnnealedKernelMachine) -> float:
    """Percent of the hidden labels found wrong; lost points get the class ratio."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        found = machine.fit(X, y).transduction_
    return 100 * float(np.mean(found[hidden] != truth[hidden]))


quick = {"tol": 1e-4, "final_temperature": 1e-4, "random_state": 0}
names = ("Euclidean", "affine", "tangent")
metrics = ("euclidean", AffineDistance(), TangentDistance())
ks = tuple(range(1, 11))
machine = GraphAnnealedKernelMachine(
    n_neighbors=ks, metrics=metrics, trace_normalized=True, **quick
)
together = error(machine)
alone = [
    error(GraphAnnealedKernelMachine(n_neighbors=(k,), metrics=(metric,), **quick))
    for metric in metrics
    for k in ks
]

print(f"{len(X)} images, {np.sum(~hidden)} labelled")
print(f"all thirty kernels: {together:.1f}% of the hidden labels wrong")
print(f"one kernel alone: from {min(alone):.1f}% to {max(alone):.1f}%")
weighted = float(machine.weights_ @ alone)
print(f"mean error of a kernel: {np.mean(alone):.1f}%, weighted: {weighted:.1f}%")

# %%
# Errors above, weights below; one group of bars for each distance.

figure = plt.figure(figsize=(10, 5), layout="constrained")
top, bottom = figure.subplots(2, 1, sharex=True)
position = np.arange(30)
colors = np.repeat(["#4c72b0", "#dd8452", "#55a868"], 10)
highest = 6
top.bar(position, np.minimum(alone, highest), color=colors)
for place, percent in zip(position, alone, strict=True):
    if percent > highest:
        top.text(place, highest, f"{percent:.0f}", ha="center", va="bottom")
top.axhline(together, color="black", linewidth=1, linestyle="--", label="all thirty")
top.set_ylim(0, highest + 1)
top.legend(loc="upper center", frameon=False)
top.set_ylabel("error of the kernel\nalone, %")
bottom.bar(position, 100 * machine.weights_, color=colors)
bottom.set_ylabel("weight in the\ncombination, %")
bottom.set_xticks(position, [str(k) for _ in names for k in ks])
bottom.set_xlabel("number of neighbours of the graph")
for group, name in enumerate(names):
    top.text(
        10 * group + 4.5,
        1.02,
        name,
        transform=top.get_xaxis_transform(),
        ha="center",
        color=colors[10 * group],
    )

plt.show()
