"""Which extra brings a package that is not there."""

# Which extra brings a module, for messages.
EXTRAS = {
    "pandas": "tables",
    "pyarrow": "tables",
    "skrub": "tables",
    "PIL": "tables",
    "python_calamine": "tables",
    "openpyxl": "tables",
    "sqlalchemy": "databases",
    "duckdb": "databases",
    "dask": "dask",
}


def hint(module: str) -> str:
    """Return what to do about a module that is not there.

    Examples
    --------
    >>> hint("pyarrow")
    'This needs the package pyarrow: pip install "mercer[tables]"'
    """
    extra = EXTRAS.get(module.partition(".")[0])
    name = f'"mercer[{extra}]"' if extra else module.partition(".")[0]
    return f"This needs the package {module.partition('.')[0]}: pip install {name}"
