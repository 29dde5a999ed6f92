"""What `dvc plots show` draws: tables with the colours of the figures in them."""

import pandas as pd
from matplotlib.colors import to_hex

from iterlin_lab.figures.style import colour
from iterlin_lab.report.names import label

PARTS = ("mean", "low", "high")


def coloured(table: pd.DataFrame, quantity: str, *columns: str) -> pd.DataFrame:
    """Mean and interval of one quantity, with what each K is called and its colour in all figures."""
    new = pd.DataFrame({"label": map(label, table["K"]), "colour": [to_hex(colour(K)) for K in table["K"]]})
    for name in columns:
        new[name] = table[name].to_numpy()
    for part in PARTS:
        new[part] = table[f"{quantity}_{part}"].to_numpy()
    return new
