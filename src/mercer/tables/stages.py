"""What a long job says while it works."""

from typing import Protocol


class Stages(Protocol):
    """Listens to a job: where it is, how far, and what a person should know."""

    def begin(self, name: str) -> None:
        """Take note that a stage begins."""

    def advance(self, share: float) -> None:
        """Take note of the share of the stage that is done."""

    def tell(self, message: str) -> None:
        """Pass on something worth saying."""


class _Quiet:
    def begin(self, name: str) -> None:
        """Say nothing."""

    def advance(self, share: float) -> None:
        """Say nothing."""

    def tell(self, message: str) -> None:
        """Say nothing."""


quiet = _Quiet()
