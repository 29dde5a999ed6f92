"""The documentation as a site: plain Markdown, the library's docstrings, and params.yaml from its typed models."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from params_page import write  # beside this file
from sphinx.application import Sphinx

project = "iterlin"
copyright = "the iterlin developers"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = "iterlin"
html_show_sphinx = False

myst_heading_anchors = 4
nb_execution_mode = "force"  # the notebooks are kept without outputs
nb_execution_raise_on_error = True
nb_merge_streams = True

default_role = "code"  # docstrings are Markdown as a reader of the code sees it
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
autodoc_preserve_defaults = True
suppress_warnings = ["misc.highlighting_failure"]  # drawings in Mermaid are shown as text

# Pages of the repository that are no pages here, and what stands for them.
ELSEWHERE = {"../CONTRIBUTING.md": "contributing.md", "README.md)": "index.html)", "REPORT.md)": "index.html)"}


def setup(app: Sphinx) -> None:
    """Let links out of this folder lead to what the site has."""
    app.connect("source-read", _relink)


def _relink(app: Sphinx, name: str, source: list[str]) -> None:
    for link, page in ELSEWHERE.items():
        source[0] = source[0].replace(link, page)


write(Path(__file__).parent / "generated/params.md")
