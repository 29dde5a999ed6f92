"""The figures of a page as SVG in it: as few bytes as show the same, and no name twice."""

import re
from pathlib import Path

INVISIBLE = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
PLACES = re.compile(r' (?:d|x|y|transform)="[^"]*"')
REFERENCE = re.compile(r'(href="#|url\(#)([^")]+)')
SPACES = re.compile(r"\s*([A-Za-z])\s*|\s+(?=-)")


class Drawings:
    """The drawings of one page, which share their styles: each look has one class."""

    def __init__(self):
        self._classes: dict[str, str] = {}
        self._names = 0

    def put(self, path: Path, alt: str) -> str:
        """The drawing of a file, which scrolls by itself where it is wider than the page."""
        text = path.read_text(encoding="utf-8")
        text = INVISIBLE.sub("", text[text.index("<svg") :])
        text = PLACES.sub(_shorter, text.replace("xlink:href", "href"))
        text = re.sub(r' style="([^"]*)"', self._class, self._renamed(text))
        text = re.sub(r"\s*\n\s*", "", _ungrouped(text))
        return f'<span class="wide" tabindex="0">{text.replace("<svg", _described(alt), 1)}</span>'

    @property
    def css(self) -> str:
        """The looks of all drawings so far."""
        return "\n".join(f".{name}{{{look}}}" for look, name in self._classes.items())

    def _class(self, style: re.Match) -> str:
        name = self._classes.setdefault(style[1], f"d{len(self._classes)}")
        return f' class="{name}"'

    def _renamed(self, text: str) -> str:
        """With new ids for what is referred to, since drawings use the same ones, and none for the rest."""
        new = {}
        for _, name in REFERENCE.findall(text):
            if name not in new:
                new[name], self._names = f"n{self._names}", self._names + 1
        text = re.sub(r' id="([^"]*)"', lambda found: f' id="{new[found[1]]}"' if found[1] in new else "", text)
        return REFERENCE.sub(lambda found: found[1] + new[found[2]], text)


def _described(alt: str) -> str:
    return f'<svg role="img" aria-label="{alt}"'


def _ungrouped(text: str) -> str:
    """Without groups that say nothing."""
    parts, open_groups = [], []
    for part in re.split(r"(</?g\b[^>]*>)", text):
        if part.startswith("<g") and not part.endswith("/>"):
            open_groups.append(part != "<g>")
        says = open_groups.pop() if part == "</g>" else part not in ("<g>", "<g/>")
        parts.append(part if says else "")
    return "".join(parts)


def _shorter(place: re.Match) -> str:
    """With rounded numbers, and in paths without the spaces around letters and before signs."""
    name, value = re.sub(r"-?\d+\.\d+", _rounded, place[0]).split("=", 1)
    return f"{name}={SPACES.sub(lambda found: found[1] or '', value) if name == ' d' else value}"


def _rounded(number: re.Match) -> str:
    """To a tenth of a point, and to a hundredth in the shapes of markers, which are small."""
    value = float(number[0])
    return f"{value:.{1 if abs(value) >= 10 else 2}f}".rstrip("0").rstrip(".")
