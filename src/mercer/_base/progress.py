"""What a long job says while it works, and a line in a notebook that shows it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, Protocol


class Progress(Protocol):
    """Listens to a job: where it is, how far, and what a person should know."""

    def stage(self, name: str) -> None:
        """Take note that a stage begins."""

    def advance(self, share: float) -> None:
        """Take note of the share of the stage that is done."""

    def note(self, message: str) -> None:
        """Pass on something worth saying."""


class _Quiet:
    def stage(self, name: str) -> None:
        """Say nothing."""

    def advance(self, share: float) -> None:
        """Say nothing."""

    def note(self, message: str) -> None:
        """Say nothing."""


quiet = _Quiet()


class NotebookLine:
    """A bar and the name of the stage, below the cell that runs.

    Parameters
    ----------
    display : callable
        ``IPython.display.display``; returns a handle with ``update``.
    """

    def __init__(self, display: Callable[..., Any]) -> None:
        self._said, self._share = "", 0.0
        self._handle = display(self, display_id=True)

    def _repr_html_(self) -> str:
        if not self._said:
            return ""
        return f"<progress value='{self._share:.2f}'></progress> {escape(self._said)}"

    def stage(self, name: str) -> None:
        """Show the name of a stage."""
        self._said, self._share = name, 0.0
        self._handle.update(self)

    def advance(self, share: float) -> None:
        """Show how much of the stage is done."""
        self._share = share
        self._handle.update(self)

    def note(self, message: str) -> None:
        """Leave it to the result, which shows what is worth saying."""

    def close(self) -> None:
        """Take the line away."""
        self._said = ""
        self._handle.update(self)


@contextmanager
def watching(progress: Progress | None) -> Iterator[Progress]:
    """Yield the given listener, or a line in a notebook while the job runs.

    Examples
    --------
    >>> with watching(None) as progress:  # no notebook: nothing is shown
    ...     progress.stage("reading")
    """
    display = _notebook_display()
    if progress is not None or display is None:
        yield progress or quiet
        return
    line = NotebookLine(display)
    try:
        yield line
    finally:
        line.close()


def _notebook_display() -> Callable[..., Any] | None:
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if not hasattr(shell, "kernel"):  # a terminal, or no IPython at all
        return None
    from IPython.display import display

    return display  # type: ignore[no-any-return]
