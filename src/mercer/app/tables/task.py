"""What a person says about a table, once: columns, labels, class sizes, limits."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from mercer.app.embedding.wanted import Wanted, read_embed
from mercer.app.tables.class_sizes import check_drawn
from mercer.app.tables.table import Table, TableError
from mercer.app.tables.votes import Source, check_sources, read_sources
from mercer.evidence.labels import LabelsDrawn


@dataclass(frozen=True, eq=False)
class Task:
    """What to learn from a table, and what is known about it.

    `mercer.learn`, `Session.open`, the command line and the studio make one from their
    arguments, and everything below them takes it.

    Parameters
    ----------
    target : str, default="label"
        Column to predict.
    id : str, optional
        Column that names the rows; not learned from.
    drop : tuple of str, default=()
        Columns not to learn from.
    keep : tuple of str, default=()
        Columns to learn from although they look misleading: see
        `mercer.app.tables.screening`.
    missing : tuple of str, default=()
        Further cells that mean "not known".
    labels_as_written : bool, default=False
        Take every spelling in the target for a class: "Yes" and "yes" for two, and
        "NA", "?" and "unknown" for labels.
    pairs : data frame or path, optional
        Rows that belong together or apart; see `mercer.app.tables.pair_files`.
    labels_drawn : {"at random", "per class"}, optional
        See `mercer.learn`. Rows that `ask` named are not drawn at random.
    class_sizes : dict, Series or str, optional
        See `mercer.learn`. They decide where classes overlap.
    memory : float, optional
        Bytes that may be used; three quarters of what is free when left out.
    random_state : int, default=0
        Equal seeds give equal results.
    embed : tuple of Wanted, default=()
        Columns of texts or images that are compared by meaning, and by which model.
    sources : tuple of Source, default=()
        Columns and rules that guess the target; not learned from as columns.

    See Also
    --------
    learn : Makes one of its arguments.

    Examples
    --------
    >>> Task("kind", id="code", drop=("price",)).as_text
    ('kind', 'code', 'price')
    """

    target: str = "label"
    _: KW_ONLY
    id: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    labels_as_written: bool = False
    pairs: Any = None
    labels_drawn: LabelsDrawn | None = None
    class_sizes: Mapping[Any, Any] | str | None = None
    memory: float | None = None
    random_state: int = 0
    embed: tuple[Wanted, ...] = ()
    sources: tuple[Source, ...] = ()

    @classmethod
    def of(
        cls,
        target: Any = "label",
        *,
        id: Any = None,
        drop: str | Iterable[Any] = (),
        keep: str | Iterable[Any] = (),
        missing: Iterable[str] = (),
        memory: float | str | None = None,
        embed: Any = None,
        sources: Any = None,
        **known: Any,
    ) -> "Task":
        """Return the task that a person describes, in Python or on the command line.

        Parameters
        ----------
        target, id, drop, keep, missing, memory, embed, sources
            As in `Task`, but also as numbers of columns, single names and texts.
        known : dict
            The other fields of `Task`.

        Examples
        --------
        >>> task = Task.of("kind", id=0, drop="price", memory="2 KiB")
        >>> task.id, task.drop, task.memory
        ('0', ('price',), 2048.0)
        """
        return cls(
            str(target),
            id=None if id is None else str(id),
            drop=names(drop),
            keep=names(keep),
            missing=tuple(missing),
            memory=bytes_of(memory),
            embed=read_embed(embed),
            sources=read_sources(sources),
            **known,
        )

    @classmethod
    def among(cls, said: dict[str, Any]) -> "Task":
        """Return the task that is among the arguments of a function.

        Parameters
        ----------
        said : dict
            Arguments by their names; those that are no fields of `Task` do not count.
        """
        return cls.of(**{name: said[name] for name in _FIELDS if name in said})

    def __post_init__(self) -> None:
        check_drawn(self.labels_drawn, self.class_sizes)

    def check(self, table: Table) -> None:
        """Raise where `table` lacks a column that is named, or one has two uses."""
        if self.target in self.drop:
            msg = f"--drop {self.target!r} names the target, which is what is learned."
            raise TableError(msg)
        for name in (*self.drop, *self.keep):
            table.check_any_column(name, "--drop" if name in self.drop else "--keep")
        aside = {self.target, *([self.id] if self.id else []), *self.drop}
        for wanted in self.embed:
            table.check_any_column(wanted.column, "--embed")
            if wanted.column in aside:
                msg = (
                    f"column {wanted.column!r} cannot be embedded: it is not learned "
                    "from (--target, --id, --drop)."
                )
                raise TableError(msg)
        used = (*self.keep, *(wanted.column for wanted in self.embed))
        check_sources(table, self.sources, {*aside, *used})

    @property
    def aside(self) -> set[str | None]:
        """Columns that say nothing about a row: the target and the id."""
        return {self.target, self.id}

    @property
    def as_text(self) -> tuple[str, ...]:
        """Columns whose cells are read as they are written."""
        embedded = (wanted.column for wanted in self.embed)
        votes = (source.name for source in self.sources if source.rule is None)
        known = (self.target, self.id, *self.drop, *embedded, *votes)
        return tuple(c for c in known if c)

    @property
    def reading(self) -> dict[str, Any]:
        """What `mercer.app.tables.reading.read_table` takes of it."""
        return {
            "as_text": self.as_text,
            "missing": self.missing,
            "memory": self.memory,
        }

    @property
    def votes(self) -> set[str]:
        """Columns of votes and of confidences, which are not learned from."""
        return {column for source in self.sources for column in source.columns}


_FIELDS = [field.name for field in fields(Task)]


def names(given: str | Iterable[Any]) -> tuple[str, ...]:
    """Return names of columns as strings, as they are in a table; one name is one.

    Examples
    --------
    >>> names("price"), names([0, "size"])
    (('price',), ('0', 'size'))
    """
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def bytes_of(memory: float | str | None) -> float | None:
    """Return the bytes of a limit such as "4GB", "500 MiB" or a number.

    Examples
    --------
    >>> bytes_of("2 KiB"), bytes_of(1e9), bytes_of(None)
    (2048.0, 1000000000.0, None)
    """
    if memory is None:
        return None
    text = str(memory).strip()
    number = text.rstrip("bBiIkKmMgGtT ").strip()
    unit = text[len(number) :].strip().lower()
    base = 1024 if "i" in unit else 1000
    power = " kmgt".find(unit[:1]) if unit[:1] != "b" else 0
    try:
        size = float(number) * float(base ** max(power, 0))
    except ValueError:
        size = 0.0
    if not 0 < size < float("inf"):
        msg = (
            f"--memory must be a size such as 4GB or 500MB, got {memory!r} (in Python "
            "memory=...)."
        )
        raise TableError(msg)
    return size
