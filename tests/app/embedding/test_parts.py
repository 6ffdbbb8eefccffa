"""Tables in many Parquet files, with columns that are embedded."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from embedding_models import static_model
from mercer.app.embedding.cache import Cache
from mercer.app.embedding.wanted import read_embed
from mercer.app.tables.parquet_parts import learn_parts, write_predictions
from mercer.app.tables.task import Task
from mercer.fewlabels.pools import dask as dask_

pytest.importorskip("dask.array", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore")

KINDS = np.array(["animal", "stone"])[np.arange(60) % 2]


def write_parts(folder, frame):
    frame["label"] = [kind if k < 8 else None for k, kind in enumerate(KINDS)]
    for k in range(3):
        some = frame[20 * k : 20 * (k + 1)]
        some.to_parquet(folder / f"part-{k}.parquet", row_group_size=10, index=False)
    return str(folder / "part-*.parquet")


def predicted(pattern, embed, folder):
    result, parts = learn_parts(pattern, Task(embed=read_embed(embed)))
    write_predictions(result, parts, folder)
    files = sorted(folder.glob("predictions-*.parquet"))
    found = pd.concat(map(pd.read_parquet, files), ignore_index=True)
    return np.mean(found["prediction"] == KINDS), result


def texts():
    rng = np.random.default_rng(0)
    words = ("cat", "dog", "horse"), ("stone", "iron", "gold")
    chosen = [words[k % 2][rng.integers(3)] for k in range(60)]
    return [f"{word} the a {k % 7}" for k, word in enumerate(chosen)]


def test_texts_in_many_files_are_embedded(tmp_path):
    model = str(static_model(tmp_path / "model"))
    pattern = write_parts(tmp_path, pd.DataFrame({"text": texts()}))
    right, _ = predicted(pattern, {"text": model}, tmp_path)
    assert right > 0.9
    with Cache() as cache:
        (kept,) = cache.contents()
    assert kept.n_items == len(set(texts()))


def test_embeddings_of_all_rows_are_computed_ahead_of_the_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_, "LOCAL_ROWS", 5)
    model = str(static_model(tmp_path / "model"))
    cells = [f"{text} {k}" for k, text in enumerate(texts())]
    pattern = write_parts(tmp_path, pd.DataFrame({"text": cells, "n": range(60)}))
    kept = {}

    class Watcher:
        def stage(self, name):
            with Cache() as cache:
                kept[name] = sum(one.n_items for one in cache.contents())

        def advance(self, share):
            assert 0 <= share <= 1

        def note(self, message):
            pass

    task = Task(embed=read_embed({"text": model}))
    learn_parts(pattern, task, progress=Watcher())
    assert kept["embeddings"] < 20  # those of the labelled rows and of five others
    assert kept["neighbours and directions"] == 60


def mean_colour(images):
    return np.array([np.asarray(image).mean(axis=(0, 1)) + 1 for image in images])


@pytest.mark.parametrize("form", ["paths", "bytes"])
def test_images_in_many_files_are_embedded(tmp_path, form):
    """Paths are relative to the files of Parquet."""
    names = []
    for k in range(60):
        names.append(f"{k}.png")
        colour = ((200, k, 9), (9, k, 200))[k % 2]
        Image.new("RGB", (9, 9), colour).save(tmp_path / names[-1])
    cells = names
    if form == "bytes":
        cells = [(tmp_path / name).read_bytes() for name in names]
    frame = pd.DataFrame({"photo": cells, "n": np.arange(60.0) % 5})
    right, result = predicted(
        write_parts(tmp_path, frame), {"photo": mean_colour}, tmp_path
    )
    assert right == 1
    assert not [w for w in result.warnings if "left out (" in w]
