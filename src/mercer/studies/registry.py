"""All studies, in the order of the papers."""

from importlib import import_module

from mercer.studies.study import Study

MODULES: tuple[str, ...] = (
    "mao2010",
    "abbasnejad2010",
    "dai2007",
    "hoi2006",
    "zhuang2009",
)


def studies() -> list[Study]:
    """Return every study that can be run."""
    found: list[Study] = []
    for name in MODULES:
        found += import_module(f"mercer.studies.{name}").STUDIES
    return found
