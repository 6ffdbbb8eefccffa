"""The doctests of the modules written for Triton run only where it is installed."""

from importlib.util import find_spec

_TRITON = ["mercer/backends/torch/kernels.py", "mercer/backends/torch/products.py"]

collect_ignore = [] if find_spec("triton") else _TRITON
