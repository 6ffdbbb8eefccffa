"""Deterministic annealing over unknown labels, with the kernel chosen on the way."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning

from mercer._base.typing import FloatArray, IntArray
from mercer.optim.class_ratio import SoftLabels, solve_soft_labels
from mercer.optim.convex_losses import Loss, difference
from mercer.optim.kernel_stack import KernelStack
from mercer.optim.kernel_weights import KernelWeights, solve_kernel_weights

START = 10.0  # temperature


@dataclass(frozen=True, slots=True, eq=False)
class Annealed:
    """End of the annealing, and what happened on the way."""

    weights: FloatArray  # (N,) of the kernels, on the simplex
    coef: FloatArray  # (n, m) with f = K(weights) coef
    P: FloatArray  # (u, C) soft labels of the unlabelled points
    offsets: FloatArray  # (C,) multipliers of the class shares at the end
    temperatures: FloatArray
    objectives: tuple[FloatArray, ...]  # per temperature, one value a round
    gap: float  # relative duality gap of the last choice of weights
    ratio_residual: float  # largest error of a class share at the end
    change: float  # largest last change of P, in norm, over the temperatures


def solve_annealed(
    stack: KernelStack,
    codes: IntArray,
    *,
    n_classes: int,
    gamma: float,
    beta: float,
    ratio: FloatArray,
    weights: FloatArray,
    shares: FloatArray | None = None,
    loss: Loss = "squared",
    start_temperature: float = START,
    cooling: float = 1.4,
    final_temperature: float = 1e-7,
    tol: float = 1e-7,
    max_rounds: int = 500,
) -> Annealed:
    r"""Choose kernel, function and unknown labels together.

    At each temperature T the free energy

    .. math::
        \sum_{i \in L} (y_i - f_i)^2
        + \beta \sum_{i \in U} \bigl[p_i (1 - f_i)^2 + (1 - p_i)(1 + f_i)^2\bigr]
        + \gamma \|f\|^2_{K(\lambda)} - T\, S(p)

    is lowered in turn over the kernel weights with f (`solve_kernel_weights`) and over
    the soft labels p of given class shares (`solve_soft_labels`).

    Parameters
    ----------
    stack : KernelStack
        Kernels over all n points, with gamma over the weight on the diagonal for
        labelled points and gamma / beta for the others.
    codes : ndarray of shape (n,)
        Class 0 .. C-1, or -1 where unknown.
    n_classes : int
    gamma, beta : float
        Weights of the norm and of the unlabelled loss.
    ratio : ndarray of shape (C,)
        Class shares among the unlabelled points.
    weights : ndarray of shape (N,)
        Kernel weights to start from.
    shares : ndarray of shape (l, C), optional
        Label distributions of the labelled points, where labels are not sure.
    loss : {"squared", "logistic", "hinge"}, default="squared"
        That of the stack.
    start_temperature, cooling, final_temperature : float
        T is divided by `cooling` from the first to the last.
    tol : float, default=1e-7
        Change of the soft labels (Euclidean norm) that ends a temperature, and
        relative duality gap of the kernel weights.
    max_rounds : int, default=500
        Rounds at one temperature.

    Notes
    -----
    Dai and Yeung (2007), Eq. 5 and Algorithm 1. With squared loss a point with soft
    label p is a point with label 2p - 1 up to a constant, so the step in f is kernel
    ridge regression, :math:`(K + \gamma W^{-1}) c = t`. More than two classes: one
    column per class, loss and norm summed, one entropy per point. Other convex losses
    take the place of the squares in the same way: the step in f is then the machine of
    that loss in which each unlabelled point has both labels, weighted by p and 1 - p.

    Examples
    --------
    >>> from mercer.optim.kernel_stack import DenseStack
    >>> x = np.array([0.0, 1.0, 5.0, 6.0])
    >>> K = np.exp(-((x[:, None] - x) ** 2))[None]
    >>> noise = np.array([0.1, 1.0, 1.0, 0.1])
    >>> end = solve_annealed(
    ...     DenseStack(K, noise), np.array([0, -1, -1, 1]), n_classes=2,
    ...     gamma=0.1, beta=0.1, ratio=np.array([0.5, 0.5]), weights=np.ones(1))
    >>> end.P.argmax(axis=1)
    array([0, 1])
    """
    unlabeled = np.flatnonzero(codes < 0)
    P = np.equal.outer(codes, np.arange(n_classes)) * 1.0
    if shares is not None:
        P[codes >= 0] = shares
    P[unlabeled] = ratio
    soft = SoftLabels(P[unlabeled], np.log(ratio), 0.0)
    targets = soft_targets(P)
    fit = solve_kernel_weights(stack, targets, weights=weights, tol=tol)
    temperatures, objectives, worst = [], [], 0.0
    T = start_temperature
    while final_temperature <= T:
        path = []
        for _ in range(max_rounds):
            f = fit.point.fitted()[unlabeled]
            before = soft.P
            soft = solve_soft_labels(
                _losses(f, beta, loss), temperature=T, ratio=ratio, offsets=soft.offsets
            )
            targets[unlabeled] = soft_targets(soft.P)
            fit = solve_kernel_weights(
                stack,
                targets,
                weights=fit.weights,
                system=fit.system,
                tol=tol,
            )
            path.append(_free_energy(fit, soft.P, gamma, beta, T, loss))
            change = float(np.linalg.norm(soft.P - before))
            if change <= tol:
                break
        temperatures.append(T)
        objectives.append(np.array(path))
        worst = max(worst, change)
        T /= cooling
    if worst > tol:
        msg = (
            f"solve_annealed: soft labels still changed by {worst:.1e} > tol={tol:.1e} "
            f"after {max_rounds} rounds at one temperature; raise max_rounds or tol."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    return Annealed(
        fit.weights,
        fit.point.coef(),
        soft.P,
        soft.offsets,
        np.array(temperatures),
        tuple(objectives),
        fit.gap,
        soft.residual,
        worst,
    )


def soft_targets(P: FloatArray) -> FloatArray:
    """Return the means of +1 and -1 under class shares, one column for two classes.

    Examples
    --------
    >>> soft_targets(np.array([[1.0, 0.0], [0.25, 0.75]]))
    array([[-1. ],
           [ 0.5]])
    """
    shares = P[:, 1:] if P.shape[1] == 2 else P
    return 2 * shares - 1


def _losses(f: FloatArray, beta: float, loss: Loss) -> FloatArray:
    """Differentiate the expected loss in P, up to a constant per row."""
    g = beta * difference(f, loss)
    return np.hstack([np.zeros_like(g), g]) if g.shape[1] == 1 else g


def _free_energy(
    fit: KernelWeights, P: FloatArray, gamma: float, beta: float, T: float, loss: Loss
) -> float:
    # With squares the fit leaves out the spread of the labels around their mean.
    spread = 4 * beta * float((P * (1 - P)).sum()) if loss == "squared" else 0.0
    if P.shape[1] == 2:
        spread /= 2  # the two columns share one output
    return float(gamma * fit.value + spread + T * xlogy(P, P).sum())
