"""Figures 2 and 3 of Abbasnejad et al. (2010), on rotated objects of COIL-20."""

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from mercer._base.typing import FloatArray
from mercer.exceptions import NearlyConstantKernelWarning
from mercer.kernels.parametric import RBF, Linear, Polynomial
from mercer.learners.influence import InfluenceKernel
from mercer_studies.abbasnejad2010_methods import dataset
from mercer_studies.study import Results

N_IMAGES = 12
WIDTHS = (0.1, 10.0)  # of the Gaussians, in mean squared distances


def rotated_object(which: int) -> FloatArray:
    """Return twelve consecutive views of an object, five degrees apart."""
    data = dataset("coil20_32x32")
    X: FloatArray = np.asarray(data.X)[np.flatnonzero(data.y == which)[:N_IMAGES]]
    return X


def matrices(X: FloatArray) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the kernel matrices of Figure 2, and the influence of the points."""
    squared = cdist(X, X, "sqeuclidean")
    gaussians = [RBF(gamma=1 / (w * squared.mean())) for w in WIDTHS]
    kernels = [Linear(), Polynomial(degree=2, gamma=1.0, coef0=1.0), *gaussians]
    learner = InfluenceKernel(kernels, combination="affine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearlyConstantKernelWarning)
        learner.fit(X)
    linear, polynomial, *_ = learner.kernels_
    found = {
        "linear": linear(X),
        "polynomial": polynomial(X),
        "average": learner.average_kernel_(X),
        "affine": learner.kernel_(),
    }
    return found, learner.influence_


def run_matrices(*, split: int) -> dict[str, float]:
    """Return "matrix|column" for Figure 2; the split is the object."""
    return describe(rotated_object(split))


def describe(X: FloatArray) -> dict[str, float]:
    """Return how kernel values between points spread and follow the distances."""
    result = {}
    above = np.triu_indices(len(X), 1)
    distances = cdist(X, X)[above]
    for name, K in matrices(X)[0].items():
        values = K[above]
        result[f"{name}|smallest"] = float(values.min())
        result[f"{name}|mean"] = float(values.mean())
        result[f"{name}|deviation"] = float(values.std())
        correlation = spearmanr(values, distances).statistic
        result[f"{name}|rank correlation with distance"] = float(correlation)
    return result


def run_eigenvectors(*, split: int) -> dict[str, float]:
    """Return "matrix|column" for Figure 3; the split is the object."""
    return influence_and_centre(rotated_object(split))


def influence_and_centre(X: FloatArray) -> dict[str, float]:
    """Return how influence goes with the distance from the centre of the plot."""
    found, influence = matrices(X)
    result = {}
    for name, K in found.items():
        plane = leading_plane(K)
        radius = np.linalg.norm(plane - plane.mean(axis=0), axis=1)
        correlation = spearmanr(influence, radius).statistic
        result[f"{name}|rank correlation of influence and radius"] = float(correlation)
    return result


def leading_plane(K: FloatArray) -> FloatArray:
    """Return the eigenvectors of the two largest eigenvalues, (n, 2)."""
    vectors: FloatArray = eigh(K)[1][:, :-3:-1]
    return vectors


def draw_matrices(figure: Any, results: Results) -> None:
    """Draw the distances and the kernels of the first object."""
    X = rotated_object(0)
    found, _ = matrices(X)
    shown = {"distances": cdist(X, X), **found}
    figure.set_size_inches(3 * len(shown), 3.2)
    for ax, (name, K) in zip(
        figure.subplots(1, len(shown)), shown.items(), strict=True
    ):
        figure.colorbar(ax.imshow(K), ax=ax, shrink=0.7)
        ax.set_title(name)
        ax.set_axis_off()


def draw_eigenvectors(figure: Any, results: Results) -> None:
    """Draw the two leading eigenvectors for the first object, views numbered."""
    found, influence = matrices(rotated_object(0))
    figure.set_size_inches(3.2 * len(found), 3.4)
    for ax, (name, K) in zip(
        figure.subplots(1, len(found)), found.items(), strict=True
    ):
        plane = leading_plane(K)
        ax.scatter(*plane.T, c=influence)
        for view, place in enumerate(plane):
            ax.annotate(
                str(view + 1),
                place,
                xytext=(4, 2),
                textcoords="offset points",
                fontsize=8,
            )
        ax.locator_params(axis="x", nbins=3)
        ax.set_title(f"{name} (colour: influence)", fontsize=9)
