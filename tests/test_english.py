"""Plain English: patterns that made readers slow down do not come back."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    *ROOT.glob("*.md"),
    *(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if not {"_build", "gallery"} & set(page.parts)
    ),
    *(ROOT / "src").rglob("*.py"),
    *(ROOT / "examples").rglob("*.py"),
]
THINGS = (
    "labels?|points?|directions|questions|draws|kernels|rows|answers|pairs|figures?"
)
PLACES = "class|graph|label|row|batch|round|part|direction|split|cell|file|group"
# Pattern, and what to write.
SAY = {
    rf"\b({THINGS}) an? ({PLACES})\b(?! (of|that|which|is|has|may|must|can))": "per",
    r"\banew\b": "again",
    r"\b(among|at most|only|return|keep|after|until|of|by|than|equal) so many\b": (
        "this many"
    ),
    r"\bcrosswise\b": "swapped",
    r"\buntil it rests\b": "until it converges",
    r"\bis held to be\b": "is",
    r'"""Of [`a-z]': "name the thing",
    r"[a-z`]\. Of (an?|many|two|several|equal|more|large) ": "for many, if two",
    r"(?<!\bthere )\bis no (?!longer|more|less|larger|smaller|better|wider)[a-z]+": (
        "is not a"
    ),
    r"\bfrom (which|this) on\b": "with at least this",
    r"\b(labels?|table|step|points?|answers?|rows|data|copy) (that are )?at hand": (
        "the present labels, this table"
    ),
    r"\b(speaks?|spoke) against\b": "contradict",
    r", too[.;:,]": "also, as well",
    r"\b(sample|Series|array|list|copy)\b[^.\n]{0,30} (will do|does)\.": "is enough",
    r"\blonel(y|ier|iest)\b": "isolated, far from the others",
    r"\d %(?!\")": "95%, without a space",
    r"\bper cent\b": "percent",
    r"\b(refused|rejected),? in words\b": "with a message",
    r"\bin no role\b": "that no choice was made on",
    r"\b(papers?|reproduce) 00\d": "the authors of the paper",
    r", (the|its|their) [a-z]+ (says?|decides?|tells?)[.;]": "the labels decide which",
}


def found(text: str) -> list[str]:
    lines = []
    for pattern, better in SAY.items():
        for match in re.finditer(pattern, text, flags=re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            lines.append(f"line {line}: {match[0]!r}; write {better!r}")
    return lines


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_words_are_those_of_the_field(path: Path) -> None:
    assert not found(path.read_text(encoding="utf-8"))


def test_the_patterns_are_found() -> None:
    text = "150 directions a graph\nDrawn anew\nat most so many rows\n95 % of it\n"
    text += "it is no size\nso do the others, too.\nlabels at hand\na sample does.\n"
    text += "labels that others speak against\na lonely point\nfrom which on it counts"
    text += "\nas in paper 003"
    text += "\nIt is read. Of two answers the later one counts."
    text += "\nwhich view counts, the labels say."
    text += "\n5 per cent\nIt is refused, in words.\nsets in no role before"
    assert len(found(text)) == 17
    assert not found("there is no label; it is no longer open, and so on")
    assert not found("150 directions per graph, 95% of the pairs")


# Pages of the studio show sentences; notes of the command line are sentences as well.
SENTENCES = {"classes.py", "exports.py", "label.py", "parquet_parts.py"}
CAPITAL = re.compile(r"(A|An|The|This|There|No|Nothing|One|All|Some|Give|It) ")


def begins_with_a_capital(code: str) -> list[str]:
    """Return messages (`msg = ...`) that begin with a capital and not with a name."""
    wrong = []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != "msg":
            continue
        first = next(ast.walk(node.value))
        if isinstance(first, ast.JoinedStr) and first.values:
            first = first.values[0]
        if isinstance(first, ast.Constant) and CAPITAL.match(str(first.value)):
            wrong.append(f"line {node.lineno}: {first.value}")
    return wrong


def test_messages_begin_alike() -> None:
    for path in (ROOT / "src" / "mercer").rglob("*.py"):
        if path.name not in SENTENCES:
            code = path.read_text(encoding="utf-8")
            assert not begins_with_a_capital(code), path
    assert begins_with_a_capital("msg = 'The basis is wrong.'")
    assert begins_with_a_capital("msg = f'The {x} is wrong.'")
    assert not begins_with_a_capital("msg = 'KernelPool is wrong.'")
