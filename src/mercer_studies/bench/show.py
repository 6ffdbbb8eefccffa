"""Tables and log-log plots of the results, and the machine in words."""

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mercer_studies.bench.cells import MERCER, TASKS
from mercer_studies.bench.runner import Row


def table(rows: list[Row], task: str) -> str:
    """Return the results of a task as a Markdown table.

    The last column is the CPU time divided by that of Mercer on the same data.
    """
    head = TASKS[task]
    lines = [
        f"| data | {head.size} | method | CPU s | wall s | peak GB | {head.score} "
        "| CPU / Mercer's | setting |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    mine = [row for row in rows if row["task"] == task]
    for row in mine:
        start = f"| {row['data']} | {row['n']:,} | {row['method']} | "
        if row["status"] != "ok":
            lines.append(start + f"{row['status']} | | | | | |")
            continue
        ours = _of_mercer(mine, row)
        ratio = f"{row['cpu'] / ours['cpu']:.3g}" if ours else ""
        lines.append(
            start + f"{row['cpu']:.3g} | {row['wall']:.3g} | {row['gigabytes']:.2f} | "
            f"{_score(row, task)} | {ratio} | {row['setting']} |"
        )
    return "\n".join(lines) + "\n"


def _of_mercer(rows: list[Row], row: Row) -> Row | None:
    for other in rows:
        same = (other["data"], other["n"]) == (row["data"], row["n"])
        if same and other["method"] == MERCER and other["status"] == "ok":
            return other
    return None


def _score(row: Row, task: str) -> str:
    return (
        f"{row['score']:.4g}" if TASKS[task].more_is_better else f"{row['score']:.0e}"
    )


def plots(rows: list[Row], folder: Path) -> Iterator[Path]:
    """Draw CPU seconds and peak memory against size, log-log, and yield the files.

    Tasks and data with one size have no plot.
    """
    from matplotlib.figure import Figure

    good = [row for row in rows if row["status"] == "ok"]
    for task, data in dict.fromkeys((row["task"], row["data"]) for row in good):
        mine = [row for row in good if (row["task"], row["data"]) == (task, data)]
        if len({row["n"] for row in mine}) < 2:
            continue
        figure = Figure(figsize=(9.0, 4.0), layout="constrained")
        axes = figure.subplots(1, 2)
        for axis, what, name in zip(
            axes, ("cpu", "gigabytes"), ("CPU seconds", "peak memory, GB"), strict=True
        ):
            _lines(axis, mine, what)
            axis.set(xlabel=TASKS[task].size, ylabel=name, title=f"{task}, {data}")
        axes[1].yaxis.set_major_formatter("{x:g}")  # spans less than a decade
        axes[1].yaxis.set_minor_formatter("{x:g}")
        axes[1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
        path = folder / f"{task}-{data}.png"
        figure.savefig(path, dpi=120)
        yield path


def _lines(axis: Any, rows: list[Row], what: str) -> None:
    from matplotlib import colormaps

    twenty: Any = colormaps["tab20"]
    axis.set_prop_cycle(color=twenty.colors)
    for method in dict.fromkeys(row["method"] for row in rows):
        points = sorted(
            (row["n"], row[what]) for row in rows if row["method"] == method
        )
        bold = method.startswith(MERCER)
        axis.loglog(
            *zip(*points, strict=True),
            marker="o",
            markersize=3,
            linewidth=2.5 if bold else 1.0,
            label=method,
        )
    sizes = sorted({row["n"] for row in rows})
    axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axis.set_xticks([], minor=True)
    axis.grid(True, which="major", alpha=0.3)


def machine() -> str:
    """Return this machine in words.

    Examples
    --------
    >>> machine().startswith("Measured on")
    True
    """
    cores = os.cpu_count() or 1
    kind = _processor() or platform.machine()
    memory = _memory()
    said = f"Measured on {cores} core{'s' if cores > 1 else ''} ({kind})"
    if memory:
        said += f" with {memory:.0f} GB of memory"
    return (
        f"{said}, {platform.system()}, Python {platform.python_version()}; "
        "one thread per method."
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def _memory() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    except (ValueError, OSError, AttributeError):
        return 0.0
