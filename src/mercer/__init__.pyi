from ._labels import UNLABELED as UNLABELED
