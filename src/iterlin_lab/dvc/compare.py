"""Whether recomputed tables are the committed ones, within what another machine's arithmetic may change."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from iterlin_lab.claims.verdicts import LEVEL
from iterlin_lab.dvc.asked import Asked
from iterlin_lab.dvc.status import status
from iterlin_lab.dvc.verdicts import changed, committed, read
from iterlin_lab.experiments import chosen
from iterlin_lab.layout import Layout

# Absolute for accuracies and errors, in shares, for exponents and numbers of runs; relative for numbers of steps.
# In float64 mean accuracies differed by 0.0005 at most between two processors (docs/validity.md).
ACCURACY, RUNS, STEPS = 0.001, 1, 0.05
P_VALUES = 0.1  # of their distance from the level


def tables(scale: Any) -> list[Path]:
    """The tables that are compared."""
    names = [name for experiment in chosen(scale) for name in experiment.compared]
    return [Layout(scale.name).tables / f"{name}.csv" for name in names]


def stale_stages() -> list[str]:
    """Stages whose code, parameters or inputs have changed since their last run; a missing output is not stale."""
    with Asked() as dvc:
        found = status(dvc)
    return [stage for stage, changes in found.items() if any(_is_change(change) for change in changes)]


def _is_change(change: str | dict) -> bool:
    if isinstance(change, str):
        return True
    return any(state != "deleted" for states in change.values() for state in _states(states))


def _states(states: dict | str) -> list[str]:
    return [states] if isinstance(states, str) else [s for value in states.values() for s in _states(value)]


def changes(scale: Any) -> list[str]:
    """Where tables, p-values and verdicts differ from the committed ones, a line a place."""
    lines = []
    for path in tables(scale):
        old, new = pd.read_csv(io.StringIO(_committed(path))), pd.read_csv(path)
        lines += [f"{path}: {line}" for line in differences(old, new)]
    path = Layout(scale.name).evidence
    found = p_values(json.loads(_committed(path)), json.loads(path.read_text()))
    lines += [f"{path}: {line}" for line in found]
    path = Layout(scale.name).claims
    found = changed(read(_committed(path)), read(path.read_text()))
    return lines + [f"{path}: {line}" for line in found]


def _committed(path: Path) -> str:
    """**Raises**: `SystemExit` with one line if it is not in the last commit."""
    text = committed(path)
    if text is None:
        sys.exit(f"{path} is not in the last commit, so there is nothing to compare with")
    return text


def differences(old: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """Where two tables differ by more than the tolerance, a line a place."""
    rows, others = _rows(old), _rows(new)
    if rows != others or set(old.columns) != set(new.columns):
        return [f"the rows or columns differ: {rows} against {others}"]
    lines = []
    for column in old.columns[old.columns.get_loc("runs") :]:
        a, b = old[column].to_numpy(float), new[column].to_numpy(float)
        if column.startswith("median_"):
            tolerance = STEPS * np.abs(a)
        else:
            tolerance = ACCURACY if column.endswith(("_mean", "_low", "_high")) else RUNS
        wrong = ~((np.abs(a - b) <= tolerance) | (np.isnan(a) & np.isnan(b)))
        lines += [f"{rows[i]}, {column}: {a[i]:g} committed, {b[i]:g} recomputed" for i in np.flatnonzero(wrong)]
    return lines


def p_values(old: dict[str, dict], new: dict[str, dict]) -> list[str]:
    """Where p-values, corrected in their families, differ by more than the tolerance, a line a place."""
    lines = []
    for claim in old.keys() & new.keys():
        for side in old[claim].keys() & new[claim].keys() & {"p_for", "p_against"}:
            a, b = old[claim][side], new[claim][side]
            if abs(a - b) > P_VALUES * abs(a - LEVEL):
                lines.append(f"{claim}, {side}: {a:g} committed, {b:g} recomputed")
    return sorted(lines)


def _rows(table: pd.DataFrame) -> list[str]:
    """What the rows are of, which stands before their numbers of runs."""
    named = table.iloc[:, : table.columns.get_loc("runs")]
    return named.map(str).agg(", ".join, axis=1).tolist()  # a number that a row does not have is "nan"
