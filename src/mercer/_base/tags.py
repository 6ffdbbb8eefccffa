"""What scikit-learn asks of an estimator."""

from sklearn.utils import Tags


class TakesSparse:
    """Before other bases: tells that points may be sparse."""

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags
