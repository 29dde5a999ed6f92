"""What K, λ and the other numbers that tell rows of tables apart are called wherever they are shown."""

import math
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


def period_text(K: float) -> str:
    """`1000`, `1e4`, `∞`; `TGN` where there is no K."""
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
    """`K = 1e4, λ = 0.01`, without numbers that are missing."""
    known = {name: float(value) for name, value in numbers.items() if not math.isnan(value)}
    texts = {name: period_text(value) if name == "K" else f"{value:g}" for name, value in known.items()}
    return ", ".join(f"{SYMBOLS[name]} = {text}" for name, text in texts.items())


def row_name(row: Mapping[Any, Any]) -> str:
    """What a row of a table is of: its numbers, and its `method` where that is not gradient descent."""
    numbers = named(**{name: row[name] for name in SYMBOLS if name in row})
    method = row.get("method", "gradient")
    return numbers if method == "gradient" else ", ".join(filter(None, (method, numbers)))
