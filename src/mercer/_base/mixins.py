"""What estimators share: parameters of parts, such as `kernel__gamma`, and tags."""

from typing import Any, Self

from sklearn.utils import Tags

_OBJECTS = {
    "basis": "GraphBasis()",
    "kernel": "RBF()",
    "learner": "ParameterFreeKernel()",
    "machine": "KernelLogisticRegression()",
}


class NestedParameters:
    """An estimator with parts that may be names, which have no parameters."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of parts, as ``kernel__gamma=0.5``.

        Parameters
        ----------
        **params : object
            Names and values.
        """
        parts = {part: vars(self)[part] for part in _OBJECTS if part in vars(self)}
        for name in params:
            part, _, inner = name.partition("__")
            value = params.get(part, parts.get(part))
            if inner and part in parts and isinstance(value, str | None):
                msg = (
                    f"{part}={value!r} has no parameters, so {name} cannot be set; "
                    f"give an object that has some, such as {part}={_OBJECTS[part]}."
                )
                raise ValueError(msg)
        super().set_params(**params)  # type: ignore[misc]
        return self


class TakesSparse:
    """Before other bases: tells that points may be sparse."""

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags
