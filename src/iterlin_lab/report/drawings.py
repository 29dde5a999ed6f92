"""The figures of a page as SVG in it: as few bytes as show the same, and no name twice."""

import re
from pathlib import Path

import numpy as np

# Comments, what the drawing says of itself, turns by nothing, and what a page knows (`page.css` has the lines' joins).
INVISIBLE = re.compile(
    r"<!--.*?-->|<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>"
    r'| transform="rotate\(-?0 [^"]*"| xmlns(:xlink)?="[^"]*"',
    re.DOTALL,
)
SHAPE = re.compile(r'<path id="([^"]*)"[^>]*( class="[^"]*")')
PLACES = re.compile(r' (?:x|y|transform)="[^"]*"')
REFERENCE = re.compile(r'(href="#|url\(#)([^")]+)')
LOOK = re.compile(r'(?: clip-path="url\(#(\w+)\)")? style="([^"]*)"')
CLIPPED = re.compile(r'(<g clip-path="[^"]*">)<use [^>]*/></g>(?:\1<use [^>]*/></g>)+')
USUAL = "stroke-dashoffset:0;"
SIZE = re.compile(r' (width|height)="([\d.]+)pt"')  # of a drawing
COLUMN = "_column.svg"  # at the end of the name of a file that has the same in one column
LARGER = 1.3  # on a screen than on paper, where its text has eight points
SMALL = 10  # points: a shape that stays below is a marker, and is rounded less


class Drawings:
    """The drawings of one page, which share their styles: each look has one class, and so has each frame that clips."""

    def __init__(self):
        self._classes: dict[str, str] = {}
        self._names = 0

    def put(self, path: Path, alt: str) -> str:
        """The drawing of a file, which scrolls by itself where it is wider than the page."""
        text = path.read_text(encoding="utf-8")
        text = INVISIBLE.sub("", text[text.index("<svg") :]).replace("xlink:href", "href")
        text = PLACES.sub(lambda found: re.sub(r"-?\d+\.\d+", lambda number: _short(float(number[0])), found[0]), text)
        text = SIZE.sub(lambda found: f' {found[1]}="{_short(LARGER * float(found[2]))}pt"', text)
        text = re.sub(r' d="([^"]*)"', lambda found: f' d="{relative(found[1])}"', text)
        text = LOOK.sub(self._class, self._renamed(text))
        text = _together(re.sub(r"\s*\n\s*", "", _once(_ungrouped(text))))
        column = path.with_name(path.stem + COLUMN)
        place = f' data-column="figures/{column.name}"' if column.exists() else ""
        return f'<span class="wide" tabindex="0"{place}>{text.replace("<svg", _described(alt), 1)}</span>'

    @property
    def css(self) -> str:
        """The looks of all drawings so far, without spaces and what is so anyway."""
        looks = ((name, re.sub(r"(?<=[:;]) ", "", look).replace(USUAL, "")) for look, name in self._classes.items())
        return "\n".join(f".{name}{{{look}}}" for name, look in looks)

    def _class(self, look: re.Match) -> str:
        frame, style = look.groups()
        names = [self._classes.setdefault(style, _name("d", len(self._classes)))]
        if frame:
            names.append(self._classes.setdefault(f"clip-path: url(#{frame})", frame))
        return f' class="{" ".join(names)}"'

    def _renamed(self, text: str) -> str:
        """With new ids for what is referred to, since drawings use the same ones, and none for the rest."""
        new = {}
        for _, name in REFERENCE.findall(text):
            if name not in new:
                new[name], self._names = _name("n", self._names), self._names + 1
        text = re.sub(r' id="([^"]*)"', lambda found: f' id="{new[found[1]]}"' if found[1] in new else "", text)
        return REFERENCE.sub(lambda found: found[1] + new[found[2]], text)


def _name(letter: str, number: int) -> str:
    """A short name: there are thousands of references to it."""
    return letter + np.base_repr(number, 36).lower()


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


def _once(text: str) -> str:
    """Without a look of a use of a shape where the shape itself has it."""
    for name, look in set(SHAPE.findall(text)):
        text = re.sub(rf'(<use href="#{name}"[^>]*?){look}', r"\1", text)
    return text


def _together(text: str) -> str:
    """With shapes in one group that follow each other in groups of one, where the same frame clips them."""
    return CLIPPED.sub(lambda run: f"{run[1]}{run[0].replace(run[1], '').replace('</g>', '')}</g>", text)


def relative(path: str) -> str:
    """A path of M, L, Q, C and z with the steps from point to point in place of the points, which are rounded first.

    So no error adds up. The places are rounded to a tenth of a point, or to a hundredth in a path of small numbers.
    """
    commands = [
        (letter, list(map(float, values.split()))) for letter, values in re.findall(r"([A-Za-z])([^A-Za-z]*)", path)
    ]
    large = any(abs(value) >= SMALL for _, values in commands for value in values)
    text, last, at, start = "", "", (0.0, 0.0), (0.0, 0.0)
    for letter, values in commands:
        places = [round(value, 1 if large else 2) for value in values]
        if letter == "M":
            steps, start = places, tuple(places)
        else:
            letter, steps = letter.lower(), [place - at[number % 2] for number, place in enumerate(places)]
        at = tuple(places[-2:]) if places else start
        text += _joined("" if letter == last != "M" else letter, steps)
        last = letter
    return text


def _joined(letter: str, numbers: list[float]) -> str:
    """Numbers after a letter, or after other numbers if it is empty; a minus separates as a space does."""
    text = letter
    for position, number in enumerate(map(_short, numbers)):
        text += number if number.startswith("-") or (letter and not position) else f" {number}"
    return text


def _short(value: float) -> str:
    """With at most two digits after the point: one from ten on."""
    text = f"{value:.{1 if abs(value) >= SMALL else 2}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
