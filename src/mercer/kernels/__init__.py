"""Kernels, their algebra, and alignment."""

from mercer import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
