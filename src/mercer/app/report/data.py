"""All that the page shows, as plain data for another program."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from mercer.app.report.story import Story


def as_data(story: Story) -> dict[str, Any]:
    """Return a story as dictionaries, lists, strings and numbers.

    Images are left out; they are in the person's folder.
    """
    plain: dict[str, Any] = _plain(story)
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if hasattr(value, "_asdict"):
        pairs = value._asdict().items()
        return {name: _plain(v) for name, v in pairs if name != "picture"}
    if isinstance(value, np.ndarray):
        whole = value if value.dtype.kind in "biu" else np.round(value, 5)
        return whole.tolist()
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value
