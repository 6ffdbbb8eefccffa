"""A kernel's matrix with its rows ordered by class."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.typing import ArrayLike, FloatArray
from mercer.plotting._display import Display, group_rows


@dataclass(eq=False, repr=False)
class KernelMatrixDisplay(Display):
    """Similarity of every point to every other, points of one class side by side.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Ordered by class, with a diagonal of 1.
    starts : ndarray of shape (n_groups,)
        First row of each class.
    names : list of str
        Names of the classes; unlabelled points come last.

    See Also
    --------
    KernelWeightsDisplay : Weights of several kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RBF
    >>> from mercer.plotting import KernelMatrixDisplay
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> display = KernelMatrixDisplay.from_estimator(RBF(), X, ["a", "b", "a", "b"])
    >>> display.matrix.round(1)
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [0., 0., 1., 1.],
           [0., 0., 1., 1.]])
    """

    matrix: FloatArray
    starts: Any
    names: list[str]

    @classmethod
    def from_estimator(
        cls, kernel: Any, X: ArrayLike, y: ArrayLike, *, ax: Any = None, **style: Any
    ) -> Self:
        """Draw a kernel, or the `kernel_` of a fitted learner or model, at points.

        Parameters
        ----------
        kernel : Kernel, learner or model
            What is fitted gives its `kernel_`.
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Classes, which order the points; -1, None and NaN are unlabelled.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `imshow`.
        """
        function = getattr(kernel, "kernel_", kernel)
        return cls.from_predictions(function(X), y, ax=ax, **style)

    @classmethod
    def from_predictions(
        cls, matrix: ArrayLike, y: ArrayLike, *, ax: Any = None, **style: Any
    ) -> Self:
        """Draw a matrix over points with the classes y (-1, None, NaN: unlabelled).

        Parameters
        ----------
        matrix : array-like of shape (n, n)
            Kernel values.
        y : array-like of shape (n,)
            Classes, which order the points.
        ax : matplotlib axes, optional
            Drawn into; a new figure if left out.
        **style
            Given to `imshow`.
        """
        K = np.asarray(matrix, dtype=np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            msg = f"the kernel's matrix must be square, got shape {K.shape}."
            raise ValueError(msg)
        codes, classes = group_rows(y, len(K))
        last = np.where(codes < 0, len(classes), codes)
        order = np.argsort(last, kind="stable")
        length = np.sqrt(np.maximum(np.diag(K), np.finfo(float).tiny))
        ordered = (K / np.outer(length, length))[np.ix_(order, order)]
        groups, starts = np.unique(last[order], return_index=True)
        names = [*map(str, classes), "unlabelled"]
        return cls(ordered, starts, [names[g] for g in groups]).plot(ax, **style)

    def _draw(self, ax: Any, style: dict[str, Any]) -> None:
        image = ax.imshow(self.matrix, **{"vmin": 0, "vmax": 1} | style)
        ends = np.append(self.starts[1:], len(self.matrix))
        ax.set_xticks((self.starts + ends - 1) / 2, self.names)
        ax.set_yticks((self.starts + ends - 1) / 2, self.names)
        ax.tick_params(length=0)
        ax.figure.colorbar(image, ax=ax, label="similarity")
