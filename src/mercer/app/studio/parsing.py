"""JSON that comes from outside, as plain values that can be stored and sent back."""

import json
from typing import Any, NoReturn

from mercer._base.words import reason
from mercer.app.studio.refused import RefusedError


def parsed(body: bytes, what: str = "the body") -> Any:
    r"""Return the value of a JSON text; refuse whatever could not be written again.

    Examples
    --------
    >>> parsed(b'{"row": 3}')
    {'row': 3}
    >>> parsed(b'"\\ud800"')
    Traceback (most recent call last):
    mercer.app.studio.refused.RefusedError: the body holds half a character (\ud800).
    """
    try:
        value = json.loads(body, parse_constant=_refuse)
        # Half of a surrogate pair is a string in Python, and in no file.
        if rb"\u" in body:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        msg = f"{what} holds half a character ({half})."
        raise RefusedError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"{what} is not JSON: {reason(error)}."
        raise RefusedError(msg) from error
    return value


def whole(text: str) -> int | None:
    """Return a number of a class or page in a text, None if it is none.

    Examples
    --------
    >>> whole("12"), whole("-1"), whole("9" * 5000), whole("²")
    (12, None, None, None)
    """
    is_number = text.isascii() and text.isdecimal() and len(text) < 9
    return int(text) if is_number else None


def check_text(value: Any, name: str) -> None:
    """Refuse what is not the name of a person, or not a token."""
    if not isinstance(value, str) or not value.strip() or len(value) > 64:
        msg = f"{name} must be a text of 1 to 64 characters."
        raise RefusedError(msg)


def _refuse(name: str) -> NoReturn:
    msg = f"{name} is not a number of JSON"
    raise ValueError(msg)
