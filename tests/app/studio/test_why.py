"""The studio and `explain` name the same labelled rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine

from mercer.app.studio.engine import Told, wait_until
from mercer.app.studio.model_engine import ModelEngine
from mercer.app.tables.session import Session


@pytest.mark.parametrize(("load", "n_labels"), [(load_wine, 15), (load_digits, 40)])
def test_the_studio_names_the_rows_that_explain_names(
    load: Callable[..., Any], n_labels: int
) -> None:
    """The first row agreed for 52% of wine and 78% of digits."""
    data = load()
    rows = np.random.default_rng(0).choice(len(data.data), n_labels, replace=False)
    codes = np.full(len(data.data), -1)
    codes[rows] = data.target[rows]
    frame = pd.DataFrame(data.data, columns=[str(name) for name in data.feature_names])
    frame["label"] = [None if code < 0 else code for code in codes]
    session = Session.open(frame)
    told = Told(codes, np.empty(0, dtype=np.intp), {})
    engine = ModelEngine(lambda: session, lambda: told)
    engine.start()
    try:
        assert wait_until(lambda: engine.snapshot.proba is not None, 60)
        explanation = engine.session.model.explain()
        for row in range(len(codes)):
            named = engine.why(row, 6)
            pulls = explanation.top(row, n=6)
            assert [i for i, _, _ in named] == [int(pull.id) for pull in pulls]
            for i, label, amount in named:
                assert label == codes[i]
                assert amount > 0
    finally:
        engine.stop()
