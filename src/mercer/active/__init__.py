"""What to ask a person next: points, pairs, and when to stop."""

from mercer._base import lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
