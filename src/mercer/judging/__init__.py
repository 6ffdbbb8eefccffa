"""How good a model is, what its unlabelled rows changed, which labels look wrong.

Estimator, report and advice ask here, so each question has one answer.
"""

from mercer._base import lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
