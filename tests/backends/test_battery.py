"""A small part of `benchmarks/spectra_tensors.py`, on tensors of the processor."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

FILE = Path(__file__).parents[2] / "benchmarks" / "spectra_tensors.py"


@pytest.mark.skipif(not FILE.exists(), reason="needs the repository")
def test_tensors_of_nine_kinds_of_data_give_no_error_and_the_decisions_of_arrays():
    spec = importlib.util.spec_from_file_location("spectra_tensors", FILE)
    battery = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = battery
    try:
        spec.loader.exec_module(battery)
        found = battery.run(9, 150, first=45)
    finally:
        del sys.modules[spec.name]
    assert sorted({case.kind for case in found}) == sorted(battery.KINDS)
    assert [case for case in found if case.wrong] == []
    assert min(case.agree_but_ties for case in found) >= 0.99
