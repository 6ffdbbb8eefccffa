"""Fetch originals from their homes and turn them into arrays."""

import tempfile
import zlib
from pathlib import Path

from mercer_studies.data.arrays import Arrays
from mercer_studies.data.originals import RECIPES
from mercer_studies.data.registry import Entry


def convert_original(name: str, entry: Entry) -> Arrays:
    """Return the arrays of a data set made from its original files.

    Downloads go to a temporary folder, so an interrupted one leaves nothing behind.
    """
    if entry.recipe is None:
        msg = (
            f"{name} is neither in the folder named by MERCER_DATA nor in the cache, "
            f"and its original ({entry.page}) cannot be converted with certainty to "
            f"the arrays the results rest on. Put {name}.npz into a folder and set "
            "MERCER_DATA to it."
        )
        raise FileNotFoundError(msg)
    with tempfile.TemporaryDirectory() as folder:
        files = [_fetch(url, Path(folder), name) for url in entry.urls]
        try:
            return RECIPES[entry.recipe](files)
        except (ValueError, IndexError, EOFError, OSError, zlib.error) as error:
            urls = " and ".join(entry.urls)
            msg = (
                f"Could not read {name}: {urls} is not in the expected format "
                f"({error}). Try later, or set MERCER_DATA to a folder that "
                f"holds {name}.npz."
            )
            raise ValueError(msg) from error


def _fetch(url: str, folder: Path, name: str) -> Path:
    import pooch

    file = folder / url.rsplit("/", 1)[-1]
    try:
        # Not `pooch.retrieve`: it wants a checksum of the file, and what is verified
        # are the arrays made from it.
        pooch.HTTPDownloader(timeout=60)(url, str(file), None)
    except OSError as error:
        msg = (
            f"Could not download {name} from {url} ({error}). Try later, or set "
            f"MERCER_DATA to a folder that holds {name}.npz."
        )
        raise ConnectionError(msg) from error
    return file
