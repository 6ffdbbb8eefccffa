"""What a person knows of the classes: how rows were chosen for labels, and sizes."""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from mercer._base.typing import FloatArray, IntArray
from mercer._base.words import as_name, some
from mercer.app.tables.table import TableError
from mercer.app.tables.target import plain_spelling
from mercer.evidence.labels import SIZE_WORDS, Labels, LabelsDrawn

# A name is all that comes before "=number" at the end or before a comma, so that names
# may hold commas and equals signs.
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SIZE = re.compile(
    rf"(.+?)=\s*(?:({_NUMBER})\s*(%?)(?:\s*-\s*({_NUMBER})\s*(%?))?|"
    rf"({'|'.join(SIZE_WORDS)}))\s*(?:,|$)"
)
_ORDER = re.compile(r"[^=>]+(>[^=>]+)+")

# Labels are about equal in number if half of the classes have as many as the largest
# number but for this factor: of rare classes there may be fewer.
_ABOUT_EQUAL = 1.2
# A model as sure as this knows the sizes, unless a class has less than half of an even
# share: telling the true ones then added 1 point in 21 draws of the fourth collection,
# elsewhere 8.
_SURE, _FEW = 0.85, 0.5
# Sizes that are given are rounded by no more than this.
_ROUNDED = 1.1


def parse_sizes(texts: Iterable[str]) -> dict[str, Any] | str | None:
    """Return the class sizes that options such as ``yes=10,no=90`` name.

    Each text holds one class or more, separated by commas. A size is a count, a share,
    a percentage, an interval or a word; one text may instead be an order of classes. No
    text at all gives None.

    Examples
    --------
    >>> parse_sizes(["yes=10%,no=90%"])
    {'yes': 0.1, 'no': 0.9}
    >>> parse_sizes(["red, or pink=1,blue=3", "x=0=0.5"])
    {'red, or pink': 1.0, 'blue': 3.0, 'x=0': 0.5}
    >>> parse_sizes(["yes=5%-20%", "no=most"]), parse_sizes(["no > yes"])
    ({'yes': (0.05, 0.2), 'no': 'most'}, 'no > yes')
    """
    sizes: dict[str, Any] = {}
    signs = set()
    texts = list(texts)
    if len(texts) == 1 and _ORDER.fullmatch(texts[0]):
        return texts[0].strip()
    for text in texts:
        found = list(_SIZE.finditer(text))
        if not found or "".join(m[0] for m in found) != text:
            msg = (
                f"--class-sizes must be such as yes=10,no=90, got {text!r}. Write "
                "numbers with a point, and without separators of thousands. Sizes that "
                "are known in part: yes=20%, yes=5%-20%, yes=few or 'no > yes'; the "
                f"words are {', '.join(SIZE_WORDS)}."
            )
            raise TableError(msg)
        for name, low, sign, high, second, word in (m.groups() for m in found):
            signs |= {sign for number, sign in ((low, sign), (high, second)) if number}
            if name.strip() in sizes:
                msg = f"--class-sizes names the class {name.strip()!r} twice."
                raise TableError(msg)
            least, most = _number(low, sign), _number(high, second)
            sizes[name.strip()] = word or (least if most is None else (least, most))
    if len(signs) > 1:
        msg = (
            "--class-sizes holds numbers with and without %; write all of them with it "
            f"or none, got {', '.join(texts)!r}."
        )
        raise TableError(msg)
    return sizes if texts else None


def _number(text: str | None, sign: str) -> float | None:
    return None if text is None else float(text) / (100 if sign else 1)


def check_drawn(labels_drawn: str | None, class_sizes: Any) -> None:
    """Raise if it is unclear what was said about the labels."""
    ways = get_args(LabelsDrawn)
    if labels_drawn not in (None, *ways):
        msg = (
            f"labels_drawn (--labels-drawn) must be 'at random' or 'per class', got "
            f"{labels_drawn!r}."
        )
        raise TableError(msg)
    if labels_drawn == "at random" and class_sizes is not None:
        msg = (
            "labels drawn 'at random' tell the class sizes by their numbers, so class "
            "sizes cannot be given as well: leave out --labels-drawn or --class-sizes "
            "(in Python labels_drawn=... or class_sizes=...)."
        )
        raise TableError(msg)


def sizes_by_class(
    given: Any,
    classes: list[Any],
    *,
    voted: Iterable[Any] = (),
    as_written: bool = False,
    may_come_later: bool = False,
) -> dict[Any, float]:
    """Return the share of each class among all rows, as a person gave them.

    They are counts or shares by the names of the classes; classes that are `voted` for
    by sources may have one. With `as_written` another spelling is another class, as in
    the target. With `may_come_later` a class may have a size before it has a label.

    Examples
    --------
    >>> sizes_by_class({"Yes": 1, "no": 3}, ["no", "yes"])
    {'no': 0.75, 'yes': 0.25}
    """
    if not hasattr(given, "keys"):
        msg = (
            "class_sizes must name the classes, such as "
            f"{dict.fromkeys(classes[:3], 1)}; got {given!r}."
        )
        raise TableError(msg)
    numbers: dict[Any, float] = {}
    for key in list(given.keys()):  # a Series iterates over its values
        every = list(dict.fromkeys([*classes, *voted]))
        name = class_named(
            key, every, as_written, or_else=key if may_come_later else None
        )
        if name in numbers:
            msg = f"class sizes name the class {str(name)!r} twice; name it once."
            raise TableError(msg)
        numbers[name] = _size(given[key], key)
    lacking = [c for c in classes if c not in numbers]
    if lacking:
        said = some((repr(str(c)) for c in lacking), 5)
        msg = f"class sizes lack a number for {said}; {_are_of(classes)}."
        raise TableError(msg)
    total = sum(numbers.values())
    return {c: numbers[c] / total for c in [*classes, *numbers]}


def class_named(
    key: Any, classes: list[Any], as_written: bool = False, *, or_else: Any = None
) -> Any:
    """Return the class that a name stands for, or raise where there is none.

    Examples
    --------
    >>> class_named(" YES", ["no", "Yes"])
    'Yes'
    """
    name = " ".join(as_name(key).split())
    found = [c for c in classes if str(c) == name]
    if not found and not as_written:
        alike = [c for c in classes if plain_spelling(str(c)) == plain_spelling(name)]
        found = alike if len(alike) == 1 else []
    if found or or_else is not None:
        return found[0] if found else or_else
    msg = f"class sizes name the class {str(key)!r}; {_are_of(classes)}."
    raise TableError(msg)


def _are_of(classes: list[Any]) -> str:
    names = some((repr(str(c)) for c in classes), 10)
    return f"the labels are of {names}. Give one number for each of these"


def _size(value: Any, key: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        msg = (
            f"the size of the class {str(key)!r} must be a number above 0, a count or "
            f"a share; got {value!r}."
        )
        raise TableError(msg)
    return number


def has_room(share: float, n_labels: int, n_rows: int) -> bool:
    """Tell whether a class of this share can have this many labels, but for rounding.

    Examples
    --------
    >>> has_room(0.1, 12, 100), has_room(0.1, 13, 100)
    (True, False)
    """
    return n_labels <= _ROUNDED * share * n_rows + 1


def check_room(class_sizes: Mapping[Any, float], labels: Labels, n_rows: int) -> None:
    """Raise if a class has more labelled rows than its given size."""
    for name, n in zip(labels.classes.tolist(), labels.counts(), strict=True):
        share = class_sizes.get(name, 1.0)
        if not has_room(share, n, n_rows):
            msg = (
                f"by the class sizes about {share * n_rows:,.0f} of {n_rows:,} rows "
                f"are of the class {str(name)!r}, and {n:,} rows are labelled so; "
                "correct the sizes."
            )
            raise TableError(msg)


def check_known(answers: Iterable[Any], class_sizes: Mapping[Any, float]) -> None:
    """Raise if an answer is of a class that has no size."""
    for answer in answers:
        if answer is not None and answer not in class_sizes:
            msg = (
                f"the answer {answer!r} is a class without a size; "
                f"{_are_of(list(class_sizes))}, or open the table again without class "
                "sizes."
            )
            raise TableError(msg)


def sizes_of(
    class_sizes: Mapping[Any, float] | None, classes: NDArray[Any]
) -> dict[Any, float] | None:
    """Return the shares of the classes that have labels, summing to 1.

    They are in the order of `classes`, those that have labels; None where not all of
    their sizes are known.

    Examples
    --------
    >>> sizes_of({"a": 0.125, "b": 0.5, "c": 0.375}, np.array(["a", "c"]))
    {'a': 0.25, 'c': 0.75}
    >>> sizes_of({"a": 0.2, "b": 0.8}, np.array(["a", "c"])) is None
    True
    """
    names = classes.tolist()
    if class_sizes is None or not all(name in class_sizes for name in names):
        return None
    total = sum(class_sizes[name] for name in names)
    return {name: class_sizes[name] / total for name in names}


def sizes_matter(n_given: IntArray, proba: FloatArray) -> bool:
    """Tell whether it would help to know how large the classes are.

    It does where labels are about equal in number, so that they do not tell, and the
    model does not know by itself: it is unsure of many rows, or finds a class with few
    of them (docs/few_labels.md). `n_given` counts the labels of each class, and
    `proba`, (n, n_classes), is of a model without these sizes.

    Examples
    --------
    >>> unsure = np.full((99, 2), [0.6, 0.4])
    >>> sizes_matter(np.array([9, 10]), unsure), sizes_matter(np.array([3, 10]), unsure)
    (True, False)
    >>> sizes_matter(np.array([10, 10]), np.eye(2)[np.arange(99) % 2])
    False
    """
    n, n_classes = proba.shape
    if not n_given.any():  # sources alone: no numbers of labels to compare
        return False
    if n_given.max() > _ABOUT_EQUAL * _middle(n_given) or n_given.sum() > n / 2:
        return False
    counts = np.bincount(proba.argmax(axis=1), minlength=n_classes)
    is_unsure = proba.max(axis=1).mean() < _SURE
    return bool(is_unsure or counts.min() < _FEW * n / n_classes)


def size_advice(n_given: IntArray, classes: NDArray[Any]) -> str:
    """Return how to tell class sizes, for labels that are about equal in number."""
    low, high = _middle(n_given), int(n_given.max())
    which = "The" if high <= _ABOUT_EQUAL * n_given.min() else "Most"
    number = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    names = [str(c) for c in classes[:3].tolist()]
    options = ",".join(f"{name}=NUMBER" for name in names)
    more = ",..." if len(classes) > len(names) else ""
    return (
        f"{which} classes have about as many labels each ({number}), which does not "
        "tell how large they are. If you know their sizes, give them: on average more "
        f"predictions are then right (--class-sizes {shlex.quote(options + more)}, "
        "counts or shares; in Python class_sizes={...})."
    )


def _middle(counts: IntArray) -> int:
    """Return the median, the lower one of two."""
    return int(np.sort(counts)[(len(counts) - 1) // 2])
