"""What more labels would bring."""

import numpy as np
import pytest

from mercer._base.typing import FloatArray, IntArray
from mercer.evidence.labels import Labels
from mercer.judging.hiding import Check, Score
from mercer.judging.outlook import curve, look_ahead


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def rows(right: int, of: int) -> FloatArray:
    return (np.arange(of) < right).astype(float)


def test_the_curve_is_the_power_law_through_its_points() -> None:
    n = 100_000  # so many rows that there is no doubt
    o = curve(rows(60_000, n), rows(75_000, n), 80, 0.8, 20, rng())
    b = np.log(0.4 / 0.25) / np.log(1.6)
    e = [0.25 * (64 / labels) ** b for labels in (80, 100)]
    assert o.then == pytest.approx(0.8 + e[0] - e[1], abs=1e-3)
    assert o.low < o.then < o.high
    assert o.high - o.low < 0.01


def test_no_gain_is_promised_where_more_labels_did_not_help() -> None:
    n = 100_000
    for half in (75_000, 80_000):
        o = curve(rows(half, n), rows(75_000, n), 40, 0.75, 20, rng())
        assert o.then == pytest.approx(0.75, abs=1e-3)


def test_few_rows_without_a_difference_are_no_proof() -> None:
    o = curve(rows(20, 21), rows(20, 21), 21, 0.95, 20, rng())
    assert o.low == pytest.approx(0.95)
    assert o.high > 0.96


def test_fewer_rows_are_less_certain() -> None:
    widths = []
    for k in (1, 10):
        o = curve(rows(12 * k, 20 * k), rows(16 * k, 20 * k), 20, 0.8, 20, rng())
        widths.append(o.high - o.low)
    assert widths[0] > 1.5 * widths[1]


class Halves:
    """A model that is right about three rows of four, however many labels it sees."""

    def __init__(self) -> None:
        self.tested: list[IntArray] = []

    def held_out_proba(
        self, test: IntArray, *, rows: IntArray | None = None
    ) -> FloatArray:
        self.tested.append(test)
        return np.eye(2)[(test + (test % 8 == 7) + (test % 8 == 6)) % 2]


def test_a_curve_weighs_its_rows() -> None:
    """Rows that more labels mend count for as many as they stand for."""
    half, most = np.array([0.0, 1.0] * 20), np.ones(40)
    plain = curve(half, most, 40, 0.8, 20, rng())
    same = curve(half, most, 40, 0.8, 20, rng(), weights=np.full(40, 3.0))
    assert same == plain
    few = curve(half, most, 40, 0.8, 20, rng(), weights=np.array([0.1, 1.9] * 20))
    gone = curve(half, most, 40, 0.8, 20, rng(), weights=np.array([0.0, 2.0] * 20))
    only = curve(half[1::2], most[1::2], 40, 0.8, 20, rng())
    assert few.gain < plain.gain
    assert gone == only


@pytest.mark.parametrize("n", [12, 40, 1000])
def test_half_of_the_labels_are_hidden_at_a_time(n: int) -> None:
    labels = Labels.read(np.r_[np.arange(n) % 2, np.full(9, -1)], min_classes=2)
    proba = np.eye(2)[np.arange(n) % 2]
    score = Score("Mercer", 0.9, 0.8, 1.0, 0.9)
    check = Check(
        rows=np.arange(n),
        codes=np.arange(n) % 2,
        proba=proba,
        scores=(score,),
        calibration_error=0.0,
        confusion=np.eye(2),
        n_splits=5,
        n_repeats=1,
        n_tried=5,
        weights=np.ones(n),
    )
    model = Halves()
    o = look_ahead(model, labels, check, rng=rng(), n_more=10)
    assert o is not None
    assert (o.n_more, o.now) == (10, 0.9)
    assert o.then > o.now  # more labels were better in the check
    assert sorted(np.concatenate(model.tested)) == sorted([*range(n)] * 2)
    assert {len(test) for test in model.tested} == {n // 2}


def test_too_few_or_very_many_labels_give_no_curve() -> None:
    for n in (10, 1002):
        labels = Labels.read(np.arange(n) % 2, min_classes=2)
        check = Check(
            rows=np.arange(n),
            codes=np.arange(n) % 2,
            proba=np.eye(2)[np.arange(n) % 2],
            scores=(Score("Mercer", 0.9, 0.8, 1.0, 0.9),),
            calibration_error=0.0,
            confusion=np.eye(2),
            n_splits=5,
            n_repeats=1,
            n_tried=5,
            weights=np.ones(n),
        )
        assert look_ahead(Halves(), labels, check, rng=rng()) is None
