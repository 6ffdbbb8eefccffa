"""A few broken files per run; `make fuzz` tries as many as there is time for."""

import pytest
from hypothesis import HealthCheck, given, settings

from .readers import (
    TABLES,
    Spoiled,
    files,
    loads_or_refuses,
    model_file,
    model_files,
    reads_or_refuses,
    sound,
)

few = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@few
@given(spoiled=files)
def test_any_file_is_read_or_refused(spoiled: Spoiled) -> None:
    reads_or_refuses(spoiled)


@few
@given(spoiled=model_files())
def test_any_model_file_is_loaded_or_refused(spoiled: Spoiled) -> None:
    loads_or_refuses(spoiled)


@pytest.mark.parametrize("ending", [*TABLES, ".feather", ".npz"])
def test_sound_files_are_read(ending: str) -> None:
    assert reads_or_refuses(Spoiled(ending, sound(ending))) == "answered"


def test_a_sound_model_is_loaded() -> None:
    assert loads_or_refuses(Spoiled(".skops", model_file())) == "answered"


# What `make fuzz` has found.
BROKEN = [
    Spoiled(".json", b'{"\x80":0,"b":0.0}'),
    Spoiled(".csv", b"\xff\xfe"),
    Spoiled(".csv", b"\x00\x01\x01\x80\n"),
]


@pytest.mark.parametrize("spoiled", BROKEN, ids=lambda s: repr(s.content))
def test_what_was_found_is_refused_now(spoiled: Spoiled) -> None:
    assert reads_or_refuses(spoiled) == "refused"


def test_a_workbook_without_its_list_of_parts_is_refused() -> None:
    content = sound(".xlsx").replace(b"PK\x01\x02", b"PK\x01\x00", 1)
    assert reads_or_refuses(Spoiled(".xlsx", content)) == "refused"


def test_a_damaged_model_is_refused_by_name() -> None:
    content = bytearray(model_file())
    content[60:64] = b"\xff\xff\xff\xff"  # inside the first array
    assert loads_or_refuses(Spoiled(".skops", bytes(content))) == "refused"
