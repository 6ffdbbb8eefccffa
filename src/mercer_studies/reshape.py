"""From what jobs return to the rows and columns of a table."""

from collections.abc import Callable

import numpy as np

from mercer_studies.study import Results


def by_row(results: Results, *, named: bool = False) -> Results:
    """Spread values named "row|column" over the rows of a table.

    With `named` the names of columns start with that of the job's own row.

    Examples
    --------
    >>> by_row({"a": [{"x|error": 1.0, "y|error": 2.0}]}, named=True)
    {'x': [{'a error': 1.0}], 'y': [{'a error': 2.0}]}
    """
    table: Results = {}
    for source, runs in results.items():
        for run in runs:
            rows: dict[str, dict[str, float]] = {}
            for name, value in run.items():
                row, column = name.split("|")
                column = f"{source} {column}" if named else column
                rows.setdefault(row, {})[column] = value
            for row, columns in rows.items():
                table.setdefault(row, []).append(columns)
    return table


def ending(results: Results, suffix: str) -> Results:
    """Keep the columns that end so, without the ending.

    Examples
    --------
    >>> ending({"a": [{"SVM": 90.0, "SVM s": 0.1}]}, " s")
    {'a': [{'SVM': 0.1}]}
    """
    return _renamed(
        results, lambda c: c.removesuffix(suffix) if c.endswith(suffix) else None
    )


def not_ending(results: Results, *suffixes: str) -> Results:
    """Keep the columns that end in none of these.

    Examples
    --------
    >>> not_ending({"a": [{"SVM": 90.0, "SVM s": 0.1}]}, " s")
    {'a': [{'SVM': 90.0}]}
    """
    return _renamed(results, lambda c: None if c.endswith(suffixes) else c)


def _renamed(results: Results, rename: Callable[[str], str | None]) -> Results:
    return {
        row: [
            {name: v for c, v in run.items() if (name := rename(c)) is not None}
            for run in runs
        ]
        for row, runs in results.items()
    }


def mean(runs: list[dict[str, float]], column: str) -> float:
    """Return the mean of a column over the runs that have it; NaN if none has.

    Examples
    --------
    >>> mean([{"a": 1.0}, {"a": 2.0}, {"b": 5.0}], "a")
    1.5
    """
    values = [run[column] for run in runs if column in run]
    return float(np.mean(values)) if values else float("nan")
