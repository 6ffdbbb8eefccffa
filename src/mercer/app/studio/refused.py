"""Requests that are not carried out."""


class RefusedError(Exception):
    """A request that is not carried out, with a sentence for the person."""

    def __init__(
        self, message: str, status: int = 400, *, label: int | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.label = status, label  # the class that it is about, if any
