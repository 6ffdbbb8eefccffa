"""How well two kernels, or a kernel and labels, agree."""

import numpy as np

from mercer._base.checks import check_finite, check_symmetric
from mercer._base.typing import ArrayLike, FloatArray
from mercer.evidence.labels import Labels


def alignment(K: ArrayLike, T: ArrayLike) -> float:
    r"""Return the cosine :math:`\langle K, T \rangle_F / (\|K\|_F \|T\|_F)`.

    Parameters
    ----------
    K, T : array-like of shape (n, n)
        Symmetric; T is often `ideal_target(y)`.

    Returns
    -------
    float
        Between 0 and 1 for positive semi-definite matrices.

    See Also
    --------
    centered_alignment : After centring.
    ideal_target : The matrix to align with.

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff and Kandola, "On kernel-target alignment",
    NIPS 2001.

    Examples
    --------
    >>> alignment([[1.0, 0.0], [0.0, 1.0]], [[1.0, -1.0], [-1.0, 1.0]])
    0.707...
    """
    return _cosine(*_pair(K, T))


def centered_alignment(K: ArrayLike, T: ArrayLike) -> float:
    r"""Return the alignment of the centred matrices, :math:`A(HKH, HTH)`.

    Parameters
    ----------
    K, T : array-like of shape (n, n)
        Symmetric.

    Returns
    -------
    float

    See Also
    --------
    alignment : Without centring.
    CenteredAlignmentKernel : Maximises it.

    References
    ----------
    Cortes, Mohri and Rostamizadeh, "Algorithms for learning kernels based on centered
    alignment", JMLR 13, 2012, definition 4.

    Examples
    --------
    >>> centered_alignment([[1.0, 0.0], [0.0, 1.0]], [[1.0, -1.0], [-1.0, 1.0]])
    1.0
    """
    K, T = _pair(K, T)
    return _cosine(center(K), center(T))


def center(K: ArrayLike) -> FloatArray:
    r"""Return :math:`HKH`, :math:`H = I - \frac1n 1 1^\top`: features of mean zero.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric.

    Returns
    -------
    ndarray of shape (n, n)

    See Also
    --------
    Centered : The same for a kernel.

    Examples
    --------
    >>> center([[1.0, 3.0], [3.0, 9.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    K = _symmetric(K, "K")
    means = K.mean(axis=0)
    centered: FloatArray = K - means - means[:, None] + means.mean()
    return centered


def ideal_target(y: ArrayLike) -> FloatArray:
    r"""Return the kernel that labels ask for, :math:`\frac1c \sum_k y_k y_k^\top`.

    The vector :math:`y_k` is +1 on class k and -1 elsewhere. With two classes this is
    :math:`y y^\top`. With c classes two points of one class have 1, of different ones
    :math:`1 - 4/c`; unlike the matrix of :math:`\pm 1` it is positive semi-definite
    for every c.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels; -1, None and NaN mark unlabelled points.

    Returns
    -------
    ndarray of shape (n_labeled, n_labeled)
        Over the labelled points, in order.

    See Also
    --------
    alignment : Compares a Gram matrix with it.

    Examples
    --------
    >>> ideal_target(["a", "b", None, "a"])
    array([[ 1., -1.,  1.],
           [-1.,  1., -1.],
           [ 1., -1.,  1.]])
    """
    signs = 2 * Labels.read(y, min_classes=2).one_hot() - 1
    target: FloatArray = signs @ signs.T / signs.shape[1]
    return target


def _pair(K: ArrayLike, T: ArrayLike) -> tuple[FloatArray, FloatArray]:
    K, T = _symmetric(K, "K"), _symmetric(T, "T")
    if K.shape != T.shape:
        msg = (
            f"K has shape {K.shape} and T {T.shape}; they must be over the same points."
        )
        raise ValueError(msg)
    return K, T


def _symmetric(K: ArrayLike, name: str) -> FloatArray:
    K = np.asarray(K, dtype=np.float64)
    check_finite(K, name)
    check_symmetric(K, name)
    return K


def _cosine(K: FloatArray, T: FloatArray) -> float:
    norms = float(np.linalg.norm(K) * np.linalg.norm(T))
    if norms == 0:
        msg = (
            "one of the matrices is zero (after centring, if asked for): no alignment."
        )
        raise ValueError(msg)
    return float(np.vdot(K, T)) / norms
