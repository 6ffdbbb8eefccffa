"""Models are read from a folder or from a package, and never run code or fetch."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from embedding_models import image_model, static_model
from mercer.app.embedding.embedder import averaged
from mercer.app.embedding.models import LIGHT, find_model, load
from mercer.app.tables.table import TableError

pytest.importorskip("tokenizers")


def test_a_static_text_is_the_mean_of_its_words(tmp_path):
    model = find_model(str(static_model(tmp_path / "m")), "text")
    one, two, both, none = load(model).embed(["cat", "stone", "cat stone", "xyz"]).array
    assert np.linalg.norm(one) == pytest.approx(1.0, abs=1e-6)
    from safetensors.numpy import load_file

    table = load_file(tmp_path / "m" / "model.safetensors")["embeddings"]
    mean = (table[5] + table[8]) / 2
    np.testing.assert_allclose(both, mean / np.linalg.norm(mean), atol=1e-6)
    assert one @ two < 0.9
    assert not none.any()  # no word that it has a vector of


def test_static_models_give_what_model2vec_gives(tmp_path):
    theirs = pytest.importorskip("model2vec").StaticModel
    folder = static_model(tmp_path / "m")
    texts = ["the cat runs", "gold shines", "a dog xyz"]
    ours = load(find_model(str(folder), "text")).embed(texts).array
    their = theirs.from_pretrained(folder).encode(texts)
    their /= np.linalg.norm(their, axis=1, keepdims=True)
    np.testing.assert_allclose(ours, their, atol=1e-5)


def test_the_light_model_needs_no_network_and_understands():
    pytest.importorskip(LIGHT)
    model = find_model("", "text")
    assert (model.name, model.engine) == (LIGHT, "static")
    texts = ["The king rules his country", "A monarch reigns", "The pump leaks oil"]
    a, b, c = load(model).embed(texts).array
    assert a @ b > a @ c + 0.1


def test_the_light_model_loads_without_pytorch():
    pytest.importorskip(LIGHT)
    code = (
        "import sys; from mercer.app.embedding.models import find_model, load\n"
        "load(find_model('', 'text')).embed(['a'])\n"
        "print({'torch', 'transformers'} & set(sys.modules))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "set()"


def test_a_revision_is_of_the_content(tmp_path):
    first = find_model(str(static_model(tmp_path / "a")), "text")
    same = find_model(str(static_model(tmp_path / "b")), "text")
    other = find_model(str(static_model(tmp_path / "c", seed=1)), "text")
    assert first.revision == same.revision != other.revision


def test_a_model_that_is_not_here_says_how_to_get_it():
    with pytest.raises(TableError, match=r"`mercer fetch org/model` .* copy its"):
        find_model("org/model", "text")


@pytest.mark.parametrize("name", ["a/b/c", "no such folder!", "../up"])
def test_a_name_that_cannot_be_on_the_hub_is_refused_alike(name):
    with pytest.raises(TableError, match="is not on this machine"):
        find_model(name, "text")


def test_pickled_weights_are_refused(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(TableError, match=r"pytorch_model.bin .* can run code"):
        find_model(str(tmp_path), "text")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", {"auto_map": {"AutoModel": "evil.Model"}}),
        ("modules.json", [{"idx": 0, "path": "", "type": "evil.Module"}]),
    ],
)
def test_code_of_a_model_is_never_run(tmp_path, file, content):
    folder = static_model(tmp_path / "m")
    (folder / file).write_text(json.dumps(content))
    (folder / "evil.py").write_text("raise SystemExit('run')")
    with pytest.raises(TableError, match="Mercer never does that"):
        find_model(str(folder), "text")


def test_a_folder_of_texts_is_no_model_of_images(tmp_path):
    with pytest.raises(TableError, match="no model of images"):
        find_model(str(static_model(tmp_path / "m")), "image")


def test_a_damaged_file_is_named(tmp_path):
    folder = static_model(tmp_path / "m")
    (folder / "config.json").write_text("{")
    with pytest.raises(TableError, match=r"config.json is damaged"):
        find_model(str(folder), "text")


def test_pieces_are_averaged_per_text():
    parts = np.array([[2.0, 0.0], [0.0, 3.0], [5.0, 0.0]])
    found = averaged(parts, np.array([2, 1]))
    np.testing.assert_allclose(found, [[0.5**0.5, 0.5**0.5], [1.0, 0.0]], atol=1e-6)


def test_only_one_module_may_download():
    folder = Path(sys.modules["mercer.app.embedding"].__file__).parent
    fetching = {
        file.name
        for file in folder.rglob("*.py")
        if "snapshot_download" in (text := file.read_text())
        and "local_files_only=True" not in text
    }
    assert fetching == {"fetching.py"}


@pytest.mark.parametrize("kind", ["static", "pictures"])
def test_a_model_that_is_broken_is_said_in_one_line(tmp_path, kind):
    """The libraries raise what they like, and a person saw a traceback."""
    if kind == "static":
        folder = static_model(tmp_path / "model")
        (folder / "tokenizer.json").write_text("{}")
    else:
        pytest.importorskip("transformers")
        folder = image_model(tmp_path / "model")
        (folder / "model.safetensors").write_bytes(b"no weights" * 9)
    model = find_model(str(folder), "text" if kind == "static" else "image")
    assert model.engine == kind
    what = "texts" if kind == "static" else "images"
    with pytest.raises(TableError, match=rf"cannot be read as a model of {what}: \w"):
        load(model)
