"""The table of B-FLOW."""

import pandas as pd

from iterlin_lab.experiments.flow_check.settings import Scope
from iterlin_lab.layout import Layout


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """How far each flow is from the steps that it stands for."""
    return {"flow_check": flow_errors(pd.read_csv(layout.results / "flow_check" / "errors.csv"))}


def flow_errors(check: pd.DataFrame) -> pd.DataFrame:
    """Per model, learning rate and tolerance: mean evaluations, and the largest error over runs."""
    groups = check.groupby(["model", "learning_rate", "steps", "tolerance"], sort=False)
    largest = groups[["error", "error_of_steps", "error_estimate", "eta_lambda_max"]].max()
    return pd.concat([groups["evaluations"].mean(), largest], axis=1).reset_index()
