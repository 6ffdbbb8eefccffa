"""What a person asked for: which columns are embedded, and by what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mercer.app.tables.options import check_once, parted
from mercer.app.tables.table import TableError

How = Literal["model", "transformer", "function"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """One column and what makes vectors of it."""

    column: str
    # a model's name or folder ("" for the usual one), a transformer of scikit-learn, or
    # a function from a list to an array
    by: Any = ""

    @property
    def how(self) -> How:
        """What kind of thing makes the vectors."""
        if isinstance(self.by, str):
            return "model"
        return "transformer" if hasattr(self.by, "transform") else "function"


def read_embed(embed: Any) -> tuple[Wanted, ...]:
    """Return what was asked for, in whatever form.

    This is ``"text"``, ``"text=NAME_OR_FOLDER"``, several of these, or a mapping of
    columns to models, transformers or functions; True stands for the usual model.

    Examples
    --------
    >>> [(w.column, w.by) for w in read_embed(["text", "photo=my/model"])]
    [('text', ''), ('photo', 'my/model')]
    >>> [(w.column, w.how) for w in read_embed({"text": len, "photo": True})]
    [('text', 'function'), ('photo', 'model')]
    """
    if embed is None:
        return ()
    if isinstance(embed, str):
        embed = [embed]
    if isinstance(embed, Mapping):
        pairs = list(embed.items())
    elif isinstance(embed, Iterable):
        pairs = [
            (one.column, one.by) if isinstance(one, Wanted) else _parted(one)
            for one in embed
        ]
    else:
        pairs = [_parted(embed)]
    wanted = tuple(Wanted(str(column), _checked(column, by)) for column, by in pairs)
    check_once((one.column for one in wanted), "the column to embed")
    return wanted


def _parted(said: Any) -> tuple[str, str]:
    usage = (
        "embed (--embed) takes COLUMN or COLUMN=MODEL, in Python also a dict of "
        "columns to models"
    )
    return parted(said, usage)


def _checked(column: Any, by: Any) -> Any:
    if by is True or by is None:
        return ""
    if isinstance(by, str) or hasattr(by, "transform"):
        return by
    encode = getattr(by, "encode", None)  # a model of sentence-transformers, say
    if callable(encode):
        return encode
    if callable(by):
        return by
    msg = (
        f"embed: {column!r} is to be embedded by {by!r}; give a model's name or "
        "folder, a transformer of scikit-learn, or a function from a list to an array."
    )
    raise TableError(msg)
