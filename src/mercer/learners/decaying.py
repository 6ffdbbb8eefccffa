"""Spectral kernel learning by alignment with a decaying spectrum (Hoi et al.)."""

from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.checks import check_choice, check_number
from mercer._base.typing import RandomState
from mercer.evidence.labels import Labels
from mercer.kernels.parametric import RBF
from mercer.learners._aligned import (
    aligned_weights,
    directions_by_energy,
    signed_targets,
)
from mercer.learners.base import LabelLearner
from mercer.spectrum.base import Basis
from mercer.spectrum.gram import GramBasis
from mercer.spectrum.kernel import SpectralKernel


class DecayingKernel(LabelLearner):
    r"""The kernel of decaying spectrum that aligns best with the labels.

    .. math::

        \max_\mu \frac{\langle K_{ll}, T \rangle}{\|K_{ll}\|_F}, \qquad
        K = \sum_{i=1}^d \mu_i v_i v_i^\top, \quad \mu_i \ge 0, \quad
        \mu_i \ge \mathrm{decay} \cdot \mu_{i+1}.

    Parameters
    ----------
    decay : float, default=2.0
        The decay factor C of the paper, at least 1.
    n_components : int or float, default=20
        The d leading directions of the basis that are used. A number between 0 and 1
        takes as few as have that share of the trace of the kernel, the cumulative
        energy of section 4.2; the basis is then one of a kernel.
    basis : basis or None, default=None
        None is `GramBasis` of a Gaussian kernel whose :math:`2\sigma^2` is the mean
        squared distance of the points.
    target : {"sum", "each"}, default="sum"
        With :math:`y_c` = +1 on class c and -1 elsewhere, T is
        :math:`\sum_c y_c y_c^\top` ("sum"; for two classes :math:`2 y y^\top`), or
        there is one kernel per class with target :math:`y_c y_c^\top` ("each").
    random_state : int, Generator, RandomState or None, default=None
        For the default basis.

    Attributes
    ----------
    kernel_ : SpectralKernel
        Scaled so that k(x, x) is 1 on average over the training points; the mean of
        `kernels_` with ``target="each"``.
    weights_ : ndarray of shape (r,)
        Weights of the directions in `kernel_`.
    kernels_ : list of SpectralKernel
        One per class, in the order of `classes_`, each scaled the same way; only
        with ``target="each"``.
    classes_ : ndarray of shape (n_classes,)
    basis_ : fitted basis
    certificate_ : AlignmentCertificate or tuple of them
        One per class with ``target="each"``.

    See Also
    --------
    OrderedKernel : Weights that fall, without a rate.
    FilterKernel : Weights that ignore the labels.

    Notes
    -----
    Hoi, Lyu and Chang (KDD 2006), eq. (11) to (14), solved as non-negative least
    squares; see `solve_decaying_spectrum`. Departures:

    - Eq. (11) prints > where a maximum needs :math:`\ge`. It also asks for trace 1,
      which changes only the scale; mean diagonal 1 is trace n.
    - For three classes or more the target of +1 and -1 is not positive semi-definite
      and the printed problem can be infeasible; neither choice of `target` is.
    - Directions of equal eigenvalue share one weight.

    References
    ----------
    Steven C. H. Hoi, Michael R. Lyu and Edward Y. Chang. "Learning the Unified Kernel
    Machines for Classification", KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(150) % 10 == 0, y, -1)
    >>> learner = DecayingKernel(decay=2.0).fit(X, few)
    >>> bool(np.all(learner.weights_[:-1] >= 2 * learner.weights_[1:] - 1e-12))
    True
    >>> round(learner.certificate_.alignment, 2)
    0.61
    """

    def __init__(
        self,
        decay: float = 2.0,
        n_components: float = 20,
        *,
        basis: Basis | None = None,
        target: Literal["sum", "each"] = "sum",
        random_state: RandomState = None,
    ) -> None:
        self.decay = decay
        self.n_components = n_components
        self.basis = basis
        self.target = target
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number(self.decay, "decay", at_least=1)
        if isinstance(self.n_components, Integral):
            check_scalar(self.n_components, "n_components", Integral, min_val=1)
        else:
            check_number(self.n_components, "n_components", above=0)
            if self.n_components >= 1:
                msg = (
                    "n_components must be a whole number from 1, or a share of the "
                    f"trace below 1; got {self.n_components!r}."
                )
                raise ValueError(msg)
        check_choice(self.target, "target", ("sum", "each"))

    def _default_basis(self, n_labeled: int) -> Basis:
        return GramBasis(
            self.n_components,
            kernel=RBF(gamma="mean_distance"),
            random_state=self.random_state,
        )

    def _learn(self, labels: Labels) -> None:
        self.classes_ = labels.classes
        targets = signed_targets(labels)
        r = self.n_components
        if not isinstance(r, Integral):
            r = directions_by_energy(self.basis_, float(r))
        groups = (
            [targets]
            if self.target == "sum"
            else np.split(targets, targets.shape[1], axis=1)
        )
        found = [
            aligned_weights(
                self.basis_,
                labels.labeled,
                group,
                n_components=int(r),
                decay=float(self.decay),
            )
            for group in groups
        ]
        self.weights_ = np.mean([weights for weights, _ in found], axis=0)
        if self.target == "sum":
            self.certificate_: Any = found[0][1]
        else:
            self.certificate_ = tuple(certificate for _, certificate in found)
            self.kernels_ = [SpectralKernel(self.basis_, row) for row, _ in found]
