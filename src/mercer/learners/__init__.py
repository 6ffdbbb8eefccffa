"""Evidence in, a kernel out: scikit-learn transformers with `kernel_`."""

from mercer._base import lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
