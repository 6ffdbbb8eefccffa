"""The names a user types exist, and each is documented."""

import inspect
from importlib import import_module

import pytest

PACKAGES = (
    "",
    ".active",
    ".fewlabels",
    ".graphs",
    ".kernels",
    ".learners",
    ".machines",
    ".spectrum",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_documented(package: str) -> None:
    module = import_module("mercer" + package)
    assert sorted(module.__all__) == list(module.__all__)
    assert module.__all__
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
