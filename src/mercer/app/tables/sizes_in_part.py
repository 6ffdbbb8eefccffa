"""Class sizes that are known in part: some shares, intervals, words or an order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer._base.words import some
from mercer.app.tables.class_sizes import class_named
from mercer.app.tables.table import TableError
from mercer.evidence.labels import SIZE_WORDS, Labels

if TYPE_CHECKING:
    from mercer.machines._sizes import ToldSizes


@dataclass(frozen=True, eq=False)
class SizesInPart:
    """What a person knows of the class sizes, where something is left open.

    Parameters
    ----------
    given : dict or str
        Shares, pairs (least, most) and words by classes, or an order, largest first.
    names : tuple
        The classes in it.
    """

    given: Any
    names: tuple[Any, ...]

    @classmethod
    def read(
        cls, given: Any, classes: Iterable[Any], *, as_written: bool = False
    ) -> "SizesInPart":
        """Read what a person wrote; the names are those of classes, as in the target.

        Where fewer than two classes are known yet, others may be named.

        Examples
        --------
        >>> SizesInPart.read({"Spam": "few"}, ["ham", "spam"]).words
        'spam few'
        >>> SizesInPart.read("ham > spam", ["ham", "spam"]).words
        'ham > spam'
        """
        classes = list(classes)
        is_order = isinstance(given, str)
        keys = [k.strip() for k in given.split(">")] if is_order else [*given.keys()]
        is_open = len(classes) < 2
        names = tuple(
            class_named(key, classes, as_written, or_else=key if is_open else None)
            for key in keys
        )
        if len(set(names)) < len(names):
            msg = f"class sizes name a class twice; got {given!r}."
            raise TableError(msg)
        if is_order:
            read = cls(" > ".join(map(str, names)), names)
        else:
            pairs = zip(names, (given[key] for key in keys), strict=True)
            read = cls(dict(pairs), names)
        try:
            read.of(np.array(classes, dtype=object))
        except ValueError as error:
            raise TableError(
                str(error).replace("class_sizes", "class sizes")
            ) from error
        return read

    def of(self, classes: NDArray[Any]) -> "ToldSizes":
        """Return what is known of the shares of these classes among themselves."""
        from mercer.machines._sizes import read_sizes

        own = classes.tolist()
        every = [*own, *(name for name in self.names if name not in own)]
        if len(every) < 2:
            every.append(None)  # a class that nobody has named yet
        found = read_sizes(self.given, np.array(every, dtype=object))
        if len(every) == len(own):
            return found
        return found.of(np.arange(len(every)) < len(own))

    def most(self, labels: Labels) -> dict[Any, float]:
        """Return the largest share that each class may have."""
        return dict(
            zip(labels.classes.tolist(), self.of(labels.classes).high, strict=True)
        )

    def shares(self, classes: NDArray[Any]) -> dict[Any, float] | None:
        """Return the shares of these classes if nothing is left open, else None."""
        found = self.of(classes).exact
        if found is None:
            return None
        return dict(zip(classes.tolist(), found.tolist(), strict=True))

    @property
    def words(self) -> str:
        """What was said, as it is shown."""
        if isinstance(self.given, str):
            return self.given
        return some(f"{name} {_said(v)}" for name, v in self.given.items())


def is_in_part(given: Any, classes: Iterable[Any]) -> bool:
    """Tell whether class sizes leave something open for these classes.

    Examples
    --------
    >>> [is_in_part(g, "ab") for g in ("a > b", {"a": "few"}, {"a": 0.2}, {"a": 20})]
    [True, True, True, False]
    """
    if isinstance(given, str):
        return True
    if not hasattr(given, "keys"):
        return False
    values = [given[key] for key in list(given.keys())]
    if any(v in SIZE_WORDS if isinstance(v, str) else np.size(v) == 2 for v in values):
        return True
    is_share = all(isinstance(v, int | float) and 0 < v < 1 for v in values)
    n_classes = max(len(list(classes)), 2)  # there will be two
    return is_share and 0 < sum(values) < 1 - 1e-9 and len(values) < n_classes


def whole(given: Any) -> Any:
    """Return class sizes, or raise unless they are numbers, as the studio needs."""
    if is_in_part(given, ()):
        msg = (
            f"the studio takes a number for each class, such as yes=10,no=90; got "
            f"{given!r}. `mercer learn` also takes sizes that are known in part."
        )
        raise TableError(msg)
    return given


def _said(value: Any) -> str:
    if isinstance(value, str):
        return value
    if np.size(value) == 2:
        least, most = value
        return f"{least:.3g} to {most:.3g}"
    return f"{value:.3g}"
