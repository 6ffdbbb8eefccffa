"""One word: learn, predict and label with texts compared by meaning."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import mercer
from embedding_models import static_model
from mercer.app.cli.main import main
from mercer.app.embedding.cache import Cache
from mercer.app.tables.session import Session

ANIMALS, STONES = ("cat", "dog", "horse"), ("stone", "iron", "gold")


def things(n=60, seed=0):
    """Texts with a word of their class: labelled rows have two of the six words."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        kind = k % 2
        known = k < 8
        word = (ANIMALS, STONES)[kind][0 if known else int(rng.integers(3))]
        filler = " ".join(rng.choice(["the", "a", "runs", "shines"], 3))
        rows.append(
            (f"{word} {filler} {k}", ("animal", "stone")[kind] if known else None)
        )
    return pd.DataFrame(rows, columns=["text", "kind"])


TRUTH = np.array(["animal", "stone"])[np.arange(60) % 2]


@pytest.fixture
def model(tmp_path):
    return str(static_model(tmp_path / "model"))


def run(*arguments):
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    return found


def test_meaning_finds_what_words_cannot(model):
    right, by_words = [], []
    for seed in range(12):
        table = things(seed=seed)
        meant = Session.open(table, "kind", embed={"text": model}).fit()
        right.append(np.mean(meant.predictions == TRUTH))
        by_words.append(np.mean(Session.open(table, "kind").fit().predictions == TRUTH))
    assert np.mean(right) > np.mean(by_words) + 0.05
    assert np.mean(right) > 0.75


def test_the_report_names_model_and_column(model, tmp_path):
    result = mercer.learn(things(), "kind", embed={"text": model})
    result.save(tmp_path / "out")
    said = (tmp_path / "out" / "report.html").read_text()
    assert "8 numbers by model, compared by angle" in said


def test_learn_and_predict_on_the_command_line(model, tmp_path):
    things().to_csv(tmp_path / "t.csv", index=False)
    things().drop(columns="kind").to_csv(tmp_path / "new.csv", index=False)
    out, new = str(tmp_path / "out"), str(tmp_path / "new.csv")
    words = "--target", "kind", "--embed", f"text={model}", "--out", out, "-q"
    run("learn", str(tmp_path / "t.csv"), *words)
    run("predict", f"{out}/model.skops", new, "--out", str(tmp_path / "p.csv"))
    old = pd.read_csv(f"{out}/predictions.csv")["prediction"]
    assert (pd.read_csv(tmp_path / "p.csv")["prediction"] == old).mean() > 0.95


def test_predictions_say_how_far_embeddings_are(model, tmp_path):
    mercer.learn(things(), "kind", embed=f"text={model}").save(tmp_path / "out")
    things(seed=1).to_csv(tmp_path / "t.csv", index=False)
    words = str(tmp_path / "out/model.skops"), str(tmp_path / "t.csv")
    found = run("predict", *words, "--out", str(tmp_path / "p.csv"))
    at = [found.output.index(f"  {name}") for name in ("embeddings", "predictions")]
    assert at == sorted(at)


def test_a_model_that_was_moved_is_named_for_predictions(model, tmp_path):
    result = mercer.learn(things(), "kind", embed=f"text={model}")
    result.save(tmp_path / "out")
    (tmp_path / "model").rename(tmp_path / "moved")
    things().to_csv(tmp_path / "t.csv", index=False)
    words = ("predict", str(tmp_path / "out/model.skops"), str(tmp_path / "t.csv"))
    to = "--out", str(tmp_path / "p.csv")
    refused = CliRunner().invoke(main, [*words, *to])
    assert refused.exit_code == 2
    assert "is not on this machine" in refused.output
    run(*words, *to, "--embed", f"text={tmp_path / 'moved'}")
    wrong = CliRunner().invoke(main, [*words, *to, "--embed", "size=x"])
    assert "does not embed this column" in wrong.output


def test_runs_share_what_was_computed(model):
    mercer.learn(things(), "kind", embed={"text": model})
    with Cache() as cache:
        (kept,) = cache.contents()
    assert (kept.name, kept.n_items) == (model, 60)
    session = mercer.Session.open(things(), "kind", embed={"text": model})
    with Cache() as cache:
        assert cache.contents() == [kept]
    assert session.rows.points.shape[0] == 60


def test_a_column_that_names_the_rows_is_kept_if_it_is_embedded(model):
    table = things().assign(text=[f"cat {k}" for k in range(60)], n=np.arange(60) % 7)
    result = mercer.learn(table, "kind", embed={"text": model})
    assert "text" in [note.column for note in result.session.rows.notes]


@pytest.mark.parametrize("column", ["kind", "nothing"])
def test_a_column_that_cannot_be_embedded_is_refused(column, tmp_path):
    things().to_csv(tmp_path / "t.csv", index=False)
    words = "--target", "kind", "--embed", column, "--json"
    found = CliRunner().invoke(main, ["learn", str(tmp_path / "t.csv"), *words])
    assert found.exit_code == 2
    assert f"'{column}'" in json.loads(found.output.splitlines()[0])["error"]


def test_the_studio_embeds(model, tmp_path):
    pytest.importorskip("starlette")
    from mercer.app.embedding.wanted import read_embed
    from mercer.app.studio.from_file import open_studio
    from mercer.app.tables.rows import Rows
    from mercer.app.tables.task import Task

    things().to_csv(tmp_path / "t.csv", index=False)
    task = Task("kind", embed=read_embed({"text": model}))
    items = open_studio(tmp_path / "t.csv", task).items
    rows = Rows.read(items.table, items.task)
    assert [e.column for e in rows.encoder.embeddings_] == ["text"]


def test_a_function_embeds_in_python():
    def kind_of(texts):
        return np.array([[any(w in t for w in ANIMALS), 1.0] for t in texts])

    result = mercer.learn(things(), "kind", embed={"text": kind_of})
    assert np.mean(result.predictions["prediction"] == TRUTH) > 0.95
