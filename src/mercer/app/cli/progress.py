"""Progress of a long job on the terminal, with the time that is left."""

import sys
import time
from collections.abc import Sequence
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table

from mercer._base.words import printable

# What stages usually take, compared with each other.
COSTS = {
    "reading": 6,
    "columns to numbers": 4,
    "embeddings": 40,
    "neighbours and directions": 54,
    "checks with hidden labels": 22,
    "predictions": 4,
    "report": 6,
    "files": 4,
}


def usual_stages(*, embeds: bool = False) -> list[str]:
    """Return the stages of learning from a table."""
    return [name for name in COSTS if embeds or name != "embeddings"]


class Clock:
    """How far a job is, judged by its stages and the time they took.

    Within a stage that reports nothing, time stands for progress, up to nine tenths
    of the stage.
    """

    def __init__(self, stages: Sequence[str], now: float) -> None:
        self.costs = {name: COSTS[name] for name in stages}
        self.start = self.stage_start = now
        self.stage = ""
        self.done = 0.0  # cost of the stages that ended
        self.reported = 0.0

    def begin(self, name: str, now: float) -> None:
        """Take note that the stage before ended."""
        if not self.stage:
            self.start = now
        self.done += self.costs.get(self.stage, 0)
        self.stage, self.stage_start, self.reported = name, now, 0.0

    def share(self, now: float) -> float:
        """Return how much of the job is done, in [0, 1]."""
        cost = self.costs.get(self.stage, 0)
        inside = self.reported
        if not inside and self.done:
            rate = (self.stage_start - self.start) / self.done
            spent = now - self.stage_start
            inside = min(spent / (rate * cost), 0.9) if rate * cost > 0 else 0.0
        return (self.done + cost * inside) / sum(self.costs.values())

    def left(self, now: float) -> float | None:
        """Return the seconds that are left, or None while nothing is known."""
        share = self.share(now)
        if share <= 0.02:
            return None
        return (now - self.start) * (1 - share) / share


def in_words(seconds: float | None) -> str:
    """Return a time a person can use.

    Examples
    --------
    >>> in_words(None), in_words(7.2), in_words(100)
    ('', '7 s left', '2 min left')
    """
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left"


class Display:
    """Shows stages: a live line on a terminal, else one line a stage."""

    def __init__(self, stages: Sequence[str]) -> None:
        self.console = Console(stderr=True)
        self.clock = Clock(stages, time.monotonic())
        self.live: Live | None = None
        self.spinner = Spinner("dots")
        if self.console.is_terminal:
            self.live = Live(
                self, console=self.console, refresh_per_second=8, transient=True
            )

    def __enter__(self) -> Self:
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.live.stop()

    def __rich__(self) -> Any:
        now = time.monotonic()
        line = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=self.clock.share(now), width=28)
        passed = f"{now - self.clock.start:.0f} s"
        words = in_words(self.clock.left(now))
        line.add_row(self.spinner, self.clock.stage, bar, passed, words)
        return line

    def stage(self, name: str) -> None:
        """Take note that a stage begins."""
        now = time.monotonic()
        self.clock.begin(name, now)
        if not self.live:
            words = in_words(self.clock.left(now))
            self._say(f"{now - self.clock.start:6.1f} s  {name}  {words}".rstrip())

    def advance(self, share: float) -> None:
        """Take note of the share of the stage that is done."""
        self.clock.reported = share

    def note(self, message: str) -> None:
        """Pass on something worth saying."""
        message = printable(message)
        if self.live:
            self.live.console.print(message, highlight=False, markup=False)
        else:
            self._say(f"{'':10}{message}")

    def _say(self, message: str) -> None:
        print(message, file=sys.stderr, flush=True)
