"""One way to say which kernel is meant."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from mercer._base.typing import ArrayLike, FloatArray
from mercer.kernels.base import Kernel
from mercer.kernels.parametric import (
    RBF,
    Linear,
    PairwiseKernelFunction,
    Polynomial,
    unknown_kernel_name,
)


@runtime_checkable
class Featured(Protocol):
    """A kernel of finite rank, whose values are inner products of features."""

    def features(self, X: ArrayLike | None = None) -> FloatArray:
        """Return the features of points, (m, r), or of the training points."""
        ...


@runtime_checkable
class Fittable(Protocol):
    """A learner, which yields a kernel, `kernel_`, by `fit`."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the kernel."""
        ...


# What a machine takes as `kernel=`, and each of several as `kernels=`.
KernelLike: TypeAlias = Kernel | Featured | Fittable | str | Callable[..., Any]
KernelOrMatrix: TypeAlias = KernelLike | tuple[KernelLike, ArrayLike] | FloatArray


def as_kernel(spec: Kernel | str | Callable[..., Any]) -> Kernel:
    """Return the kernel that a name, a function or a kernel stands for.

    Parameters
    ----------
    spec : Kernel, str or callable
        A kernel is returned as it is. A name is one of scikit-learn's pairwise
        kernels. A function takes two arrays of rows and returns their Gram matrix.

    Returns
    -------
    Kernel

    See Also
    --------
    PairwiseKernelFunction : What a function becomes.
    Precomputed : What a matrix becomes.

    Examples
    --------
    >>> as_kernel("rbf")
    RBF()
    >>> as_kernel("laplacian")
    PairwiseKernelFunction(function='laplacian')
    """
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str):
        if spec == "precomputed":
            msg = (
                "'precomputed' is not a kernel function: pass the Gram matrix as "
                "Precomputed(K), whose points are row numbers."
            )
            raise ValueError(msg)
        if spec in _OWN:
            return _OWN[spec]()
        if spec in PAIRWISE_KERNEL_FUNCTIONS:
            return PairwiseKernelFunction(spec)
        raise ValueError(unknown_kernel_name(spec))
    if callable(spec) and not isinstance(spec, type):
        return PairwiseKernelFunction(spec)
    got = f"{spec!r} of type {type(spec).__name__}"
    if isinstance(spec, type):
        got = f"the class {spec.__name__} itself; write {spec.__name__}(...)"
    elif hasattr(spec, "shape"):
        got = (
            f"numbers of shape {spec.shape}. Give a Gram matrix as Precomputed(K), or "
            'pass it to a machine as X with kernel="precomputed"'
        )
    msg = (
        "a kernel must be a Kernel, its name or a function of two sets of points; "
        f"got {got}."
    )
    raise TypeError(msg)


_OWN: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "rbf": RBF,
}
