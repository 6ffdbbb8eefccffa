"""Kernel learners: scikit-learn transformers that expose a learned `kernel_`.

They learn it from labels, pairs or unlabelled data.
"""

from mercer._base import lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
