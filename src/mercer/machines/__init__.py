"""A kernel and labelled points in, decisions out: classifiers."""

from mercer._base import lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
