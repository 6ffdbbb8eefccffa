"""The studio asks while texts and images are embedded, and learns from them then."""

import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest

from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.table import as_table
from mercer.app.tables.task import Task

pytest.importorskip("sqlalchemy")
from mercer.app.studio.engine import Stages, Told, wait_until
from mercer.app.studio.model_engine import ModelEngine
from mercer.app.studio.opening import openers

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
    opened, better = openers(table, task, NONE)
    nothing = np.empty(0, dtype=np.intp)
    return ModelEngine(opened, lambda: Told(codes.copy(), nothing, {}), better=better)


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
    ("columns", "aside"),
    [({"n": range(N)}, True), ({}, False)],
)
def test_paths_alone_wait_for_their_images(columns, aside):
    """Names of files say nothing about what the files show."""
    names = [f"{k}.png" for k in range(N)]
    table = as_table(pd.DataFrame({"photo": names, **columns}))
    _, better = openers(table, Task(embed=read_embed("photo")), NONE)
    assert (better is not None) == aside


def test_without_embeddings_there_is_one_way_to_open():
    opened, better = openers(table_of(), Task(), NONE)
    assert better is None
    assert isinstance(opened, partial)


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
