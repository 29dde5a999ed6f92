"""Between folders, which are called as params.yaml spells their numbers, and the rows of tables, which have these."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from iterlin_lab.runs.results import read_cells as read_folders
from iterlin_lab.settings import parse_period

Cells = Mapping[str, Mapping[str, Any]]  # what the runs in a folder are of, by its name


def by_period(labels: Iterable[str], prefix: str = "", **others: Any) -> Cells:
    """The folders of these K."""
    return {prefix + label: {**others, "K": float(parse_period(label))} for label in labels}


def read_cells(folder: Path, cells: Cells, table: str) -> pd.DataFrame:
    """`curves` or `runs` of these cells, in their order, with what they are of in the first columns."""
    found = read_folders(folder, list(cells), table)
    rows = pd.DataFrame([cells[name] for name in found["cell"]])
    return pd.concat([rows, found.drop(columns="cell")], axis=1)


def groups(table: pd.DataFrame, by: list[str]) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """What the rows of each group are of, and these, in the order of the table; numbers may be missing."""
    for key, rows in table.groupby(by, sort=False, dropna=False):
        yield dict(zip(by, key, strict=True)), rows


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, with six digits, and K in full."""
    if "K" in table:
        table = table.assign(K=table["K"].map("{:.10g}".format, na_action="ignore"))
    table.to_csv(path, index=False, float_format="%.6g")
