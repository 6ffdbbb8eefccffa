"""Mercer learns kernels from labels, pairs, or no evidence at all.

The most common classes and functions can be imported from `mercer`; everything else
lives in subpackages (``mercer.kernels``, ``mercer.learners``, ``mercer.machines`` and
so on). ``__init__.pyi`` lists both. Each is imported when it is first used.
"""

from mercer._base import lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
__version__ = "0.1.0"
