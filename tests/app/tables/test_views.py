"""Embeddings, words and other columns of a table are compared on their own."""

import numpy as np
import pytest

from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.encoding import TableEncoder
from mercer.app.tables.learning import learn
from mercer.app.tables.model import TableModel
from mercer.app.tables.session import Session
from mercer.app.tables.story import story_of
from mercer.app.tables.table import as_table
from mercer.app.tables.views import views_of

pd = pytest.importorskip("pandas")
pytest.importorskip("skrub")

NAMES = ["text", "text (embedded)", "other columns", "columns for trees"]
TOPICS = {"sport": "ball goal team match", "food": "soup bread salt oven"}


def about(texts) -> np.ndarray:
    """Stand for an embedding: how often the words of each topic occur, and noise."""
    words = [topic.split() for topic in TOPICS.values()]
    counts = [[sum(text.count(w) for w in ws) for ws in words] for text in texts]
    lengths = [[len(text) % 7, len(text) % 5] for text in texts]
    return np.hstack([counts, 0.1 * np.array(lengths)]) + 0.01


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    topics = rng.choice(list(TOPICS), 120)
    filler = ["the", "of", "and", "a", "to", "in", "it", "was", "for", "on"]
    texts = [
        " ".join([*rng.choice(TOPICS[t].split(), 2), *rng.choice(filler, 6)])
        for t in topics
    ]
    known = np.where(np.arange(120) < 12, topics, None)
    return pd.DataFrame(
        {
            "text": texts,
            "size": rng.normal(size=120),
            "colour": rng.choice(["red", "blue"], 120),
            "label": known,
        }
    ), topics


def views(session) -> dict:
    return {view.name: view for view in session.model.views or ()}


def test_embeddings_words_and_other_columns_are_views(table) -> None:
    frame, topics = table
    session = Session.open(frame, embed={"text": about}).fit()
    found = views(session)
    assert list(found) == NAMES
    by_kernels = [v for v in found.values() if v.kernels]
    assert [v.metric for v in by_kernels] == ["cosine", "cosine", "euclidean"]
    assert not any(v.trees for v in by_kernels)
    assert [v.prior for v in by_kernels] == [1.0, 4.0, 1.0]
    # Together they hold every column of the points once.
    d = session.rows.points.shape[1]
    held = np.concatenate([v.positions(d) for v in found.values()])
    assert sorted(held.tolist()) == list(range(d))
    assert np.mean(session.predictions == topics) > 0.9


def test_new_rows_and_later_labels_have_the_same_views(table) -> None:
    frame, topics = table
    session = Session.open(frame, embed={"text": about}).fit()
    session.tell([50, 51], topics[50:52].tolist())
    assert list(views(session)) == NAMES
    model = session.to_model()
    assert isinstance(model, TableModel)
    agreed = model.predict(frame.drop(columns="label")) == session.predictions
    assert np.mean(agreed) > 0.95


def test_an_embedding_alone_is_compared_by_angle(table) -> None:
    frame, _ = table
    frame = pd.DataFrame({"photo": frame["text"], "label": frame["label"]})
    wanted = read_embed({"photo": about})
    encoder = TableEncoder()
    encoder.fit_transform(as_table(frame[["photo"]]), wanted)
    both = views_of(encoder)
    assert [view.name for view in both] == ["photo", "photo (embedded)"]
    encoder.kind_, encoder.used_ = "vectors", ["photo (embedded)"]  # as of images
    (only,) = views_of(encoder)
    assert (only.name, only.metric, only.trees) == ("photo (embedded)", "cosine", False)
    vectors = {"v": about(frame["photo"]), "label": frame["label"].to_numpy()}
    assert not views(Session.open(vectors).fit())  # given, and used as they are


def test_a_table_without_embeddings_is_one_view(table) -> None:
    frame, _ = table
    session = Session.open(frame).fit()
    assert [v.name for v in views(session).values() if v.kernels] == ["other columns"]
    # A single one is named in no kernel.
    assert session.model.learner_.basis_.blocks_[0].name == "graph 3"
    numbers = frame.assign(text=np.arange(120) % 7, colour=np.arange(120) % 5)
    assert not views(Session.open(numbers).fit())


def test_the_report_knows_the_shares_of_the_views(table) -> None:
    frame, _ = table
    result = learn(frame, embed={"text": about})
    told = story_of(result, rng=np.random.default_rng(0)).views
    assert {v.kind for v in told} == {"text", "text (embedded)", "other columns"}
    assert sum(v.share for v in told) == pytest.approx(1)
    # Graph of 10 neighbours, two kernels and the density each; 4 times of embeddings.
    usual = {v.kind: v.usual for v in told}
    assert usual["text (embedded)"] == pytest.approx(4 / 6)
    assert usual["text"] == pytest.approx(1 / 6)
