"""Find a model on this machine: by a name that was fetched before, or in a folder."""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mercer._base.words import reason
from mercer.app.embedding.embedder import Embedder, Kind
from mercer.app.tables.table import TableError

# Carried by a package of this name; needs neither a network nor PyTorch.
LIGHT = "wordllama"
# What is meant by `--embed photo`, and suggested for texts.
USUAL = {
    "text": "sentence-transformers/all-MiniLM-L6-v2",
    "image": "facebook/dinov2-small",
    "sound": "MIT/ast-finetuned-audioset-10-10-0.4593",
}
_WHAT = {
    "static": "texts",
    "sentences": "texts",
    "pictures": "images",
    "sounds": "sound",
}
_MOST_WORDS = 200  # characters of what a library says, which may list all its models
EXTRAS = {"text": "texts", "image": "images", "sound": "sound"}
# What decides the vectors, and is hashed: weights, vocabulary and settings.
_SETTINGS = {
    "config.json",
    "modules.json",
    "preprocessor_config.json",
    "processor_config.json",
    "sentence_bert_config.json",
    "tokenizer.json",
    "vocab.txt",
}
# Weights of these formats are pickles, which can run code when they are read.
_PICKLED = {".bin", ".pt", ".pth", ".ckpt", ".pkl"}


@dataclass(frozen=True)
class Model:
    """A model on this machine."""

    name: str  # as it was asked for: a name on the hub, or a folder
    folder: Path  # where its files are
    engine: str  # "static", "sentences", "pictures", "sounds": what reads it
    # hash of weights, vocabulary and settings: the same model has the same, wherever it
    # lies
    revision: str


def find_model(name: str, kind: Kind) -> Model:
    """Return a model that is on this machine; nothing is downloaded.

    The name is a folder, a name on the hub such as ``"org/model"`` or
    ``"org/model@revision"`` that was fetched before, or "" for the usual one.
    """
    if kind == "text" and name in {"", LIGHT}:
        folder = _light_folder()
        return Model(LIGHT, folder, "static", _revision(str(folder)))
    name = name or USUAL[kind]
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = fetched_folder(name, kind)
    return Model(name, folder, _engine(folder, kind), _revision(str(folder)))


@lru_cache(maxsize=2)
def load(model: Model) -> Embedder:
    """Read the weights of a model, or say that they cannot be read."""
    try:
        return _engine_of(model)
    except (TableError, ImportError, MemoryError):
        raise
    except Exception as error:  # each library has classes of its own, or none
        what, why = _WHAT[model.engine], reason(error)[:_MOST_WORDS]
        msg = f"{model.folder} cannot be read as a model of {what}: {why}."
        raise TableError(msg) from error


def _engine_of(model: Model) -> Embedder:
    # By name: the engines need packages that not everybody has.
    if model.engine == "static":
        from mercer.app.embedding.static import StaticWords

        return StaticWords(model.folder)
    if model.engine == "sentences":
        from mercer.app.embedding.sentences import Sentences

        return Sentences(model.folder)
    if model.engine == "sounds":
        from mercer.app.embedding.sounds import Sounds

        return Sounds(model.folder)
    from mercer.app.embedding.pictures import Pictures

    return Pictures(model.folder)


def split_name(name: str) -> tuple[str, str | None]:
    """Return the name on the hub and the revision, if one was given.

    Examples
    --------
    >>> split_name("org/model@0a1b"), split_name("org/model")
    (('org/model', '0a1b'), ('org/model', None))
    """
    repo, at, revision = name.partition("@")
    return repo, revision if at else None


def fetched_folder(name: str, kind: Kind) -> Path:
    """Return where a model that was fetched lies, or raise and say how to get it."""
    repo, revision = split_name(name)
    if find_spec("huggingface_hub") is not None and 1 <= repo.count("/") + 1 <= 2:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

        try:
            return Path(
                snapshot_download(repo, revision=revision, local_files_only=True)
            )
        except (LocalEntryNotFoundError, HFValidationError):
            pass
    light = f", or use {LIGHT!r}, which is installed with it" * (kind == "text")
    msg = (
        f"the model {name!r} is not on this machine, and nothing is downloaded unless "
        f"you ask. `mercer fetch {name}` downloads it from huggingface.co (it says how "
        f'large it is first; needs pip install "mercer[{EXTRAS[kind]}]"). Without a '
        "network, copy its folder here and give the folder in place of the "
        f"name{light}."
    )
    raise TableError(msg)


def _light_folder() -> Path:
    found = find_spec(LIGHT)
    if found is None or found.origin is None:
        msg = (
            f'Embedding texts needs {LIGHT}: pip install "mercer[embed]". It carries a '
            "small model (16 MB), so nothing is downloaded later."
        )
        raise ImportError(msg)
    return Path(found.origin).parent


def _engine(folder: Path, kind: Kind) -> str:
    """Return what reads the files in a folder, or raise."""
    weights = _weights(folder)
    if not weights:
        pickled = [f.name for f in folder.rglob("*") if f.suffix in _PICKLED]
        msg = f"{folder} holds no weights in the format safetensors."
        if pickled:
            msg += (
                f" {sorted(pickled)[0]} is in a format that can run code when it is "
                "read, and is not read."
            )
        raise TableError(msg)
    settings = _read_json(folder / "config.json")
    if "auto_map" in settings:
        msg = (
            f"{folder} wants to run Python code of its own (auto_map in config.json); "
            "Mercer never does that. Choose another model."
        )
        raise TableError(msg)
    if kind != "text":
        names = ("preprocessor_config.json", "processor_config.json")
        if not any((folder / name).exists() for name in names):
            msg = f"{folder} holds no model of {kind}s: it has no {names[0]}."
            raise TableError(msg)
        return "pictures" if kind == "image" else "sounds"
    modules = _read_json(folder / "modules.json") or []
    kinds = [str(module.get("type", "")) for module in modules]
    strange = [k for k in kinds if not k.startswith("sentence_transformers.")]
    if strange:
        msg = (
            f"{folder} wants to run {strange[0]} (in modules.json), which is not part "
            "of sentence-transformers; Mercer never does that. Choose another model."
        )
        raise TableError(msg)
    is_static = settings.get("model_type") == "model2vec" or any(
        k.endswith("StaticEmbedding") for k in kinds
    )
    return "static" if is_static else "sentences"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        msg = f"{path} is damaged: {error}."
        raise TableError(msg) from error


def _weights(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.safetensors"), *folder.glob("*/*.safetensors")])


@lru_cache
def _revision(folder: str) -> str:
    root = Path(folder)
    settings = [f for f in (*root.glob("*"), *root.glob("*/*")) if f.name in _SETTINGS]
    whole = hashlib.sha256()
    for file in sorted([*settings, *_weights(root)]):
        whole.update(f"\0{file.relative_to(root).as_posix()}\0".encode())
        with file.open("rb") as stream:
            whole.update(hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()[:16]
