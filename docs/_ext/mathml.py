"""Formulas as MathML: the pages need neither JavaScript nor a network for them."""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
# What the converter does not know, and what says the same.
ALIASES = {r"\dots": r"\ldots", r"\Big": "", r"\big": "", r"\textstyle": ""}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.config["html_math_renderer"] = "mathml"
    return {"parallel_read_safe": True}


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_tree(node, as_block=False))
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{_tree(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _tree(node: Any, *, as_block: bool) -> str:
    formula = node.astext()
    for command, known in ALIASES.items():
        pattern = re.escape(command) + r"(?![a-zA-Z])"
        formula = re.sub(pattern, known.replace("\\", r"\\"), formula)
    try:
        return str(latex2mathml.tex2mathml(formula, as_block=as_block))
    except MathError as error:
        LOGGER.warning("formula %r: %s", node.astext(), error, location=node)
        return escape(node.astext())
