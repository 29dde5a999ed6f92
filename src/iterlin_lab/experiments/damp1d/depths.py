"""Which rows of its tables are of which network."""

import pandas as pd


def deepest(rows: pd.DataFrame) -> pd.DataFrame:
    """Those of the experiment's own network: the other one has fewer layers."""
    return rows[rows["depth"] == rows["depth"].max()]
