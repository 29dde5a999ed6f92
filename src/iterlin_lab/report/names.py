"""What K, λ and the other numbers that tell rows of tables apart are called wherever they are shown."""

import math
import re
from collections.abc import Mapping
from typing import Any, SupportsFloat

import numpy as np

SYMBOLS = {
    "layers": "layers",
    "n": "n",
    "learning_rate": "η",
    "K": "K",
    "damping": "λ",
    "step_size": "α",
    "tolerance": "β",
}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Code and where links lead, which stay as they are; a power; an infinite K; a minus sign.
WRITTEN = re.compile(
    r"`[^`]*`|\]\([^)]*\)|(?<![\w.])(?P<factor>\d+(?:\.\d+)?)e(?P<power>[+-]?\d+)(?!\w)"
    r"|(?<=K = )(?P<infinite>inf)\b|(?<![^\s\[(])(?P<minus>-)(?=\d)"
)


def typeset(text: str) -> str:
    """Markdown with powers of ten as `3·10⁻⁵`, with `K = ∞` and with minus signs, outside of code and links."""
    return WRITTEN.sub(_typeset, text)


def _typeset(found: re.Match[str]) -> str:
    if found["minus"]:
        return "−"
    if found["infinite"]:
        return "∞"
    if not found["factor"]:
        return found[0]
    power = f"10{str(int(found['power'])).translate(SUPERSCRIPTS)}"
    return power if found["factor"] == "1" else f"{found['factor']}·{power}"


def number_text(value: float) -> str:
    """Six digits, and powers of ten as such: `0.001`, `10⁻⁴`."""
    small = 0 < abs(value) < 1e-3
    return typeset(np.format_float_scientific(value, precision=5, trim="-") if small else f"{value:g}")


def period_text(K: float) -> str:
    """`1000`, `10⁴`, `∞`; `TGN` where there is no K."""
    return typeset(period_key(K))


def period_key(K: float) -> str:
    """The same in ASCII: `1000`, `1e4`."""
    if math.isnan(K):
        return "TGN"
    if math.isinf(K):
        return "∞"
    return f"{K:.0f}" if K < 10_000 else np.format_float_scientific(K, trim="-", exp_digits=1).replace("+", "")


def tick(K: float) -> str:
    """The same, with what its ends are."""
    return period_text(K) + {1: " (GD)", math.inf: " (lazy)"}.get(K, "")


def label(K: float) -> str:
    """What a K is called in legends."""
    return tick(K) if math.isnan(K) else f"K = {tick(K)}"


def named(**numbers: SupportsFloat) -> str:
    """`K = 10⁴, λ = 0.01`, without numbers that are missing."""
    known = {name: float(value) for name, value in numbers.items() if not math.isnan(value)}
    texts = {name: period_text(value) if name == "K" else number_text(value) for name, value in known.items()}
    return ", ".join(f"{SYMBOLS[name]} = {text}" for name, text in texts.items())


def row_name(row: Mapping[Any, Any]) -> str:
    """What a row of a table is of: its numbers, and its `method` where that is not gradient descent."""
    numbers = named(**{name: row[name] for name in SYMBOLS if name in row})
    method = row.get("method", "gradient")
    return numbers if method == "gradient" else ", ".join(filter(None, (method, numbers)))
