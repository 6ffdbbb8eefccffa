"""Categories, dates and texts as coordinates, by skrub."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mercer._base.extras import require
from mercer._base.typing import FloatArray
from mercer.app.tables.columns import ngrams_of
from mercer.app.tables.dates import date_format
from mercer.app.tables.number_columns import strings_among

_TEXT_DIRECTIONS = 50


class Strings(NamedTuple):
    """Coordinates of columns that are not numbers, also for new rows."""

    Z: FloatArray  # (n, d)
    sizes: dict[str, int]  # coordinates of each column, in the order of Z
    kinds: dict[str, str]  # what skrub took each column for
    steps: dict[str, list[Any]]  # fitted, for `mercer.app.tables.columns.apply_steps`


def fit_strings(frame: pd.DataFrame, texts: list[str], random_state: int) -> Strings:
    """Fit skrub's encoders to columns.

    The columns `texts` hold sentences; the seed is for their directions.
    """
    if frame.shape[1] == 0:
        return Strings(np.empty((len(frame), 0), np.float32), {}, {}, {})
    require("skrub", extra="tables", purpose="A column of texts or categories")
    from skrub import StringEncoder, TableVectorizer, ToDatetime

    words = [
        (
            StringEncoder(
                n_components=_TEXT_DIRECTIONS,
                random_state=random_state,
                **ngrams_of(frame[name]),
            ),
            [name],
        )
        for name in texts
    ]
    vectorizer = TableVectorizer(
        high_cardinality=StringEncoder(random_state=random_state),
        specific_transformers=words,
    )
    dates: dict[str, Any] = {}
    for name in strings_among(frame):
        form = "" if name in texts else date_format(frame[name])
        if form:
            dates[name] = ToDatetime(format=form)
            frame = frame.assign(**{name: dates[name].fit_transform(frame[name])})
    with warnings.catch_warnings():  # the notes say how many directions
        warnings.simplefilter("ignore")
        out = vectorizer.fit_transform(frame)
    # The steps of each column are all that new rows need; a dictionary at the end
    # holds conversions to float.
    steps = {
        name: [
            *([dates[name]] if name in dates else []),
            *(step for step in made if hasattr(step, "transform")),
        ]
        for name, made in vectorizer.all_processing_steps_.items()
    }
    outputs = vectorizer.input_to_outputs_
    place = set(out.columns)
    sizes = {name: sum(c in place for c in outputs.get(name, ())) for name in frame}
    sizes = {name: size for name, size in sizes.items() if size}
    order = [c for name in sizes for c in outputs[name] if c in place]
    kinds = {c: kind for kind, cs in vectorizer.kind_to_columns_.items() for c in cs}
    return Strings(
        out[order].to_numpy(dtype=np.float32),
        sizes,
        kinds,
        {name: steps[name] for name in sizes},
    )
