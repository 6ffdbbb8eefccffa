"""What Mercer raises and warns with, where someone would want to catch it.

::

    ValueError
    ├── NotPSDError              a kernel matrix has a negative eigenvalue
    └── EigenpairError           a basis misses an eigenpair or a residual is too large
    UserWarning
    ├── BrokenLinksWarning       clusters do not keep some cannot-links
    ├── DisconnectedGraphWarning a component of the graph holds no label
    ├── DriftWarning             added rows are far from the rows of the basis
    ├── NearlyConstantKernelWarning
    └── UnlabeledClassWarning    what means unlabelled may be taken for a class
"""


class NotPSDError(ValueError):
    """A matrix that must be positive semi-definite has a negative eigenvalue."""


class EigenpairError(ValueError):
    """Eigenpairs could not be certified: a pair was skipped or is inexact."""


class ClusterError(RuntimeError):
    """A cluster was lost before a job on it was done."""


class BrokenLinksWarning(UserWarning):
    """Clusters that were to keep links do not keep some of them."""


class DisconnectedGraphWarning(UserWarning):
    """Some points cannot be reached from any labelled point."""


class DriftWarning(UserWarning):
    """Added rows lie far from those that the basis was made from."""


class NearlyConstantKernelWarning(UserWarning):
    """A chosen kernel hardly tells points apart."""


class UnlabeledClassWarning(UserWarning):
    """What means unlabelled is, or may be, taken for a class."""
