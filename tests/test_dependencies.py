"""Lower bounds admit no release with a hole that is known."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# First release without the hole.
SAFE = {
    "skops": ("0.13", "CVE-2025-54412, CVE-2025-54413, CVE-2025-54886"),
    "pillow": ("12.2", "CVE-2024-28219, CVE-2026-25990, CVE-2026-42308"),
    "pyarrow": ("14.0.1", "CVE-2023-47248"),
    "scikit-learn": ("1.5", "CVE-2024-5206"),
    "starlette": ("0.49.1", "CVE-2024-47874, CVE-2025-54121, CVE-2025-62727"),
    "transformers": ("4.53", "CVE-2025-3933, CVE-2025-5197, CVE-2025-6638"),
    "h11": ("0.16", "CVE-2025-43859"),
    "numpy": ("1.22", "CVE-2021-41496"),
    "scipy": ("1.10", "CVE-2023-25399"),
}


def requirements():
    project = tomllib.loads(PROJECT.read_text())["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(line) for lines in lists for line in lines]


@pytest.mark.parametrize("name", SAFE)
def test_no_release_with_a_known_hole_is_admitted(name):
    found = [r for r in requirements() if r.name == name]
    assert found, f"{name} is no dependency any more: take it off the list"
    safe, holes = SAFE[name]
    for requirement in found:
        floors = [Version(s.version) for s in requirement.specifier]
        assert floors, f"{requirement} has no lower bound"
        assert min(floors) >= Version(safe), f"{requirement}: {holes}"


def test_every_dependency_has_a_lower_bound():
    for requirement in requirements():
        if requirement.name != "mercer":
            assert any(s.operator == ">=" for s in requirement.specifier), requirement
