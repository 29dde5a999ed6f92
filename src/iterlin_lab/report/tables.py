"""Tables of the report, in Markdown."""

import math
from collections.abc import Sequence

import pandas as pd

ENDS = ["mean", "low", "high"]


def interval_text(values: Sequence[float], text: str) -> str:
    """A mean with the ends of its interval; a dash where there is none."""
    mean, low, high = map(text.format, values)
    return "–" if pd.isna(values[0]) else f"{mean} [{low}, {high}]"


def interval_texts(table: pd.DataFrame, name: str, text: str) -> list[str]:
    """Means with the ends of their intervals, a text a row."""
    return [interval_text(row, text) for row in table[[f"{name}_{part}" for part in ENDS]].to_numpy().tolist()]


def percent(table: pd.DataFrame, name: str) -> list[str]:
    """Means and the half widths of their intervals, in percent."""
    pairs = zip(100 * table[f"{name}_mean"], 100 * table[f"{name}_high"], strict=True)
    return ["–" if pd.isna(mean) else f"{mean:.1f} ± {high - mean:.1f}" for mean, high in pairs]


def outcome_columns(table: pd.DataFrame) -> dict[str, pd.Series]:
    """How the runs of every cell ended."""
    names = {"runs": "runs", "fitted": "fitted", "step limit": "step_limit", "diverged": "diverged"}
    return {title: table[name] for title, name in names.items()}


def training_losses(table: pd.DataFrame, runs: pd.DataFrame, by: list[str]) -> list[str]:
    """The median of the network's training loss at the end of every row's runs; a dash for K = ∞, which trains none.

    Runs that stop once they fit need not have trained as far for every K: this says how far.
    """
    medians = runs.groupby(by, dropna=False)["network_train_loss"].median().reset_index()
    found = table[by].merge(medians, on=by, how="left")
    pairs = zip(found["K"], found["network_train_loss"], strict=True)
    return ["–" if math.isinf(K) or pd.isna(loss) else f"{loss:.1e}" for K, loss in pairs]


def diverging_columns(table: pd.DataFrame) -> dict[str, list[str]]:
    """The share of runs that diverged, in percent with its interval, and the accuracy at the end of the others."""
    shares = zip(*(100 * table[name] for name in ("share", "share_low", "share_high")), strict=True)
    return {
        "share": [f"{share:.0f} [{low:.0f}, {high:.0f}]" for share, low, high in shares],
        "at the end": ["–" if pd.isna(value) else f"{100 * value:.1f}" for value in table["median_network_final"]],
    }


def phase_columns(table: pd.DataFrame) -> dict[str, list[str]]:
    """How well lazy problems were solved; dashes for K = 1, which has none."""
    formats = {
        "phases": ("median_phases", "{:g}"),
        "ends recorded": ("recorded", "{:.0%}"),
        "certificate, median": ("certificate_median", "{:.1e}"),
        "certificate, largest": ("certificate_largest", "{:.1e}"),
        "proxy, training": ("proxy_train_accuracy_lowest", "{:.1%}"),
    }
    return {
        title: ["–" if pd.isna(value) else text.format(value) for value in table[name]]
        for title, (name, text) in formats.items()
    }


def plain_cell(text: str) -> str:
    """Without what would end a cell of a table in Markdown."""
    return text.replace("|", r"\|")


def markdown_table(rows: pd.DataFrame) -> str:
    """The table, its first column to the left and the others to the right."""
    return rows.to_markdown(index=False, disable_numparse=True, colalign=("left", *("right",) * (rows.shape[1] - 1)))
