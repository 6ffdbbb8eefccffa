"""The best aligned weights of a basis, for decaying and ordered kernels."""

from dataclasses import dataclass

import numpy as np

from mercer._base.html import Shown
from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.learners.base import unit_mean_diagonal
from mercer.optim.cone import solve_decaying_spectrum
from mercer.optim.spectral import eigenspaces
from mercer.spectrum.base import Basis
from mercer.spectrum.gram import directions_of_energy


@dataclass(frozen=True, slots=True)
class AlignmentCertificate(Shown):
    """How the aligned weights know that they are right.

    Parameters
    ----------
    alignment : float
        Agreement with the target kernel over the labelled points; 1 is perfect.
    kkt_residual : float
        How far the optimality conditions are from holding; 0 is optimal.
    n_iter : int
        Steps of the solver.
    """

    alignment: float
    kkt_residual: float
    n_iter: int


def signed_targets(labels: Labels) -> FloatArray:
    """Return y_c over the labelled points: +1 on class c, -1 elsewhere."""
    targets: FloatArray = 2 * labels.one_hot() - 1
    return targets


def aligned_weights(
    basis: Basis,
    labeled: IntArray,
    targets: FloatArray,
    *,
    n_components: int,
    decay: float,
    free: BoolArray | None = None,
) -> tuple[FloatArray, AlignmentCertificate]:
    r"""Align :math:`\sum_i \mu_i u_i u_i^\top` with :math:`\sum_c y_c y_c^\top`.

    Parameters
    ----------
    basis : fitted basis
        Equal values share one weight: what single directions of an eigenspace get
        would depend on the choice of its basis.
    labeled : ndarray of shape (n_labeled,)
        Rows of the basis that carry a label.
    targets : ndarray of shape (n_labeled, n_targets)
        Columns y_c.
    n_components : int
        Leading directions that are used, d at most.
    decay : float
        See `solve_decaying_spectrum`.
    free : ndarray of shape (d,) of bool, optional
        Directions outside the chain, each with an eigenvalue of its own.

    Returns
    -------
    weights : ndarray of shape (r,)
        Of all directions, scaled so that the mean of k(x, x) is 1.
    certificate : AlignmentCertificate
    """
    U = basis.vectors_[labeled, :n_components]
    spaces = eigenspaces(basis.values_[:n_components])
    members = (spaces[:, None] == np.arange(spaces[-1] + 1)).astype(np.float64)
    G = members.T @ np.square(U.T @ U) @ members
    b = members.T @ np.square(U.T @ targets).sum(axis=1)
    solution = solve_decaying_spectrum(
        G, b, decay=decay, free=None if free is None else members.T @ free > 0
    )
    certificate = AlignmentCertificate(
        alignment=solution.objective / float(np.linalg.norm(targets.T @ targets)),
        kkt_residual=solution.kkt_residual,
        n_iter=solution.n_iter,
    )
    weights = np.zeros(len(basis.values_))
    weights[: len(spaces)] = solution.weights[spaces]
    return unit_mean_diagonal(weights, basis.vectors_), certificate


def directions_by_energy(basis: Basis, energy: float) -> int:
    """Return how many directions of a fitted basis have a share of the trace.

    Parameters
    ----------
    basis : fitted basis
        Of a kernel: its values are eigenvalues, largest first.
    energy : float
        Between 0 and 1.
    """
    values = basis.values_
    if len(values) > 1 and values[0] < values[-1]:
        msg = (
            f"n_components={energy:g} is a share of the trace of a kernel, and the "
            "values of this basis rise, as those of a graph do; give a whole number, "
            "or a GramBasis."
        )
        raise ValueError(msg)
    held = 1.0 - basis.certificate_.lost_trace
    found = directions_of_energy(values, float(values.sum()) / held, energy)
    if found is None:
        msg = (
            f"the {len(values)} directions of the basis have {held:.1%} of the trace, "
            f"and n_components={energy:g} asks for more; take "
            f"GramBasis(n_components={energy:g})."
        )
        raise ValueError(msg)
    return found
