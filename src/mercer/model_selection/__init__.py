"""Splits, scores and calibration that are right for partly labelled targets."""

from mercer._base import lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
