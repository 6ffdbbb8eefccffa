"""Draw the pictures of docs/how_it_works.md: two moons, six labels, five steps.

python docs/how_it_works.py
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection
from sklearn.datasets import make_moons

from mercer import GraphBasis, ParameterFreeKernel
from mercer.graphs import neighbor_graph
from mercer.machines import RLSClassifier
from mercer.plotting import SpectrumDisplay

IMAGES = Path(__file__).parent / "images"
SIZE = (7.2, 3.4)
RED, BLUE, GREY = "#c44e52", "#4c72b0", "#8a8a8a"

X, truth = make_moons(220, noise=0.08, random_state=3)
y = np.full(len(X), -1)
for c in (0, 1):
    y[np.flatnonzero(truth == c)[[5, 40, 90]]] = c
labeled = np.flatnonzero(y >= 0)


def points(ax: plt.Axes, values: np.ndarray | None = None) -> None:
    """Draw all points, coloured by values if given, and the labels on top."""
    colour = GREY if values is None else values
    limit = 0.0 if values is None else np.abs(values).max()
    extra = (
        {} if values is None else {"cmap": "coolwarm", "vmin": -limit, "vmax": limit}
    )
    ax.scatter(*X.T, c=colour, s=16, linewidths=0, zorder=2, **extra)
    ax.set(xticks=[], yticks=[], aspect="equal")
    for side in ax.spines.values():
        side.set_visible(False)


def labels(ax: plt.Axes) -> None:
    """Draw the labelled points in the colours of their classes."""
    ax.scatter(
        *X[labeled].T,
        c=[(BLUE, RED)[c] for c in y[labeled]],
        s=90,
        edgecolors="black",
        zorder=3,
    )


def keep(figure: plt.Figure, name: str) -> None:
    """Write a picture."""
    figure.savefig(IMAGES / f"how_{name}.png", dpi=110, facecolor="white")
    plt.close(figure)


def main() -> None:
    """Draw the five pictures."""
    figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
    points(ax)
    labels(ax)
    keep(figure, "points")

    graph = neighbor_graph(X, n_neighbors=6, rng=np.random.default_rng(0))
    W = graph.adjacency.tocoo()
    lines = [(X[i], X[j]) for i, j in zip(W.row, W.col, strict=True) if i < j]
    figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
    ax.add_collection(LineCollection(lines, colors="#b8b8b8", linewidths=0.6))
    points(ax)
    labels(ax)
    keep(figure, "graph")

    basis = GraphBasis(n_components=20, n_neighbors=6, random_state=0).fit(X)
    figure, axes = plt.subplots(2, 3, figsize=(7.2, 4), layout="constrained")
    for k, ax in enumerate(axes.ravel()):
        direction = basis.vectors_[:, k] * np.sqrt(len(X))
        points(ax, direction)
        ax.set_title(f"direction {k + 1}: {basis.values_[k]:.3f}", fontsize=9)
    keep(figure, "directions")

    learner = ParameterFreeKernel(basis=basis).fit(X, y)
    figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
    SpectrumDisplay.from_estimator(learner, ax=ax)
    keep(figure, "weights")

    machine = RLSClassifier(learner).fit(X, y)
    scores = machine.decision_function(X)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
    similar = learner.kernel_(X)[:, labeled[0]]
    points(left, similar)
    left.scatter(*X[labeled[0]], s=90, c=BLUE, edgecolors="black", zorder=3)
    left.set_title("similarity to one labelled point", fontsize=9)
    points(right, scores)
    labels(right)
    right.set_title("scores of all points", fontsize=9)
    keep(figure, "spreading")
    print(f"{np.mean((scores > 0) == truth):.1%} of the points right")


if __name__ == "__main__":
    main()
