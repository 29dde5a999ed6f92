"""The report as one page that needs no other file."""

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from iterlin_lab.report.drawings import Drawings
from iterlin_lab.report.headings import slug

IMAGE = re.compile(r'<img src="figures/([^"]+\.svg)" alt="([^"]*)" ?/>')
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<nav aria-label="Contents">
<ol>
{contents}
</ol>
</nav>
<main>
{body}
</main>
<script>
{script}</script>
</body>
</html>
"""


def html(text: str, figures: Path) -> str:
    """The report as a page that needs no other file: figures are drawn in it.

    A phone shows them in one column, where the files of these drawings lie beside the page.
    """
    parser = MarkdownIt("commonmark").enable("table")
    parser.add_render_rule("table_open", _scrolling)
    parser.add_render_rule("table_close", lambda *_: "</table>\n</div>\n")
    tokens = parser.parse(text)
    _align(tokens)
    headings = _named(tokens)
    body, drawings = parser.renderer.render(tokens, parser.options, {}), Drawings()
    body = IMAGE.sub(lambda found: drawings.put(figures / found[1], found[2]), body)
    return PAGE.format(
        title=text.splitlines()[0].removeprefix("# ").replace("`", ""),
        style=_own("page.css") + drawings.css,
        script=_own("page.js"),
        contents="\n".join(
            f'<li class="{tag}"><a href="#{name}">{escape(title)}</a></li>' for tag, name, title in headings
        ),
        body=body,
    )


def _own(name: str) -> str:
    """A file beside this one, without what only its readers need."""
    lines = map(str.strip, (files("iterlin_lab.report") / name).read_text(encoding="utf-8").splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def _scrolling(*_: Any) -> str:
    """A table that is wider than the page scrolls by itself, also by the keyboard."""
    return '<div class="wide" tabindex="0">\n<table>\n'


def _align(tokens: Sequence[Token]) -> None:
    """Say with the letter of a class on which side the texts of a cell are."""
    for token in tokens:
        if token.type in ("th_open", "td_open") and "style" in token.attrs:
            token.attrSet("class", str(token.attrs.pop("style")).removeprefix("text-align:")[0])


def _named(tokens: Sequence[Token]) -> list[tuple[str, str, str]]:
    """Give every heading the id that links have, and return tag, id and title of those that the contents have."""
    found = []
    for heading, content in pairwise(tokens):
        if heading.type == "heading_open":
            title = content.content.replace("`", "")
            heading.attrSet("id", name := slug(title))
            if heading.tag in ("h2", "h3"):
                found.append((heading.tag, name, title))
    return found
