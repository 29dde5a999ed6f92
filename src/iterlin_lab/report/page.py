"""The report as one page that needs no other file."""

import re
from pathlib import Path

from markdown_it import MarkdownIt

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ max-width: 70rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #222; }}
h1, h2 {{ line-height: 1.2; }}
table {{ border-collapse: collapse; font-size: 0.8rem; display: block; overflow-x: auto; }}
th, td {{ padding: 0.2rem 0.45rem; border-bottom: 1px solid #ddd; text-align: left; }}
[style*="right"], td:first-child {{ white-space: nowrap; }}
svg {{ max-width: 100%; height: auto; }}
code {{ background: #f3f3f3; padding: 0 0.2rem; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def html(text: str, figures: Path) -> str:
    """The report as a page that needs no other file: figures are drawn in it."""
    body = MarkdownIt("commonmark").enable("table").render(text)
    title = text.splitlines()[0].removeprefix("# ").replace("`", "")
    return PAGE.format(
        title=title, body=re.sub(r'<img src="figures/([a-z_]+)\.svg" alt="([^"]*)" ?/>', _inline(figures), body)
    )


def _inline(figures: Path):
    def svg(match: re.Match) -> str:
        name, alt = match.groups()
        drawing = (figures / f"{name}.svg").read_text(encoding="utf-8")
        drawing = drawing[drawing.index("<svg") :]
        # Names inside a drawing would clash with those of the next one on the same page.
        drawing = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", drawing)
        return drawing.replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)

    return svg
