"""A result at the end of a notebook cell: what to expect, and the first rows."""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.tables.learning import TableResult

_ROWS = 5


class Shown:
    """How a `TableResult` looks in Python, and how it is saved."""

    def __repr__(self) -> str:
        return headline(self)

    def _repr_html_(self) -> str:
        return in_html(self)

    def save(self, folder: str | Path) -> list[Path]:
        """Write report, predictions, rows to label and model to a folder.

        Parameters
        ----------
        folder : str or Path
            Made if need be.

        Returns
        -------
        list of Path
            The files, the report first.
        """
        from mercer.tables.saving import save_result

        return save_result(_result(self), Path(folder))


def _result(shown: Any) -> "TableResult":
    result: TableResult = shown
    return result


def headline(shown: Any) -> str:
    """Return a result in one line."""
    result = _result(shown)
    said = (
        f"{len(result.labels.labeled):,} of {len(result.table):,} rows labelled, "
        f"{len(result.labels.classes):,} classes"
    )
    if result.check is None:
        return f"{said}; nothing could be checked."
    ours = result.check.scores[0]
    return (
        f"{said}; expected correct: {ours.accuracy:.0%} "
        f"({ours.low:.0%} to {ours.high:.0%})."
    )


def in_html(shown: Any) -> str:
    """Return the headline, notes, and the least certain predictions."""
    result = _result(shown)
    frame = result.predictions
    least = frame.sort_values("margin", kind="stable").head(_ROWS)
    columns = ["id", "prediction", "margin", "labelled"]
    head = "".join(f"<th>{name}</th>" for name in columns)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(f'{v:.2f}' if isinstance(v, float) else str(v))}</td>"
            for v in row
        )
        + "</tr>"
        for row in least[columns].itertuples(index=False)
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in result.warnings)
    return (
        f"<p><b>{escape(headline(result))}</b></p>"
        f"{f'<ul>{notes}</ul>' if notes else ''}"
        f"<p>The {len(least)} least certain rows; <code>.predictions</code> has all, "
        "<code>.save(folder)</code> writes the report.</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
