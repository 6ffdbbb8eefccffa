"""The folder listing shows the architecture, and its seams are typed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
LIBRARY = SOURCE / "mercer"
SEAMS = {
    "evidence/labels.py": {"Labels"},
    "spectrum/scores.py": {"Leads", "Scores"},
    "spectrum/features.py": {"Features"},
    "spectrum/base.py": {"Basis"},
    "fewlabels/pools/base.py": {"Pool"},
    "fewlabels/trees.py": {"Columns"},
    "model/parts.py": {"Learner", "Machine"},
    "model/estimator.py": {"UnifiedKernelMachine"},
    "model/growth.py": {"GrowingModel"},
    "model/judged.py": {"JudgedModel"},
    "model/sourced.py": {"SourcedModel"},
}


def test_the_library_lists_few_entries() -> None:
    entries = [entry for entry in LIBRARY.iterdir() if entry.name != "__pycache__"]
    assert len(entries) <= 24


def test_no_source_file_is_long() -> None:
    kinds = {".py", ".pyi", ".js", ".css", ".html"}
    files = [path for path in SOURCE.rglob("*") if path.suffix in kinds]
    assert len(files) > 400
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {str(path): n for path, n in lines.items() if n > 400} == {}


def test_tensors_are_told_from_arrays_at_two_doors() -> None:
    asks = re.compile(r"\b(is_tensor|is_for_torch)\(")
    asking = {
        path.relative_to(LIBRARY).as_posix()
        for path in LIBRARY.rglob("*.py")
        if "backends" not in path.parts and asks.search(path.read_text("utf-8"))
    }
    defined = "_base/tensors.py"  # with what arrays and tensors do alike
    assert asking == {defined, "fewlabels/pools/choice.py", "spectrum/graph.py"}


def parameters(file: str, names: set[str]) -> Iterator[tuple[str, str]]:
    tree = ast.parse((LIBRARY / file).read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert names <= {node.name for node in classes}
    for node in classes:
        methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
        for method in methods if node.name in names else ():
            given = method.args
            extra = [arg for arg in (given.vararg, given.kwarg) if arg]
            for arg in [*given.args, *given.kwonlyargs, *extra]:
                if arg.annotation is not None:
                    yield f"{node.name}.{method.name}", ast.unparse(arg.annotation)


def test_the_seams_say_what_they_take() -> None:
    arrays = re.compile(r"NDArray\[Any\]")
    taken = [found for seam in SEAMS.items() for found in parameters(*seam)]
    assert len(taken) > 80
    untyped = [name for name, kind in taken if "Any" in arrays.sub("", kind)]
    assert untyped == []
