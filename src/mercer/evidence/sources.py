"""Votes of noisy sources: rules, language models, colleagues, an old column."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from mercer._base.checks import check_same_length
from mercer._base.typing import ArrayLike, BoolArray, IntArray
from mercer._base.words import counted, some
from mercer.evidence.confidence import by_confidence, is_level
from mercer.evidence.reading import are_shares, of_one_kind, read_column, read_shares
from mercer.evidence.rules import applied


@dataclass(frozen=True)
class Not:
    """A vote that a row is not of a class.

    Parameters
    ----------
    label : object
        The class, as it is named in the other votes.

    See Also
    --------
    Sources : Takes such votes.

    Examples
    --------
    >>> Sources.read({"rule": [Not("spam"), "ham", None]}).n_votes
    array([2])
    """

    label: Any


@dataclass(frozen=True, eq=False)
class Sources:
    """Votes of m sources on n rows, stored only where a source gave one.

    Column k of `votes` is one possible answer of one source: a class, or that a row is
    not of it. A vote that is spread over several classes has an entry in each.

    See Also
    --------
    UnifiedKernelMachine : Learns from them.

    Examples
    --------
    >>> sources = Sources.read({"rule": ["a", None, None], "anna": ["a", "b", "b"]})
    >>> sources
    Sources(2 sources, 3 rows, 4 votes)
    >>> sources.n_votes, sources.classes
    (array([1, 3]), array(['a', 'b'], dtype='<U1'))
    """

    votes: csr_array  # (n, n_answers) weights of the votes, at most 1
    source: IntArray  # (n_answers,) whose answer each column is
    answer: IntArray  # (n_answers,) position in `classes`
    denied: BoolArray  # (n_answers,) the answer is "not of this class"
    names: tuple[str, ...]  # (m,)
    classes: NDArray[Any]  # (n_classes,) sorted

    @classmethod
    def read(
        cls,
        sources: "SourcesLike",
        *,
        n: int | None = None,
        names: Any = None,
        confidence: Mapping[str, ArrayLike] | None = None,
    ) -> "Sources":
        """Return whatever a person passes as sources in the form the library uses.

        Parameters
        ----------
        sources : Sources, mapping, data frame or array-like of shape (n, m) or (n,)
            A column for each source: classes as in y, with -1, None or NaN where the
            source abstains, and ``Not("spam")`` for a row that it says is not spam. A
            mapping takes a name to a column, or to shares of the classes, (n,
            n_classes), with rows of zeros or NaN where the source abstains; their
            classes are named by the columns of a data frame, else 0, 1, ...
        n : int, optional
            The number of rows that there have to be.
        names : sequence of str, optional
            Names of the columns of an array.
        confidence : mapping, optional
            From names to columns of probabilities, that a vote is right. They are
            compared and not believed: the votes of a source are split by them into at
            most three levels, each with a reliability of its own.
        """
        if isinstance(sources, Sources):
            found = sources
        else:
            columns = _columns(sources, names)
            read = {name: _read(name, column) for name, column in columns.items()}
            found = _joined(by_confidence(read, confidence or {}))
        if n is not None and n != found.votes.shape[0]:
            check_same_length(n, np.empty(found.votes.shape[0]), "X", "sources")
        return found

    def __repr__(self) -> str:
        n = counted(self.votes.shape[0], "row")
        votes = counted(int(self.n_votes.sum()), "vote")
        return f"Sources({counted(len(self.names), 'source')}, {n}, {votes})"

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and of sources."""
        return self.votes.shape[0], len(self.names)

    def __len__(self) -> int:
        return int(self.votes.shape[0])

    def __getitem__(self, rows: Any) -> "Sources":
        """Return the votes on some rows, as scikit-learn takes them for a fold."""
        return self.take(rows[0] if isinstance(rows, tuple) else rows)

    @property
    def n_votes(self) -> IntArray:
        """Number of rows that each source has a vote on, (m,)."""
        total = np.asarray(self.votes.sum(axis=0)).ravel()
        return np.rint(total @ np.eye(len(self.names))[self.source]).astype(np.intp)

    @property
    def voted(self) -> BoolArray:
        """Which rows have a vote at all, (n,)."""
        return np.asarray(np.diff(self.votes.indptr) > 0)

    def of(self, k: int) -> csr_array:
        """Return the votes of source k, (n, its answers)."""
        return self.votes[:, np.flatnonzero(self.source == k)]

    def take(self, rows: IntArray) -> "Sources":
        """Return the votes on some rows; sources and classes stay."""
        return replace(self, votes=self.votes[rows])

    def padded(self, m: int) -> "Sources":
        """Return the votes with m rows at the end that nobody votes on."""
        n, n_answers = self.votes.shape
        indptr = np.concatenate([self.votes.indptr, np.full(m, self.votes.indptr[-1])])
        parts = (self.votes.data, self.votes.indices, indptr)
        return replace(self, votes=csr_array(parts, shape=(n + m, n_answers)))

    def with_classes(self, classes: NDArray[Any]) -> "Sources":
        """Return the same votes, with their classes among all of these, sorted."""
        answer = np.searchsorted(classes, self.classes)[self.answer]
        return replace(self, answer=answer.astype(np.intp), classes=classes)

    def renamed(self, names: Mapping[Any, Any]) -> "Sources":
        """Return the votes for some classes under other names.

        Examples
        --------
        >>> sources = Sources.read({"anna": ["cat", "dog", "eel"]})
        >>> sources.renamed({"cat": 7, "dog": 3}).classes
        array([3, 7])
        """
        known = [k for k, name in enumerate(self.classes.tolist()) if name in names]
        new = np.array([names[self.classes[k]] for k in known])
        classes, place = np.unique(new, return_inverse=True)
        place_of = np.full(len(self.classes), -1)
        place_of[known] = place
        kept = np.flatnonzero(place_of[self.answer] >= 0)
        return replace(
            self,
            votes=csr_array(self.votes[:, kept]),
            source=self.source[kept],
            answer=place_of[self.answer[kept]],
            denied=self.denied[kept],
            classes=classes,
        )

    def told(self, rows: IntArray, name: str, answers: Any) -> "Sources":
        """Return the votes with those of one source, old or new, on some rows replaced.

        Parameters
        ----------
        rows : int ndarray of shape (k,)
            Positions, none of them twice.
        name : str
            Of the source. If its votes are split by confidence, those on these rows are
            replaced in each level, and new ones are of the level with most.
        answers : array-like of shape (k,)
            As a column of `read`; what means unlabelled takes a vote back.

        Examples
        --------
        >>> sources = Sources.read({"anna": ["a", "b", None]})
        >>> sources.told(np.array([2]), "ben", ["a"]).n_votes
        array([2, 1])
        """
        if are_shares(answers):
            msg = f"{name!r} votes with shares; read them with Sources.read."
            raise ValueError(msg)
        values, known, denied = _read(name, answers)
        if len(known) != len(rows):
            given = f"{counted(len(known), 'vote')} given"
            msg = f"{counted(len(rows), 'row')} named, {given}; give one for each."
            raise ValueError(msg)
        n, old = self.votes.shape[0], self.votes.copy()
        if levels := [k for k, own in enumerate(self.names) if is_level(own, name)]:
            mine = np.flatnonzero(np.isin(self.source, levels))
            row_of = np.repeat(np.arange(n), np.diff(old.indptr))
            old.data[np.isin(row_of, rows) & np.isin(old.indices, mine)] = 0.0
            old.eliminate_zeros()
            if name not in self.names:
                name = self.names[max(levels, key=self.n_votes.__getitem__)]
        column = np.full(n, None, dtype=object)
        for row, value, no in zip(rows[known], values.tolist(), denied, strict=True):
            column[row] = Not(value) if no else value
        return _together([replace(self, votes=old), Sources.read({name: column})])

    @classmethod
    def from_rules(cls, rules: Mapping[str, Any], table: Any) -> "Sources":
        """Return the votes of rules on every row of a table.

        Parameters
        ----------
        rules : mapping
            From names to functions of a row that return a class or None, or to pairs
            of a class and a condition on the columns of a data frame.
        table : data frame or iterable of rows

        Examples
        --------
        >>> texts = ["refund please", "thank you"]
        >>> rule = lambda text: "complaint" if "refund" in text else None
        >>> Sources.from_rules({"refund": rule}, texts).n_votes
        array([1])
        """
        return cls.read({name: applied(rule, table) for name, rule in rules.items()})


SourcesLike: TypeAlias = Sources | Mapping[str, ArrayLike] | ArrayLike


def _columns(sources: SourcesLike, names: Any) -> dict[str, Any]:
    """Return the columns by name."""
    if isinstance(sources, Mapping):
        found: dict[str, Any] = {str(k): column for k, column in sources.items()}
    elif hasattr(sources, "columns") and hasattr(sources, "__getitem__"):
        found = {str(name): sources[name] for name in sources.columns}
    else:
        array = np.asarray(sources)
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2:
            msg = f"sources must have shape (n, n_sources), got {array.shape}."
            raise ValueError(msg)
        m = array.shape[1]
        given = [f"source {k}" for k in range(m)] if names is None else list(names)
        if len(given) != m:
            msg = f"sources has {counted(m, 'column')}, names {len(given)}."
            raise ValueError(msg)
        found = {str(name): array[:, k] for k, name in enumerate(given)}
    if not found:
        msg = "sources is empty: give a column for each source, or leave it out."
        raise ValueError(msg)
    return found


def _read(name: str, column: Any) -> Any:
    """Return votes, where they are and which deny; or shares and their classes."""
    if are_shares(column):
        try:
            shares, own = read_shares(column)
            return shares, of_one_kind(own)
        except ValueError as error:
            msg = f"sources[{name!r}]: {error}"
            raise ValueError(msg) from error
    if isinstance(column, list | tuple) and any(isinstance(v, Not) for v in column):
        objects = np.empty(len(column), dtype=object)
        objects[:] = column
        column = objects
    values, known = read_column(column)
    votes = values[known]
    denied = np.zeros(len(votes), dtype=bool)
    if votes.dtype.kind == "O":
        denied = np.array([isinstance(v, Not) for v in votes], dtype=bool)
        plain = [v.label if isinstance(v, Not) else v for v in votes]
        votes = np.empty(len(plain), dtype=object)
        votes[:] = plain
    if len(votes):
        try:
            votes = of_one_kind(votes)
        except (TypeError, ValueError) as error:
            msg = f"sources[{name!r}]: {str(error).replace('y holds', 'it holds')}"
            raise type(error)(msg) from error
        if votes.dtype.kind == "f" and not (votes % 1).any():
            votes = votes.astype(np.int64)  # floats because of NaN beside them
    return votes, known, denied


def _joined(read: dict[str, Any]) -> Sources:
    """Return all columns as one."""
    kinds = [found[1] if len(found) == 2 else found[0] for found in read.values()]
    classes = _classes_of([values for values in kinds if len(values)], list(read))
    lengths = {
        name: len(found[0]) if len(found) == 2 else len(found[1])
        for name, found in read.items()
    }
    n = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != n:
            first = next(iter(lengths))
            msg = (
                f"sources[{first!r}] has {counted(n, 'row')}, sources[{name!r}] "
                f"{length:,}; give one vote per row, None where a source abstains."
            )
            raise ValueError(msg)
    rows, data, source, answer, no = [], [], [], [], []

    def add(k: int, c: int, at: IntArray, weight: Any, denied: bool) -> None:
        if len(at):
            rows.append(at.astype(np.int32))
            data.append(np.broadcast_to(np.float32(weight), at.shape))
            source.append(k)
            answer.append(c)
            no.append(denied)

    for k, found in enumerate(read.values()):
        if len(found) == 2:
            shares, own = found
            for j, c in enumerate(np.searchsorted(classes, own)):
                at = np.flatnonzero(shares[:, j] > 0)
                add(k, int(c), at, shares[at, j], denied=False)
            continue
        votes, known, denied = found
        at, codes = np.flatnonzero(known), np.searchsorted(classes, votes)
        for c in range(len(classes)) if len(votes) else ():
            for is_no in (False, True):
                add(k, c, at[(codes == c) & (denied == is_no)], 1.0, denied=is_no)
    return Sources(
        _stored(rows, data, n),
        np.array(source, dtype=np.intp),
        np.array(answer, dtype=np.intp),
        np.array(no, dtype=bool),
        tuple(read),
        classes,
    )


def _stored(rows: list[Any], data: list[Any], n: int) -> csr_array:
    """Return the sparse array whose columns have these rows."""
    indptr = np.cumsum([0, *map(len, rows)])
    if indptr[-1] < np.iinfo(np.int32).max:  # else places do not fit either
        indptr = indptr.astype(np.int32)
    values = np.concatenate(data) if data else np.empty(0, np.float32)
    indices = np.concatenate(rows) if rows else np.empty(0, np.int32)
    return csc_array((values, indices, indptr), shape=(n, len(rows))).tocsr()


def _classes_of(kinds: list[NDArray[Any]], names: list[str]) -> NDArray[Any]:
    """Return all classes that are voted for, sorted."""
    if not kinds:
        return np.array([], dtype=np.int64)
    if len({values.dtype.kind == "U" for values in kinds}) > 1:
        msg = (
            f"some of the sources {some(names)} vote with numbers and some with "
            "strings; name the classes in the same way in all of them."
        )
        raise TypeError(msg)
    return np.unique(np.concatenate([np.unique(values) for values in kinds]))


def _together(parts: list[Sources]) -> Sources:
    """Return sources of the same rows as one; those of the same name are merged."""
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    kinds = [part.classes for part in parts if len(part.classes)]
    classes = _classes_of(kinds, list(names))
    keys: dict[tuple[int, int, bool], int] = {}
    blocks = []
    for part in parts:
        whose = [names.index(name) for name in part.names]
        codes = np.searchsorted(classes, part.classes)
        columns = zip(part.source, part.answer, part.denied, strict=True)
        places = [
            keys.setdefault((whose[s], int(codes[c]), bool(no)), len(keys))
            for s, c, no in columns
        ]
        blocks.append((part.votes.tocoo(), np.array(places, dtype=np.int32)))
    n = parts[0].votes.shape[0]
    row = np.concatenate([block.coords[0] for block, _ in blocks])
    column = np.concatenate([places[block.coords[1]] for block, places in blocks])
    data = np.concatenate([block.data for block, _ in blocks])
    votes = csr_array((data, (row, column)), shape=(n, len(keys)))
    source, answer, denied = (np.array(part) for part in zip(*keys, strict=True))
    return Sources(
        votes,
        source.astype(np.intp),
        answer.astype(np.intp),
        denied.astype(bool),
        names,
        classes,
    )
