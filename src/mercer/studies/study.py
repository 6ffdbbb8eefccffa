"""What a study is: jobs to run, printed figures to compare with, words to say."""

import csv
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

Result = Mapping[str, float]


@dataclass(frozen=True)
class Job:
    """One run of one row of a table: a plain function of plain settings.

    The function returns one number for each column it fills, so methods that share a
    graph or a basis share it in one job.
    """

    row: str
    split: int
    function: Callable[..., Result]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def key(self, version: int) -> str:
        """Name of the result in the cache; changes with any setting."""
        identity = {
            "function": f"{self.function.__module__}.{self.function.__qualname__}",
            "row": self.row,
            "split": self.split,
            "settings": dict(self.settings),
            "version": version,
        }
        text = json.dumps(identity, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def run(self) -> dict[str, float]:
        """Compute the job's numbers."""
        result = self.function(split=self.split, **self.settings)
        return {column: float(value) for column, value in result.items()}


@dataclass(frozen=True)
class Figure:
    """A printed figure of a table."""

    mean: float
    std: float | None
    splits: int | None


@dataclass(frozen=True)
class Study:
    """A table or figure of a paper that can be run again.

    Parameters
    ----------
    paper, name : str
        As typed on the command line: "000", "table2".
    title : str
        What the table shows, in a line.
    jobs : callable
        ``jobs(quick)`` lists the work; quick means few splits.
    better : {"higher", "lower", None}
        Which way a difference from print counts as better; None where neither is.
    deviations : tuple of str
        How the set-up differs from the paper, in plain words.
    version : int
        Raised when the code behind the jobs changes its results.
    draw : callable or None
        Draws the study's own picture on a matplotlib figure from all results.
    decimals : int
        Shown in tables.
    """

    paper: str
    name: str
    title: str
    jobs: Callable[[bool], list[Job]]
    better: str | None = "higher"
    deviations: tuple[str, ...] = ()
    version: int = 1
    draw: Callable[..., None] | None = None
    decimals: int = 2

    @property
    def id(self) -> str:
        """Paper and name, as one word."""
        return f"{self.paper}_{self.name}"

    def printed(self) -> dict[tuple[str, str], Figure]:
        """Read the paper's own figures by row and column; empty where none are."""
        source = resources.files("mercer.studies") / "printed" / f"{self.id}.csv"
        if not source.is_file():
            return {}
        with source.open(encoding="utf-8") as lines:
            return {
                (line["row"], line["column"]): Figure(
                    float(line["mean"]),
                    float(line["std"]) if line.get("std") else None,
                    int(line["splits"]) if line.get("splits") else None,
                )
                for line in csv.DictReader(lines)
            }
