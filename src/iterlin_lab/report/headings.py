"""The headings of the report and the links to them, which are those that GitHub makes."""

import re


def slug(heading: str) -> str:
    """What a link to a heading ends with: `the-page-its-size` of `The page: its size`."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text: str) -> dict[str, str]:
    """The links to the sections of a text that are called by a name, `NAME` in `### NAME: what it is`, by it."""
    titles = re.findall(r"^#{2,} (.*)", text, re.MULTILINE)
    return {title.split(":")[0]: f"#{slug(title)}" for title in titles if ":" in title}
