"""Order-constrained graph kernels (Zhu et al.)."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from mercer._base.typing import RandomState
from mercer.evidence.labels import Labels
from mercer.learners._aligned import aligned_weights, signed_targets
from mercer.learners.base import LabelLearner, check_laplacian_values
from mercer.spectrum.base import Basis
from mercer.spectrum.graph import GraphBasis


class OrderedKernel(LabelLearner):
    r"""The graph kernel with ordered spectrum that aligns best with the labels.

    .. math::

        \max_\mu \frac{\langle K_{ll}, T \rangle}{\|K_{ll}\|_F}, \qquad
        K = \sum_{i=1}^d \mu_i u_i u_i^\top, \quad
        \mu_1 \ge \mu_2 \ge \dots \ge \mu_d \ge 0,

    where :math:`u_i` are the smoothest eigenvectors of a graph Laplacian.

    Parameters
    ----------
    improved : bool, default=False
        Leave the weight of a constant eigenvector, which is a mere offset, out of the
        order ("Imp-Order"). It is the first one of a connected graph with
        ``laplacian="combinatorial"``; the normalised Laplacian has none, and the two
        kernels are equal.
    n_components : int, default=20
        Number d of eigenvectors.
    basis : GraphBasis, AnchorBasis or None, default=None
        None is the combinatorial Laplacian of the unweighted graph of the 10 nearest
        neighbours.
    random_state : int, Generator, RandomState or None, default=None
        For the default basis.

    Attributes
    ----------
    kernel_ : SpectralKernel
        Scaled so that k(x, x) is 1 on average over the training points.
    weights_ : ndarray of shape (r,)
    basis_ : fitted basis
    certificate_ : AlignmentCertificate

    See Also
    --------
    DecayingKernel : Weights that fall at a given rate at least.
    ParameterFreeKernel : Weights without an order.

    Notes
    -----
    Zhu, Kandola, Ghahramani and Lafferty (NIPS 2004), as used by Hoi, Lyu and Chang
    (KDD 2006), section 6.2. Their quadratically constrained programme has the same
    optimum as non-negative least squares; see `solve_decaying_spectrum` with decay 1.
    :math:`T = \sum_c y_c y_c^\top` with +1 on class c and -1 elsewhere. Eigenvectors
    of equal eigenvalue, such as the indicators of the components of a disconnected
    graph, share one weight, so that it does not depend on the choice among them.
    Table 2 of Hoi et al. has equal columns for both kernels, hence a normalised
    Laplacian: ``GraphBasis(20, weights="binary")``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> few = np.where(np.arange(150) % 10 == 0, y, -1)
    >>> learner = OrderedKernel().fit(X, few)
    >>> bool(np.all(np.diff(learner.weights_) <= 1e-12))
    True
    """

    def __init__(
        self,
        improved: bool = False,
        n_components: int = 20,
        *,
        basis: Basis | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.improved = improved
        self.n_components = n_components
        self.basis = basis
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_scalar(self.n_components, "n_components", Integral, min_val=1)

    def _default_basis(self, n_labeled: int) -> Basis:
        return GraphBasis(
            self.n_components,
            n_neighbors=10,
            weights="binary",
            laplacian="combinatorial",
            random_state=self.random_state,
        )

    def _learn(self, labels: Labels) -> None:
        check_laplacian_values(self.basis_.values_, type(self).__name__)
        free = None
        if self.improved:
            vectors = self.basis_.vectors_[:, : self.n_components]
            free = np.ptp(vectors, axis=0) <= 1e-8 * np.abs(vectors).max(axis=0)
        self.weights_, self.certificate_ = aligned_weights(
            self.basis_,
            labels.labeled,
            signed_targets(labels),
            n_components=self.n_components,
            decay=1.0,
            free=free,
        )
