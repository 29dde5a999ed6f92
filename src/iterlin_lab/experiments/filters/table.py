"""The tables of E-FILTER and B-NTK."""

import numpy as np
import pandas as pd

from iterlin_lab.experiments.augmentation.settings import compared
from iterlin_lab.experiments.augmentation.table import trained
from iterlin_lab.experiments.filters.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.settings import parse_period
from iterlin_lab.tables import groups, mean_curves
from iterlin_lab.tables.summaries import interval, intervals

MOST_SIMILAR = ("fraction", "similarity", "null_largest", "size", "closest_fraction", "closest_distance")
MOST_SIMILAR += ("similarity_final", "size_final")


def tables(scale: Scope, layout: Layout) -> dict[str, pd.DataFrame]:
    """The filters to draw, their similarity along training and where it is largest; kernels along training and runs."""
    folder = layout.results / "filters"
    drawn, similarity, kernels = (
        pd.read_csv(folder / f"{name}.csv", dtype={"cell": float}).rename(columns={"cell": "K"})
        for name in ("filters", "similarity", "kernels")
    )
    runs = trained(scale, layout)[0][["K", "run", "outcome", "late_gain"]]
    runs = runs[runs["K"].isin([*map(parse_period, compared(scale.augmentation))])]
    similarity = with_distances(similarity).assign(
        K=runs["K"].max(), fraction=similarity["step"] / scale.augmentation.num_steps
    )
    ends = kernels.groupby(["K", "run"], sort=False).tail(1).drop(columns="step")
    runs = runs.merge(ends, how="left", on=["K", "run"])
    runs = runs.merge(most_similar(similarity), how="left", on=["K", "run"])
    return {
        "filters_drawn": drawn,
        "filters": _most_similar_on_average(runs[runs["K"] == runs["K"].max()]),
        "filters_similarity": mean_curves(similarity, ["K"]),
        "filters_runs": runs,
        "kernels": _at_the_end(runs, [name for name in ends.columns if name not in ("K", "run")]),
        "kernels_curves": mean_curves(kernels, ["K"]),
    }


def with_distances(similarity: pd.DataFrame) -> pd.DataFrame:
    """Also ‖a − b‖/‖b‖ of the two changes a and b, from their cosine and ‖a‖/‖b‖, their `size`."""
    squared = 1 + similarity["size"] ** 2 - 2 * similarity["size"] * similarity["similarity"]
    return similarity.assign(distance=np.sqrt(squared.clip(lower=0)))


def most_similar(similarity: pd.DataFrame) -> pd.DataFrame:
    """Per K and run, the row with the largest similarity.

    With `similarity_final` and `size_final` of its last row, and `closest_fraction` and `closest_distance` of the one
    with the smallest distance, which the lengths of the changes enter too.
    """
    known = similarity.dropna()
    groups = known.groupby(["K", "run"], sort=False)
    found = known.loc[groups["similarity"].idxmax()].set_index(["K", "run"])
    ends = groups[["similarity", "size"]].last().add_suffix("_final")
    closest = known.loc[groups["distance"].idxmin()].set_index(["K", "run"])[["fraction", "distance"]]
    return found.join(ends).join(closest.add_prefix("closest_"))[list(MOST_SIMILAR)].reset_index()


def _most_similar_on_average(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a quantity: mean and interval over runs."""
    return pd.DataFrame({"K": runs["K"].iloc[0], "quantity": name} | interval(runs[name]) for name in MOST_SIMILAR)


def _at_the_end(runs: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """A row a K: its runs, and means and intervals of what is known at the ends of runs that did not diverge."""
    rows = []
    for row, group in groups(runs, ["K"]):
        ended = group["outcome"] != "diverged"
        row |= {"runs": len(group), "diverged": int(np.sum(~ended))}
        rows.append(row | intervals(group[ended], *names))
    return pd.DataFrame(rows)
