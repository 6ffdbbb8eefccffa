r"""What matters in a spectral kernel.

    python benchmarks/what_matters.py [picture.png]

The parameter-free kernel has nothing to tune, but its graph basis has a number of
directions r, and its penalty :math:`\gamma^p + \epsilon` a power and a ridge. The
picture shows the accuracy on the unlabelled points of three data sets as one of them
changes and the others keep their default, for one and for five labels per class, and
for two machines: one that interpolates the labels, as printed by Mao and Tsang (2010),
and one with a little regularisation, :math:`C = 100`.

Three things can be seen:

- **Do not interpolate with about as many directions as labels** (dotted lines): take
  many more, or a finite C, after which r matters little where the graph is good.
- Where it is not (G50C, two overlapping blobs), what counts is a steep spectrum: few
  directions, or a large power p. A power below 1 is bad everywhere.
- eps from 1e-6 to 1e-4 is safe. Larger ones flatten the spectrum; smaller ones give the
  whole scale of the kernel to the constant direction, so that C = 100 regularises more.

It fits some thousands of kernels, which takes minutes. COIL and G50C come from the
folder that MERCER_DATA names.
"""

import copy
import os
import sys

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from mercer.evidence.labels import Labels
from mercer.learners.parameter_free import ParameterFreeKernel
from mercer.machines.rls import RLSClassifier
from mercer.spectrum.graph import GraphBasis
from mercer_studies.data import load, make_double_spiral, make_g50c

N_DRAWS = 8
LABELS = {1: "tab:orange", 5: "tab:blue"}  # per class
MACHINES = {"interpolation": (np.inf, "-"), "C = 100": (100.0, "--")}
POWERS = (0.5, 1, 1.5, 2, 3, 4, 5, 7)
RIDGES = 10.0 ** np.arange(-10, 0)


def data_sets():
    sets = {"digits": load_digits(return_X_y=True)}
    if os.environ.get("MERCER_DATA"):
        for name in ("ssl_coil", "g50c"):
            data = load(name)
            sets[name.removeprefix("ssl_")] = (data.X, data.y)
    else:
        print("MERCER_DATA is not set: generated sets stand in for COIL and G50C.")
        sets["double spiral"] = make_double_spiral(random_state=0)
        sets["g50c (generated)"] = make_g50c(random_state=0)
    return sets


def draw_labels(y, per_class, seed):
    rng = np.random.default_rng(seed)
    classes = np.unique(y)
    known = np.concatenate(
        [rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in classes]
    )
    few = np.full(len(y), -1)
    few[known] = y[known]
    return few


def first(basis, r):
    """Return the first r directions of a fitted basis."""
    smaller = copy.copy(basis)
    smaller.vectors_, smaller.values_ = basis.vectors_[:, :r], basis.values_[:r]
    return smaller


def mean_accuracy(y, per_class, C, learner, basis):
    accuracies = []
    for seed in range(N_DRAWS):
        few = draw_labels(y, per_class, seed)
        labels = Labels.read(few, min_classes=2)
        kernel = learner.learn(basis, labels).kernel_
        machine = RLSClassifier(C=C).solve(kernel, labels)
        hidden = few < 0
        accuracies.append(np.mean(machine.transduction_[hidden] == y[hidden]))
    return 100 * np.mean(accuracies)


def sweeps(basis, n_labels):
    """Return what changes, its values, and a learner and a basis for each."""
    n = len(basis.vectors_)
    grid = {5, 8, 12, 20, 30, 50, 80, 120, 200, 350, 600, n, *n_labels}
    sizes = sorted(r for r in grid if r <= n)
    wide, plain = first(basis, min(n, 500)), ParameterFreeKernel()
    return [
        ("directions r", sizes, [(plain, first(basis, r)) for r in sizes]),
        ("power p", POWERS, [(ParameterFreeKernel(power=p), wide) for p in POWERS]),
        ("ridge eps", RIDGES, [(ParameterFreeKernel(eps=e), wide) for e in RIDGES]),
    ]


figure = plt.figure(figsize=(11, 9), layout="constrained")
axes = figure.subplots(3, 3, sharey="row")
for row, (name, (X, y)) in zip(axes, data_sets().items(), strict=True):
    basis = GraphBasis(n_components=None, random_state=0).fit(X)
    n_labels = [per_class * len(np.unique(y)) for per_class in LABELS]
    for axis, (what, values, learners) in zip(
        row, sweeps(basis, n_labels), strict=True
    ):
        for per_class, color in LABELS.items():
            for machine, (C, style) in MACHINES.items():
                curve = [mean_accuracy(y, per_class, C, *k) for k in learners]
                label = f"{per_class} per class, {machine}"
                axis.plot(values, curve, style, color=color, label=label, marker=".")
        if what == "directions r":
            for place, color in zip(n_labels, LABELS.values(), strict=True):
                axis.axvline(place, color=color, ls=":", lw=1)
        if what != "power p":
            axis.set_xscale("log")
        axis.set_xlabel(what)
        axis.grid(alpha=0.3)
    row[0].set_ylabel(f"{name}: accuracy (%)")
handles = axes[0, 0].get_legend_handles_labels()
figure.legend(*handles, loc="outside upper center", ncol=4)

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=110)
plt.show()
