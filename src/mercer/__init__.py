"""Mercer learns kernels from whatever evidence a person has.

The public names and where they come from are listed in ``__init__.pyi``; each is
imported when it is first used.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
__version__ = "0.1.0"
