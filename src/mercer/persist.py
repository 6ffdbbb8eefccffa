"""Save and load fitted objects without pickle.

Files are those of `skops`: a zip of arrays and a description of types. Loading one
imports no code but that of the types it names, so what may be named decides how far a
stranger's file can be trusted. See `load`.
"""

import json
import os
import struct
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import numpy as np
import skops.io
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.base import BaseEstimator
from skops.io.exceptions import UntrustedTypesFoundException

import mercer
from mercer._base.memory import available_memory
from mercer._base.words import in_bytes

_SCHEMA = "schema.json"  # describes the types in a file
_LEVEL = 1  # of compression; higher ones take long and save little
# What reading a damaged or a made-up file may raise.
_DAMAGED = (
    ArithmeticError,
    AttributeError,
    BadZipFile,
    EOFError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
_ARRAY_TYPES = [np.dtype, range, coo_array, csc_array, csr_array]


def __getattr__(name: str) -> Any:
    """Return `TRUSTED`: the names of Mercer's types that `load` accepts.

    For others who load files of skops, such as ``mlflow.sklearn.load_model``. It is
    made when first asked for, since all modules are imported for it.
    """
    if name != "TRUSTED":
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    names = [f"{kind.__module__}.{kind.__name__}" for kind in _ARRAY_TYPES]
    library = [
        found.name
        for found in walk_packages(mercer.__path__, "mercer.")
        if not found.name.startswith("mercer.app") and "__main__" not in found.name
    ]
    for module in library:
        with suppress(ImportError):  # of an optional package
            kinds = [f"{module}.{kind}" for kind in vars(import_module(module))]
            names += [kind for kind in kinds if _is_known(kind)]
    globals()["TRUSTED"] = tuple(sorted(names))
    return globals()["TRUSTED"]


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, basis or kernel to a file.

    The file appears whole or not at all; an existing one is replaced.

    Parameters
    ----------
    obj : object
        Anything made of Mercer's, scikit-learn's, NumPy's and SciPy's types.
    path : path-like
        Conventionally ending in ``.skops``.

    See Also
    --------
    load : Reads the file again.

    Examples
    --------
    >>> import tempfile, os
    >>> from mercer.kernels.parametric import RBF
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "kernel.skops")
    ...     save(RBF(gamma=0.5), file)
    ...     load(file)
    RBF(gamma=0.5)
    """
    path = Path(path)
    with tempfile.TemporaryDirectory(
        dir=path.parent, prefix=f".{path.name}-"
    ) as folder:
        part = Path(folder) / path.name
        try:
            skops.io.dump(obj, part, compression=ZIP_DEFLATED, compresslevel=_LEVEL)
        except TypeError as error:
            where, what = _what_cannot_be_saved(obj)
            if not where:
                raise
            msg = (
                f"{type(obj).__name__} cannot be saved: its {where} is a "
                f"{type(what).__name__}."
            )
            if hasattr(what, "shape"):
                msg += " Give NumPy arrays, which can be."
            raise TypeError(msg) from error
        _check_names(part)
        part.replace(path)


def _what_cannot_be_saved(
    obj: Any, where: str = "", seen: tuple[int, ...] = ()
) -> tuple[str, Any]:
    """Return the innermost part of an object that cannot be saved, and its place."""
    for name, part in _parts(obj):
        try:
            skops.io.dumps(part)
        except TypeError:
            if id(part) not in seen:
                place = (where + name).removeprefix(".")
                return _what_cannot_be_saved(part, place, (*seen, id(part)))
    return where, obj


def _parts(obj: Any) -> Iterable[tuple[str, Any]]:
    """Return what an object is made of, named as in Python; frames are whole."""
    if isinstance(obj, dict):
        return ((f"[{key!r}]", part) for key, part in obj.items())
    if isinstance(obj, list | tuple):
        return ((f"[{place}]", part) for place, part in enumerate(obj))
    inner = {} if hasattr(obj, "shape") else getattr(obj, "__dict__", {})
    return ((f".{name}", part) for name, part in inner.items())


def _check_names(file: Path) -> None:
    """Raise if a file names a function or type that would not be found again."""
    with ZipFile(file) as archive:
        json.loads(archive.read(_SCHEMA), object_hook=_check_name)


def _check_name(node: dict[str, Any]) -> None:
    if node.get("__loader__") not in ("FunctionNode", "ObjectNode", "TypeNode"):
        return
    module, name = node["__module__"], node["__class__"]
    found = None
    with suppress(ImportError):
        found = getattr(import_module(module), name, None)
    is_other = node["__loader__"] == "FunctionNode" and id(found) != node["__id__"]
    if found is None or is_other:
        what = "a lambda" if name == "<lambda>" else f"{name} of {module}"
        msg = (
            f"{what} could not be loaded again: functions and classes are found by "
            "their names. Define it at the top level of a module."
        )
        raise ValueError(msg)


def load(
    path: str | os.PathLike[str],
    *,
    trusted: Sequence[str] = (),
    memory: float | None = None,
) -> Any:
    """Read what `save` wrote.

    Estimators and result classes of Mercer, what skops trusts of scikit-learn, NumPy
    and SciPy, and the column encoders of skrub are loaded. Anything else that the
    file names is refused before any object is made: functions of Mercer too, since a
    file can ask for a call.

    Parameters
    ----------
    path : path-like
        The file.
    trusted : sequence of str, default=()
        Full names of further types or functions to accept, such as your own kernel
        function. Name only what you know: loading may call it.
    memory : float, optional
        Bytes that may be used; by default three quarters of what is free. A file that
        is larger when unpacked is refused before that.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If the file is not one of `save`, or names types that are not trusted.

    See Also
    --------
    save : Writes the file.

    Examples
    --------
    >>> import tempfile
    >>> from mercer.kernels.parametric import RBF
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     save(RBF(gamma=0.5), file.name)
    ...     load(file.name)
    RBF(gamma=0.5)
    """
    _check_size(path, available_memory() if memory is None else memory)
    try:
        found = skops.io.get_untrusted_types(file=path)
        accepted = [name for name in found if name in trusted or _is_known(name)]
        return skops.io.load(path, trusted=accepted)
    except UntrustedTypesFoundException:
        refused = sorted(set(found) - set(accepted))
        msg = (
            f"{os.fspath(path)} names types that are not trusted: "
            f"{', '.join(refused)}. If they are yours, pass trusted={refused}; if the "
            "file is a stranger's, do not load it."
        )
        raise ValueError(msg) from None
    except _DAMAGED as error:
        msg = f"{os.fspath(path)} is not a file of mercer.persist.save ({error})."
        raise ValueError(msg) from error


def _check_size(path: str | os.PathLike[str], limit: float) -> None:
    """Raise if a file is too large when unpacked; others say what is wrong with it."""
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
    except (BadZipFile, ValueError):
        return
    # Descriptions of types become objects, which take more than their text.
    size = sum(e.file_size * (20 if e.filename == _SCHEMA else 2) for e in entries)
    if size > limit:
        msg = (
            f"{os.fspath(path)}: loading it needs about {in_bytes(size)} of memory, "
            f"and {in_bytes(limit)} may be used."
        )
        raise ValueError(msg)


def _is_known(name: str) -> bool:
    """Tell estimators and records of Mercer, encoders of skrub and sparse arrays."""
    module, _, attribute = name.rpartition(".")
    parts = module.split(".")
    if parts[0] in {"builtins", "numpy", "scipy"}:
        return any(name == f"{t.__module__}.{t.__name__}" for t in _ARRAY_TYPES)
    # Importing __main__ would run it.
    if parts[0] not in {"mercer", "skrub"} or "__main__" in parts:
        return False
    try:
        known = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        return False
    # A module also holds what it imports: `mercer.persist.Path` is not Mercer's.
    if not isinstance(known, type) or known.__module__ != module:
        return False
    if parts[0] == "skrub":
        return issubclass(known, BaseEstimator)
    return issubclass(known, BaseEstimator | tuple) or is_dataclass(known)
