"""Pictures of kernels, models and questions; needs the extra ``mercer[plot]``.

Classes follow scikit-learn's displays: make one with `from_estimator` or
`from_predictions`; it draws at once and keeps `ax_` and `figure_`. `plot` draws the
same data again, on axes of your own.
"""

from mercer._base import lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
