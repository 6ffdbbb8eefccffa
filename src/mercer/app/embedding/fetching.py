"""Download a model, when a person asks for it: the one place that uses a network."""

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from mercer._base.extras import require
from mercer._base.words import reason
from mercer.app.embedding.models import split_name
from mercer.app.tables.table import TableError

# Weights that run no code, settings and vocabulary.
_WANTED = ["*.json", "*.safetensors", "*.txt", "*.model"]
_NOT_WANTED = ["onnx/*", "openvino/*", "*/onnx/*", "*/openvino/*"]


class Offer(NamedTuple):
    """What would be downloaded."""

    name: str  # as it was asked for
    commit: str  # the same files for everybody, always
    n_bytes: int
    host: str


def offer_of(name: str) -> Offer:
    """Ask the hub what a model holds; nothing is downloaded yet.

    Names are such as ``"org/model"`` or ``"org/model@revision"``.
    """
    hub = _hub()
    repo, revision = split_name(name)
    with _explained(name):
        info = hub.HfApi().model_info(repo, revision=revision, files_metadata=True)
    files = [
        file
        for file in info.siblings or []
        if any(fnmatch(file.rfilename, form) for form in _WANTED)
        and not any(fnmatch(file.rfilename, form) for form in _NOT_WANTED)
    ]
    if not any(file.rfilename.endswith(".safetensors") for file in files):
        msg = f"{repo} has no weights in the format safetensors; choose another model."
        raise TableError(msg)
    size = sum(file.size or 0 for file in files)
    return Offer(name, str(info.sha), size, str(hub.constants.ENDPOINT))


def fetch(offer: Offer) -> Path:
    """Download a model into the cache of the hub, and return its folder."""
    repo, revision = split_name(offer.name)
    with _explained(offer.name):
        return Path(
            _hub().snapshot_download(
                repo,
                # By name, so that the name is found again without a network.
                revision=revision,
                allow_patterns=_WANTED,
                ignore_patterns=_NOT_WANTED,
            )
        )


def _hub() -> Any:
    return require("huggingface_hub", extra="embed", purpose="Downloading a model")


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Say in one line what went wrong on the way to the hub."""
    try:
        yield
    except Exception as error:  # the hub has some thirty classes for what goes wrong
        msg = (
            f"{name} cannot be fetched: {reason(error)[:200]}. Copy the folder of the "
            "model to this machine and give the folder in place of the name."
        )
        raise TableError(msg) from error
