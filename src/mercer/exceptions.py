"""What Mercer raises and warns with, where someone would want to catch it.

::

    ValueError
    ├── NotPSDError              a kernel matrix has a negative eigenvalue
    └── EigenpairError           a basis misses an eigenpair or a residual is too large
    UserWarning
    ├── DisconnectedGraphWarning a component of the graph holds no label
    └── NearlyConstantKernelWarning
"""


class NotPSDError(ValueError):
    """A matrix that must be positive semi-definite has a negative eigenvalue."""


class EigenpairError(ValueError):
    """Eigenpairs could not be certified: a pair was skipped or is inexact."""


class ClusterError(RuntimeError):
    """A cluster was lost before a job on it was done."""


class DisconnectedGraphWarning(UserWarning):
    """Some points cannot be reached from any labelled point."""


class NearlyConstantKernelWarning(UserWarning):
    """A chosen kernel hardly tells points apart."""
