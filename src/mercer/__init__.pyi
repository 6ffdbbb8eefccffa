from ._labels import UNLABELED as UNLABELED

__version__: str
