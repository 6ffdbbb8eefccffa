"""The page itself: one file, no outside parts, light and dark, good on paper."""

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from mercer.report import acting, judging, showing
from mercer.report.story import Story


def render(story: Story) -> str:
    """Return the HTML of a report.

    Everything that comes from the table is escaped: a cell cannot become markup.
    """
    assets = files("mercer.report") / "assets"
    parts = [
        acting.summary(story),
        judging.quality(story),
        acting.next_rows(story),
        acting.doubtful(story),
        showing.points(story),
        showing.learned(story),
        showing.columns(story),
        showing.certificates(story),
    ]
    page = Template((assets / "page.html").read_text(encoding="utf-8"))
    script = f"\n{(assets / 'script.js').read_text(encoding='utf-8')}\n"
    digest = b64encode(sha256(script.encode()).digest()).decode()
    tips = json.dumps(list(story.map.tips)).replace("<", "\\u003c")
    return page.substitute(
        title=escape(f"{story.target}: {story.source}"),
        style=(assets / "style.css").read_text(encoding="utf-8"),
        script=script,
        digest=digest,
        tips=tips,
        body="\n".join(part for part in parts if part),
    )
