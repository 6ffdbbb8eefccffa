r"""
Ten labels, 1,797 digits
========================

A kernel is learned from one labelled image of each digit and the other 1,787 images
without labels. Its accuracy on those stands next to scikit-learn's LabelSpreading on
the same ten labels.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from mercer import GraphBasis, ParameterFreeKernel, RLSClassifier

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
labeled = np.array([rng.choice(np.flatnonzero(truth == digit)) for digit in range(10)])
y = np.full(len(truth), -1)
y[labeled] = truth[labeled]
hidden = y == -1

kernel = ParameterFreeKernel(basis=GraphBasis(n_components=50, n_neighbors=5))
ours = RLSClassifier(kernel=kernel).fit(X, y)
peer = LabelSpreading(kernel="knn").fit(X, y)

print(f"digits: {len(X)} images, {len(labeled)} labels")
for name, model in [("Mercer", ours), ("LabelSpreading", peer)]:
    accuracy = np.mean(model.transduction_[hidden] == truth[hidden])
    print(f"{name:>15}: {accuracy:.1%} of the unlabelled images right")
