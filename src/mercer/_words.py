"""Counts and reasons in the messages that people read."""


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Parameters
    ----------
    n : int
    one : str
        The noun for a single thing.
    many : str, optional
        The plural; by default the noun with an s.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def reason(error: object) -> str:
    r"""Return what an error says, in one line and without its full stop.

    Examples
    --------
    >>> reason(ValueError("Bad header.\nPage 3 failed."))
    'Bad header. Page 3 failed'
    """
    return " ".join(str(error).split()).rstrip(".")
