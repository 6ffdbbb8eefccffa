"""What the page shows: plain numbers and names, computed elsewhere."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer._base.typing import BoolArray, FloatArray, IntArray
from mercer.judging.hiding import Score
from mercer.judging.outlook import Outlook
from mercer.judging.sources import SourceJudged


class Bin(NamedTuple):
    """Rows of about the same confidence."""

    confidence: float
    accuracy: float
    low: float
    high: float
    n: int


class Taken(NamedTuple):
    """Rows of at least some confidence, by hidden labels."""

    confidence: float
    share: float  # of the hidden labels above it that were right
    low: float
    high: float
    n_tested: int
    n_rows: int  # without a label


class Row(NamedTuple):
    """A row of the table that someone should look at."""

    id: str
    given: str  # "" if unlabelled
    prediction: str
    probability: float
    second: str
    second_probability: float
    cells: tuple[tuple[str, str], ...]  # name and content of each column
    picture: FloatArray | None = None  # (height, width, colours) in [0, 1]
    wrong: float | None = None  # probability that the given label is wrong


class Listed(NamedTuple):
    """A row of the list of predictions."""

    id: str
    prediction: str
    probability: float
    second: str
    given: str  # "" if unlabelled
    contents: str = ""  # the first cells, in short


class Column(NamedTuple):
    """A column of the table, and what became of it."""

    name: str
    kind: str
    done: str
    n_numbers: int
    values: str = ""  # what its cells hold, in short
    bars: tuple[float, ...] = ()  # heights of a histogram


class Repeated(NamedTuple):
    """Rows that are alike but for case, spaces and rounding."""

    rows: tuple[str, ...]  # their ids; of many, the first
    n: int
    labels: tuple[str, ...]  # the different labels among them


class Fact(NamedTuple):
    """A figure of a certificate, with what it means."""

    part: str
    name: str
    value: str
    meaning: str


class Influence(NamedTuple):
    """How much worse hidden labels are predicted without a column."""

    column: str
    loss: float  # of the probability of the right class, with its cells shuffled
    low: float
    high: float


class Evidence(NamedTuple):
    """One kind of similarity in the mixture that made the predictions."""

    kind: str  # "graphs", "direct" or "density"; of views, which columns
    share: float  # of the weight
    usual: float  # share before any label counted


@dataclass(frozen=True, eq=False)
class Quality:
    """Cross-validation on the labelled rows."""

    contestants: tuple[Score, ...]  # Mercer first
    bins: tuple[Bin, ...]
    calibration_error: float
    confusion: FloatArray  # (n_classes, n_classes) given by predicted
    n_tested: int
    n_splits: int
    n_repeats: int
    n_tried: int  # parts that were hidden: not all where there are very many labels
    doubtful: tuple[Row, ...]  # labels that look wrong; `second` is the label given
    false_alarms: float = 0.0  # share of these that is expected to be right
    first: tuple[Row, ...] = ()  # labels to look at next, the likeliest wrong first
    taken: tuple[Taken, ...] = ()  # by rising confidence
    shift: float = 0.0  # by how much accuracies were raised for the unlabelled rows


@dataclass(frozen=True, eq=False)
class Map:
    """Some rows as points of the plane."""

    xy: FloatArray  # (m, 2)
    codes: IntArray  # (m,) predicted class
    labeled: BoolArray  # (m,)
    tips: tuple[str, ...]  # (m,) what pointing at a row shows


@dataclass(frozen=True, eq=False)
class Picture:
    """The kernel between some rows, ordered by class."""

    K: FloatArray  # (m, m) in [-1, 1], 1 on the diagonal
    codes: IntArray  # (m,) ascending


@dataclass(frozen=True, eq=False)
class Story:
    """Everything the page shows."""

    source: str  # a file name, without its folder
    target: str
    made: str  # date and version
    n_rows: int
    classes: tuple[str, ...]
    n_given: IntArray  # labels of each class
    n_predicted: IntArray  # rows predicted to be of each class
    n_pairs: int
    quality: Quality | None
    next_rows: tuple[Row, ...]
    map: Map
    picture: Picture
    values: FloatArray  # (r,) how fast each direction changes between neighbours
    weights: FloatArray  # (r,) what the kernel gives them
    choices: tuple[tuple[str, float], ...]  # kernels that were mixed, and their shares
    columns: tuple[Column, ...]
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    method: str  # which kernels were computed, and why
    evidence: tuple[Evidence, ...] = ()  # which kinds decided, the largest share first
    views: tuple[Evidence, ...] = ()  # the same by columns that are compared together
    n_weighed: int = 0  # labels that were left out to set these shares
    predictions: tuple[Listed, ...] = ()  # all rows, or the least certain ones
    n_sure: int | None = None  # rows with one possible class; None: not tested
    influences: tuple[Influence, ...] = ()  # of the columns, largest first
    # Columns of numbers that say much the same, and their rank correlation.
    same_columns: tuple[tuple[str, str, float], ...] = ()
    outlook: Outlook | None = None
    n_repeating: int = 0  # rows that repeat an earlier one
    n_contradicting: int = 0  # groups of them that have different labels
    repeated: tuple[Repeated, ...] = ()  # some of these groups
    changes: tuple[str, ...] = ()  # since the run before
    told: str = ""  # what was said of the classes, in a sentence
    labels_drawn: str = ""  # "at random" or "per class", if it was given
    class_sizes: tuple[float, ...] = ()  # shares of the classes, if they were given
    sizes_in_part: str = ""  # what was said of them, if it leaves something open
    # Whether the figures are those of classes that count alike, and may not be of rows.
    counts_alike: bool = False
    sources: tuple[SourceJudged, ...] = ()  # of labels: rules, models, colleagues
    rests_on: str = ""  # what the accuracies of the sources were judged by
    disputed: tuple[str, ...] = ()  # rows on which they contradict each other most

    @property
    def n_labeled(self) -> int:
        """Number of labelled rows."""
        return int(self.n_given.sum())


def as_data(story: Story) -> dict[str, Any]:
    """Return a story as dictionaries, lists, strings and numbers.

    Images are left out; they are in the person's folder.
    """
    plain: dict[str, Any] = _plain(story)
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if hasattr(value, "_asdict"):
        pairs = value._asdict().items()
        return {name: _plain(v) for name, v in pairs if name != "picture"}
    if isinstance(value, np.ndarray):
        whole = value if value.dtype.kind in "biu" else np.round(value, 5)
        return whole.tolist()
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value
