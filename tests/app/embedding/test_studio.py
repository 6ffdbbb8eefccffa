"""The studio asks while texts and images are embedded, and learns from them then."""

import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest

from embedding_models import static_model
from mercer.app.embedding import columns
from mercer.app.embedding.embedder import Vectors, unit
from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task

pytest.importorskip("sqlalchemy")
from mercer.app.studio import opening
from mercer.app.studio.engine import Stages, Told, wait_until
from mercer.app.studio.model_engine import ModelEngine
from mercer.app.studio.opening import openers
from mercer.app.studio.refused import RefusedError

N = 40
NONE = np.full(N, None, dtype=object)


def table_of(**columns):
    rng = np.random.default_rng(0)
    texts = [f"word{k % 5} and w{rng.integers(9)} in a text" for k in range(N)]
    return as_table(pd.DataFrame({"text": texts, **columns}))


class Slow:
    """An embedding that waits until somebody lets it go on."""

    def __init__(self):
        self.go, self.n_calls = threading.Event(), 0

    def __call__(self, texts):
        self.n_calls += 1
        assert self.go.wait(60)
        return np.array([[float(t[4]), 1.0, 2.0] for t in texts])


def engine_of(table, embed, codes):
    task = Task(embed=read_embed(embed))
    opened, grow = openers(table, task, np.full(len(table), None, dtype=object))
    nothing = np.empty(0, dtype=np.intp)
    return ModelEngine(opened, lambda: Told(codes.copy(), nothing, {}), grow=grow)


def test_people_are_asked_before_anything_is_embedded():
    slow, codes = Slow(), np.full(N, -1)
    engine = engine_of(table_of(), {"text": slow}, codes)
    engine.start()
    try:
        assert wait_until(lambda: slow.n_calls and engine.snapshot.ready, 60)
        assert wait_until(lambda: len(engine.snapshot.questions) > 0, 60)
        assert engine.session.rows.encoder.embeddings_ == ()
        assert "--embed" not in " ".join(engine.snapshot.notes)  # it is under way
        codes[:4] = [0, 1, 0, 1]
        engine.wake()
        assert wait_until(lambda: engine.snapshot.n_labels == 4, 60)
        assert wait_until(lambda: engine.snapshot.map_version == 1, 60)
        slow.go.set()
        assert wait_until(lambda: bool(engine.session.rows.encoder.embeddings_), 60)
        assert wait_until(lambda: engine.snapshot.map_version == 2, 60)
        assert engine.snapshot.n_labels == 4
        assert engine.snapshot.proba.shape == (N, 2)
        assert wait_until(lambda: engine.snapshot.stage == "", 60)
    finally:
        slow.go.set()
        engine.stop()


def test_what_cannot_be_embedded_is_said_and_the_work_goes_on():
    codes = np.full(N, -1)
    engine = engine_of(table_of(), {"text": "no/such-model"}, codes)
    engine.start()
    try:
        said = "Nothing was embedded: the model 'no/such-model' is not on this machine"
        assert wait_until(lambda: said in " ".join(engine.snapshot.notes), 60)
        assert engine.snapshot.ready
        assert engine.snapshot.error == ""
    finally:
        engine.stop()


@pytest.mark.parametrize(
    ("columns", "is_asked_before"),
    [({"n": range(N)}, True), ({}, False)],
)
def test_paths_alone_wait_for_their_images(columns, is_asked_before):
    """Names of files say nothing about what the files show."""
    names = [f"{k}.png" for k in range(N)]
    table = as_table(pd.DataFrame({"photo": names, **columns}))
    opened, grow = openers(table, Task(embed=read_embed("photo")), NONE)
    assert (opened is not None) == is_asked_before
    assert grow is not None


def test_without_embeddings_there_is_one_way_to_open():
    opened, grow = openers(table_of(), Task(), NONE)
    assert grow is None
    assert isinstance(opened, partial)


class Metered:
    """A model that embeds as many texts as it may, and then waits."""

    batch = 16

    def __init__(self):
        self.seen, self.may = list[str](), 0
        self.changed = threading.Condition()

    def embed(self, texts):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.seen) < self.may, 60)
            self.seen += texts
        array = np.array([[float(t[4]), 1.0, len(t) % 7] for t in texts])
        return Vectors(unit(array), np.ones(len(texts), dtype=np.intp))

    def let(self, n):
        with self.changed:
            self.may = n
            self.changed.notify_all()


@pytest.fixture
def metered(monkeypatch, tmp_path):
    """A model in a folder, which waits; sessions are made at every stage."""
    model = Metered()
    monkeypatch.setattr(columns, "load", lambda _: model)
    monkeypatch.setattr(opening, "_SOON", 0.0)
    model.folder = str(static_model(tmp_path / "model"))
    yield model
    model.let(10**6)


TEXTS = [f"word{k % 5} number {k} in a text" for k in range(300)]


def test_people_are_asked_about_rows_that_are_embedded(metered):
    codes = np.full(300, -1)
    table = as_table(pd.DataFrame({"text": TEXTS}))
    engine = engine_of(table, {"text": metered.folder}, codes)
    engine.start()
    try:
        # They are drawn from all rows, and one label of each word is learned.
        assert wait_until(lambda: engine.snapshot.ready, 60)
        codes[:20] = np.arange(20) % 5
        engine.wake()
        assert wait_until(lambda: engine.snapshot.proba is not None, 60)
        metered.let(100)
        assert wait_until(lambda: engine._part is not None, 60)
        assert {TEXTS[row] for row in range(20)} <= set(metered.seen)
        said = "embedded 100 of 300 rows, learning from 100"
        assert wait_until(lambda: engine.snapshot.stage == said, 60)

        def is_of_part():
            asked = {TEXTS[row] for row in engine.snapshot.questions.tolist()}
            return len(asked) == 40 and asked <= set(metered.seen[:100])

        assert wait_until(is_of_part, 60)
        answered = engine.snapshot.questions[:10]
        codes[answered] = answered % 5
        engine.wake()
        assert wait_until(lambda: engine.snapshot.n_labels == 30, 60)
        # What is embedded is known better, and nothing is said twice.
        proba = engine.snapshot.proba
        assert proba.shape == (300, 5)
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-5)
        rows = engine._part.rows
        right = proba.argmax(axis=1) == np.arange(300) % 5
        assert right[rows].all()
        assert engine.session.rows.encoder.embeddings_ == ()
        # Why, and what is similar, is said in numbers of the table.
        row = int(rows[-1])
        assert engine.similar(row, 3)[0] == row
        assert all(codes[other] >= 0 for other, _, _ in engine.why(row, 3))
        metered.let(10**6)
        assert wait_until(lambda: engine.snapshot.stage == "", 60)
        assert engine._part is None
        assert engine.session.rows.encoder.embeddings_
        assert wait_until(lambda: engine.snapshot.n_labels == 30, 60)
        # Equal texts aside, each was computed once.
        assert sorted(metered.seen) == sorted(TEXTS)
    finally:
        metered.let(10**6)
        engine.stop()


def test_without_other_columns_the_first_rows_that_are_embedded_are_asked(
    metered, tmp_path
):
    """What is said of the others is the mean, and no file is written yet."""
    codes = np.full(300, -1)
    given = np.full(300, None, dtype=object)
    table = as_table(pd.DataFrame({"text": TEXTS}))
    _, grow = openers(table, Task(embed=read_embed({"text": metered.folder})), given)
    nothing = np.empty(0, dtype=np.intp)
    engine = ModelEngine(None, lambda: Told(codes.copy(), nothing, {}), grow=grow)
    engine.start()
    try:
        assert wait_until(lambda: engine.snapshot.stage.startswith("embedded 0 "), 60)
        assert not engine.snapshot.ready
        metered.let(100)
        assert wait_until(lambda: len(engine.snapshot.questions) == 40, 60)
        assert engine.snapshot.ready
        rows = engine._part.rows
        codes[rows[:20]] = rows[:20] % 5
        engine.wake()
        assert wait_until(lambda: engine.snapshot.n_labels == 20, 60)
        others = np.setdiff1d(np.arange(300), rows)
        proba = engine.snapshot.proba
        mean = np.tile(engine._part.session.proba.mean(axis=0), (len(others), 1))
        np.testing.assert_allclose(proba[others], mean, atol=1e-6)
        with pytest.raises(RefusedError, match="some rows only: wait until all"):
            engine.file("model", {}, None, lambda _: None)
        metered.let(10**6)
        assert wait_until(lambda: engine.session is not None, 60)
    finally:
        metered.let(10**6)
        engine.stop()


def test_a_model_that_is_missing_ends_what_has_nothing_else():
    names = [f"{k}.png" for k in range(N)]
    table = as_table(pd.DataFrame({"photo": names}))
    engine = engine_of(table, {"photo": "no/such-model"}, np.full(N, -1))
    engine.start()
    try:
        said = "Nothing was embedded: the model 'no/such-model' is not on this machine"
        assert wait_until(lambda: said in engine.snapshot.error, 60)
    finally:
        engine.stop()


@pytest.mark.parametrize(("soon", "sizes"), [(10.0, [300]), (0.0, [100, 200, 300])])
def test_parts_come_only_where_all_rows_take_long(monkeypatch, tmp_path, soon, sizes):
    assert opening._SOON == 10.0
    monkeypatch.setattr(opening, "_SOON", soon)
    table = as_table(pd.DataFrame({"text": TEXTS}))
    task = Task(embed=read_embed({"text": str(static_model(tmp_path / "model"))}))
    given = np.full(300, None, dtype=object)
    told = Told(np.full(300, -1), np.empty(0, np.intp), {})
    parts = list(opening.grown(table, task, given, lambda: told))
    assert [len(part.rows) for part in parts] == sizes
    for part in parts:
        texts = part.opened.table.frame["text"].tolist()
        assert texts == [TEXTS[row] for row in part.rows]


def test_rows_with_a_label_are_embedded_first_and_are_half_at_most():
    order = np.random.default_rng(0).permutation(1000)
    codes = np.full(1000, -1)
    codes[[7, 70, 700]] = 0
    few = opening._chosen(order, codes, 100)
    assert {7, 70, 700} <= set(few.tolist())
    assert set(few.tolist()) - {7, 70, 700} <= set(order[:100].tolist())
    codes[:400] = 0
    many = opening._chosen(order, codes, 100)
    assert (codes[many] >= 0).sum() == 50
    assert len(set(many.tolist())) == 100


def test_progress_is_shown_once_for_each_percent():
    said = []
    stages = Stages(lambda stage: said.append(stage))
    stages.stage("embeddings")
    for share in (0.001, 0.002, 0.5, 0.5, 1.0):
        stages.advance(share)
    assert said == [
        "embeddings",
        "embeddings, 0%",
        "embeddings, 50%",
        "embeddings, 100%",
    ]
