"""What a study is: jobs to run, printed figures to compare with, words to say."""

import csv
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

Result = Mapping[str, float]
Results = dict[str, list[dict[str, float]]]  # row -> one result per split


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


def each(
    function: Callable[..., Result], rows: Mapping[str, Mapping[str, Any]], n: int
) -> Callable[[bool], list[Job]]:
    """Return what lists a job for each of n splits of every row; two if quick."""
    return lambda quick: [
        Job(row, split, function, settings)
        for row, settings in rows.items()
        for split in range(min(2, n) if quick else n)
    ]


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
        As typed on the command line: "mao2010", "table2".
    title : str
        What the table shows, in a line.
    jobs : callable
        ``jobs(quick)`` lists the work; quick means few splits.
    better : {"higher", "lower", None}
        Which way a difference from print counts as better; None where neither is.
    deviations : tuple of str
        How the set-up differs from the paper, in plain words.
    minutes : float or None
        CPU minutes of a full run, as measured; None if the study named by `shares`
        runs all of its jobs.
    times : bool
        Whether the cells are seconds, which a summary keeps apart.
    aside : str or None
        Why a summary leaves the cells out; None counts them.
    version : int
        Raised when the code behind the jobs changes its results.
    collect : callable or None
        Turns what the jobs returned into the rows and columns of the table; None
        where they are that already.
    notes : callable or None
        Says in sentences what the results show beside their means, such as tests.
    draw : callable or None
        Draws the study's own picture on a matplotlib figure from the collected
        results.
    shares : str or None
        Name of the study of the same paper that keeps the finished jobs; a job that
        both list runs once.
    prints : str or None
        Name of the study whose printed figures this one is compared with; its own by
        default.
    decimals : int
        Shown in tables.
    """

    paper: str
    name: str
    title: str
    jobs: Callable[[bool], list[Job]]
    better: str | None = "higher"
    deviations: tuple[str, ...] = ()
    minutes: float | None = None
    times: bool = False
    aside: str | None = None
    version: int = 1
    collect: Callable[[Results], Results] | None = None
    notes: Callable[[Results], list[str]] | None = None
    draw: Callable[..., None] | None = None
    shares: str | None = None
    prints: str | None = None
    decimals: int = 2

    @property
    def id(self) -> str:
        """Paper and name, as one word."""
        return f"{self.paper}_{self.name}"

    def collected(self, results: Results) -> Results:
        """Return the rows and columns of the table."""
        return results if self.collect is None else self.collect(results)

    def printed(self) -> dict[tuple[str, str], Figure]:
        """Read the paper's own figures by row and column; empty where none are.

        A file has the columns row, column, mean, splits and either std or, where the
        paper prints the standard error of the mean, sem.
        """
        name = f"{self.paper}_{self.prints or self.name}.csv"
        source = resources.files("mercer_studies") / "printed" / name
        if not source.is_file():
            return {}
        with source.open(encoding="utf-8") as lines:
            return {
                (line["row"], line["column"]): _figure(line)
                for line in csv.DictReader(lines)
            }


def _figure(line: Mapping[str, str]) -> Figure:
    splits = int(line["splits"]) if line.get("splits") else None
    std = float(line["std"]) if line.get("std") else None
    if line.get("sem") and splits is not None:
        std = float(line["sem"]) * math.sqrt(splits)
    return Figure(float(line["mean"]), std, splits)
