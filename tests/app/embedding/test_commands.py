"""`mercer cache` and `mercer fetch`."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from mercer.app.cli.main import main
from mercer.app.embedding import fetching
from mercer.app.embedding.cache import Cache, cache_file
from mercer.app.embedding.embedder import Vectors


def run(*arguments, **settings):
    return CliRunner().invoke(main, arguments, **settings)


def test_the_cache_is_shown_and_cleared():
    with Cache() as cache:
        vectors = Vectors(np.ones((2, 3)), np.ones(2, dtype=int))
        cache.keep("0a1b", [b"x", b"y"], vectors)
        cache.keep("2c3d", [b"x"], Vectors(vectors.array[:1], vectors.pieces[:1]))
        cache.call("2c3d", "org/old")
        cache.call("2c3d", "org/model")
    shown = run("cache")
    assert "3 embeddings (18 bytes)" in shown.output
    assert "  model (0a1b): 2 embeddings" in shown.output
    assert "  org/model (2c3d): 1 embedding" in shown.output
    said = json.loads(run("cache", "--clear", "--json").output)
    assert (said["cleared"], said["models"][0]["n_items"]) == (True, 2)
    assert "0 embeddings" in run("cache").output


def test_a_cache_that_cannot_be_opened_is_an_error():
    cache_file().mkdir(parents=True)
    found = run("cache")
    assert found.exit_code == 2
    assert "cannot be used" in found.output


@pytest.fixture
def fetched(monkeypatch):
    names = []
    offer = fetching.Offer("org/model", "0a1b2c3d4e5f6789", 90_000_000, "https://hub")
    monkeypatch.setattr(fetching, "offer_of", lambda name: offer)
    monkeypatch.setattr(fetching, "fetch", lambda o: names.append(o.name) or "/models")
    return names


@pytest.mark.parametrize(("answer", "names"), [("y\n", ["org/model"]), ("n\n", [])])
def test_a_download_is_announced_and_asked_about(fetched, answer, names):
    found = run("fetch", "org/model", input=answer)
    assert "commit 0a1b2c3d4e5f: 85.8 MiB from https://hub" in found.output
    assert found.exit_code == 0
    assert fetched == names


def test_scripts_need_not_answer(fetched):
    found = run("fetch", "org/model", "--yes")
    assert fetched == ["org/model"]
    assert "--embed COLUMN=org/model" in found.output
