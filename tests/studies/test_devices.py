"""The part of the benchmark that compares devices, on few points."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from mercer_studies.bench import devices


def test_a_row_for_each_number_of_threads_and_the_same_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "_COMPILED_WITH", 300)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    rows = list(devices.measured(["flat", "tails"], [400], [1, 2]))
    assert [(row.kind, row.threads) for row in rows] == [
        ("flat", 1), ("flat", 2), ("tails", 1), ("tails", 2),
    ]  # fmt: skip
    assert rows[0].right == rows[1].right > 50
    lines = devices.table(rows).splitlines()
    assert len(lines) == 6
    assert len({line.count("|") for line in lines}) == 1


@pytest.mark.parametrize("kind", devices.KINDS)
def test_points_follow_the_seed(kind: str) -> None:
    X, y = devices.drawn(kind, 50, "cpu")
    again, other = (devices.drawn(kind, 50, "cpu", seed)[0] for seed in (0, 1))
    assert X.shape == (50, 64)
    assert np.isfinite(X.numpy()).all()
    assert set(np.unique(y)) <= set(range(20))
    assert (again == X).all()
    assert not (other == X).all()


def test_five_labels_of_each_class_are_known() -> None:
    truth: Any = np.repeat([3, 7], 20)
    y = devices.partly(truth)
    assert (y[y >= 0] == truth[y >= 0]).all()
    assert np.bincount(y[y >= 0]).tolist() == [0, 0, 0, 5, 0, 0, 0, 5]
