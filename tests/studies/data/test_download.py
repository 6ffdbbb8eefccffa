"""The way from a data set's home to the cache, with a server on the loopback."""

import dataclasses
import gzip
import io
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from data_folder import needs_data
from mercer_studies.data import load
from mercer_studies.data.arrays import Arrays, digest
from mercer_studies.data.registry import registry

DATA_FOLDER = os.environ.get("MERCER_DATA")
Home = Callable[..., Path]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Home]:
    """Serve files as the home of a data set; return the (empty) cache folder."""
    served: dict[str, bytes] = {}
    missing_bytes = 0

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = served.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"") + missing_bytes))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.delenv("MERCER_DATA", raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr("mercer_studies.data.loading.cache_folder", lambda: cache)

    def serve(
        name: str, *files: bytes, arrays: Arrays | None = None, cut_short: int = 0
    ) -> Path:
        nonlocal missing_bytes
        missing_bytes = cut_short
        address = f"http://127.0.0.1:{server.server_port}/{name}"
        changes: dict[str, object] = {
            "urls": [f"{address}{i}" for i in range(max(1, len(files)))]
        }
        if arrays is not None:
            changes["digest"] = digest(arrays)
        entry = dataclasses.replace(registry()[name], **changes)
        table = MappingProxyType({name: entry})
        monkeypatch.setattr("mercer_studies.data.loading.registry", lambda: table)
        served.clear()
        served.update({f"/{name}{i}": content for i, content in enumerate(files)})
        return cache

    yield serve
    server.shutdown()
    server.server_close()
    thread.join()


SONAR = b"0.1,0.2,R\n0.3,0.4,M\n"
SONAR_ARRAYS = {
    "X": np.array([[0.1, 0.2], [0.3, 0.4]]),
    "y": np.array([1, 0]),
    "classes": np.array(["M", "R"]),
}


def test_download_is_converted_verified_and_kept(home: Home) -> None:
    cache = home("sonar", SONAR, arrays=SONAR_ARRAYS)
    first = load("sonar")
    assert first.X.tolist() == [[0.1, 0.2], [0.3, 0.4]]
    assert first.classes[first.y].tolist() == ["R", "M"]
    assert [file.name for file in cache.iterdir()] == ["sonar.npz"]
    home("sonar", arrays=SONAR_ARRAYS)  # the server now has nothing
    assert np.array_equal(load("sonar").X, first.X)


def test_other_content_than_registered_is_refused(home: Home) -> None:
    cache = home("sonar", SONAR.replace(b"0.4", b"0.5"), arrays=SONAR_ARRAYS)
    with pytest.raises(ValueError, match="not the registered ones: digest"):
        load("sonar")
    assert not cache.exists()


def test_interrupted_download_leaves_nothing(home: Home) -> None:
    cache = home("sonar", SONAR, arrays=SONAR_ARRAYS, cut_short=10)
    with pytest.raises(ConnectionError, match="Could not download sonar"):
        load("sonar")
    assert not cache.exists()


def test_absent_file_at_home_is_reported_with_the_way_out(home: Home) -> None:
    home("sonar", arrays=SONAR_ARRAYS)
    with pytest.raises(ConnectionError, match=r"404.*set MERCER_DATA"):
        load("sonar")


@pytest.mark.parametrize("name", ["sonar", "a1a", "mnist", "usps", "covtype"])
def test_a_web_page_in_place_of_the_data_is_reported(home: Home, name: str) -> None:
    home(name, *[b"<html>\nmoved, see there\n</html>"] * len(registry()[name].urls))
    with pytest.raises(ValueError, match="not in the expected"):
        load(name)


def test_damaged_gzip_is_reported(home: Home) -> None:
    whole = gzip.compress(b"2596,51,5\n" * 50)
    damaged = whole[:12] + bytes([255 - whole[12]]) + whole[13:]
    for content in (damaged, whole[:-20]):
        home("covtype", content)
        with pytest.raises(ValueError, match="not in the expected"):
            load("covtype")


def _idx(values: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">i4").tobytes()
    return gzip.compress(header + values.astype(np.uint8).tobytes())


def test_idx_files_of_mnist(home: Home) -> None:
    images = np.arange(5 * 6).reshape(5, 2, 3)
    labels = np.array([3, 1, 2, 0, 3])
    arrays = {
        "X": images.reshape(5, 6),
        "y": labels,
        "classes": np.arange(4),
        "train_idx": np.arange(3),
        "test_idx": np.array([3, 4]),
    }
    parts = (images[:3], labels[:3], images[3:], labels[3:])
    home("mnist", *map(_idx, parts), arrays=arrays)
    data = load("mnist")
    assert np.array_equal(data.X, arrays["X"])
    assert data.test is not None
    assert data.test.tolist() == [3, 4]


def test_gzipped_table_of_covtype(home: Home) -> None:
    arrays = {
        "X": np.array([[2596, 51], [2785, 155]]),
        "y": np.array([1, 0]),
        "classes": np.array([2, 5]),
    }
    home("covtype", gzip.compress(b"2596,51,5\n2785,155,2\n"), arrays=arrays)
    assert load("covtype").X.tolist() == [[2596, 51], [2785, 155]]


def test_gzipped_tables_of_usps(home: Home) -> None:
    arrays = {
        "X": np.array([[-1, -0.631], [0.862, 1], [-0.167, 0]], dtype=np.float32),
        "y": np.array([1, 0, 2]),
        "classes": np.array([5, 6, 9]),
        "train_idx": np.array([0, 1]),
        "test_idx": np.array([2]),
    }
    train, test = b"6.0000 -1 -0.631 \n5.0000 0.862 1 \n", b"9 -0.167 0\n"
    home("usps", gzip.compress(train), gzip.compress(test), arrays=arrays)
    data = load("usps")
    assert data.classes[data.y].tolist() == [6, 5, 9]
    assert data.test is not None
    assert data.test.tolist() == [2]


def _text(X: np.ndarray, labels: np.ndarray, delimiter: str) -> bytes:
    rows = zip(X.tolist(), labels.tolist(), strict=True)
    return "\n".join(
        delimiter.join([*map(repr, row), str(label)]) for row, label in rows
    ).encode()


@needs_data
@pytest.mark.parametrize(
    "name", ["heart", "ionosphere", "sonar", "glass", "soybean_small", "a1a"]
)
def test_recipes_give_the_registered_arrays(home: Home, name: str) -> None:
    """Written in the format of its home, a set comes back with its digest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MERCER_DATA", str(DATA_FOLDER))
        data = load(name)
    labels = data.classes[data.y]
    if name == "a1a":
        stream = io.BytesIO()
        dump_svmlight_file(data.X, labels, stream, zero_based=False)
        files = [stream.getvalue()]
    elif name == "glass":
        numbered = np.column_stack([np.arange(1, len(labels) + 1), data.X])
        files = [_text(numbered, labels, ",")]
    elif name == "ionosphere":
        files = [_text(data.X, np.char.array(labels).astype("U1"), ",")]
    else:
        files = [_text(data.X, labels, " " if name == "heart" else ",")]
    home(name, *files)
    assert np.array_equal(load(name).y, data.y)
