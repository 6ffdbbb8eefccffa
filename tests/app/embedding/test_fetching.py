"""`fetch` says what it would download before it does."""

from types import SimpleNamespace

import pytest

from mercer.app.embedding.fetching import fetch, offer_of
from mercer.app.tables.table import TableError

hub = pytest.importorskip("huggingface_hub")


def _info(*files):
    return SimpleNamespace(
        sha="0a1b2c",
        siblings=[SimpleNamespace(rfilename=name, size=n) for name, n in files],
    )


@pytest.fixture
def asked(monkeypatch):
    """A hub with one model, which keeps what it was asked."""
    calls = []
    files = [
        ("model.safetensors", 1000),
        ("onnx/model.safetensors", 5000),
        ("pytorch_model.bin", 9000),
        ("config.json", 10),
        ("evil.py", 3),
    ]

    def model_info(self, repo, **settings):
        calls.append(("info", repo, settings["revision"]))
        return _info(*files)

    def snapshot_download(repo, **settings):
        calls.append(("download", repo, settings))
        return "/somewhere"

    monkeypatch.setattr(hub.HfApi, "model_info", model_info)
    monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
    return calls


def test_an_offer_counts_what_would_be_downloaded(asked):
    offer = offer_of("org/model@v2")
    assert (offer.n_bytes, offer.commit) == (1010, "0a1b2c")
    assert asked == [("info", "org/model", "v2")]  # and nothing was downloaded


def test_neither_code_nor_pickles_are_downloaded(asked):
    fetch(offer_of("org/model"))
    kind, repo, settings = asked[-1]
    assert (kind, repo, settings["revision"]) == ("download", "org/model", None)
    from fnmatch import fnmatch

    wanted = settings["allow_patterns"]
    assert not any(fnmatch(f, form) for f in ("evil.py", "a.bin") for form in wanted)


def test_weights_of_other_formats_are_refused(monkeypatch):
    info = _info(("pytorch_model.bin", 10))
    monkeypatch.setattr(hub.HfApi, "model_info", lambda *_, **__: info)
    with pytest.raises(TableError, match="safetensors"):
        offer_of("org/model")


def test_no_network_is_said_in_words(monkeypatch):
    def model_info(*_, **__):
        raise ConnectionError("no route")

    monkeypatch.setattr(hub.HfApi, "model_info", model_info)
    with pytest.raises(TableError, match=r"no route. Copy the folder"):
        offer_of("org/model")
