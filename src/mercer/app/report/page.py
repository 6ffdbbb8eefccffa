"""The page itself: one file, no outside parts, light and dark, good on paper."""

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from mercer.app.report import details, pictures, rows
from mercer.app.report.evidence import sources
from mercer.app.report.quality import quality
from mercer.app.report.story import Story
from mercer.app.report.summary import summary

# Sections by their ids, with the names that the navigation gives them.
SECTIONS = (
    ("quality", "How good?"),
    ("sources", "Sources of labels"),
    ("next", "Label next"),
    ("doubtful", "Labels that look wrong"),
    ("repeated", "Rows that repeat"),
    ("predictions", "Predictions"),
    ("map", "Map"),
    ("columns", "Columns"),
    ("learned", "How rows are compared"),
    ("classes", "Classes"),
)


def render(story: Story) -> str:
    """Return the HTML of a report.

    Everything that comes from the table is escaped: a cell cannot become markup.
    """
    assets = files("mercer.app.report") / "assets"
    parts = [
        summary(story),
        quality(story),
        sources(story),
        rows.next_rows(story),
        rows.doubtful(story),
        rows.repeated(story),
        rows.predictions(story),
        pictures.points(story),
        details.columns(story),
        pictures.learned(story),
        details.certificates(story),
    ]
    body = "\n".join(part for part in parts if part)
    page = Template((assets / "page.html").read_text(encoding="utf-8"))
    script = f"\n{(assets / 'script.js').read_text(encoding='utf-8')}\n"
    digest = b64encode(sha256(script.encode()).digest()).decode()
    tips = json.dumps(list(story.map.tips)).replace("<", "\\u003c")
    return page.substitute(
        title=escape(f"Predictions of {story.target}: {story.source}"),
        style=(assets / "style.css").read_text(encoding="utf-8"),
        script=script,
        digest=digest,
        tips=tips,
        rows=rows.predictions_json(story),
        body=f"{_navigation(body)}\n{body}",
    )


def _navigation(body: str) -> str:
    """Return links to the sections that the page has."""
    links = "".join(
        f'<a href="#{name}">{words}</a>'
        for name, words in SECTIONS
        if f'<section id="{name}"' in body
    )
    return f'<nav aria-label="Sections">{links}</nav>'
