"""Which columns matter."""

import numpy as np
import pandas as pd
import pytest

from mercer.app.report.story import Influence
from mercer.app.tables import influence
from mercer.app.tables.influence import column_influences
from mercer.app.tables.session import Session


def opened(n: int = 120) -> Session:
    """A table where one column tells the class, and others say nothing."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "noise": rng.standard_normal(n),
            "size": 5.0 * truth + rng.standard_normal(n),
            "colour": rng.choice(["red", "blue", "green"], n),
            "same": 1.0,
        }
    )
    names = np.where(truth == 1, "big", "small").astype(object)
    frame["label"] = [names[k] if k < 30 else None for k in range(n)]
    return Session.open(frame).fit()


def found(session: Session) -> dict[str, Influence]:
    rows = column_influences(
        session.model,
        session.rows.encoder,
        session.rows.points,
        session.labels,
        rng=np.random.default_rng(0),
    )
    return {i.column: i for i in rows}


def test_the_column_that_tells_the_class_matters_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = opened()
    said = found(session)
    assert list(said) == sorted(said, key=lambda c: -said[c].loss)
    assert next(iter(said)) == "size"
    assert said["size"].low > 0.15
    assert abs(said["noise"].loss) < 0.15
    assert "same" not in said
    for name, most in (("MOST_COLUMNS", 2), ("MOST_ROWS", 119)):
        with monkeypatch.context() as patch:
            patch.setattr(influence, name, most)
            assert found(session) == {}


def test_a_column_counts_although_others_say_the_same() -> None:
    """No prediction changes sides, and the probabilities fall."""
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 2
    frame = pd.DataFrame({c: 6.0 * truth + rng.standard_normal(120) for c in "abc"})
    frame["noise"] = rng.standard_normal(120)
    names = np.where(truth == 1, "big", "small").astype(object)
    frame["label"] = [names[k] if k < 30 else None for k in range(120)]
    said = found(Session.open(frame).fit())
    assert min(said[c].low for c in "abc") > 0.01
    assert abs(said["noise"].loss) < 0.01


def test_coordinates_of_columns_are_those_of_the_encoder() -> None:
    session = opened()
    places = session.rows.encoder.places()
    assert set(places) == {"noise", "size", "colour"}
    together = np.concatenate(list(places.values()))
    assert sorted(together) == list(range(session.rows.points.shape[1]))
    assert len(places["colour"]) == 4  # 0/1 for each of three, and a code for trees
    size = session.rows.points[:, places["size"][0]]
    given = session.table.frame["size"]
    assert np.corrcoef(size, given)[0, 1] == pytest.approx(1)
