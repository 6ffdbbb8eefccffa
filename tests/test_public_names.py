"""The names a user types exist, and each is documented."""

import inspect

import mercer


def test_every_public_name_is_there_and_documented() -> None:
    assert sorted(mercer.__all__) == list(mercer.__all__)
    for name in mercer.__all__:
        thing = getattr(mercer, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
