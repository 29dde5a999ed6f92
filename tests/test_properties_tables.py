"""Splits of any sizes, and tables over runs of which any may be missing."""

import jax
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterlin_lab.runs.splits import draw_splits
from iterlin_lab.tables import ACCURACIES, mean_curves, summarise
from iterlin_lab.tables.summaries import interval

SIZES = st.integers(1, 4)
PIXELS = st.sampled_from(["all the same", "different", "bytes"])


def data(number, num_test, pixels, num_classes):
    """Images of 2×2 pixels, whose labels need not have all classes."""
    images = np.random.default_rng(0).integers(0, 256, (number, 2, 2, 1), np.uint8)
    if pixels != "bytes":
        images = images.astype(np.float64) if pixels == "different" else np.full(images.shape, 3.0)
    labels = np.arange(number, dtype=np.int32) % num_classes
    return {"images": images, "labels": labels, "official_test": np.arange(number) >= number - num_test}


@given(SIZES, SIZES, SIZES, st.integers(0, 4), st.integers(0, 4), PIXELS, st.integers(1, 3))
def test_splits_are_disjoint_and_standardised_at_any_size(train, validation, test, more, num_test, pixels, classes):
    sizes = {"train": train, "validation": validation, "test": test}
    found = data(train + validation + test + more, num_test, pixels, classes)
    found["labels"] = np.arange(len(found["labels"]), dtype=np.int32)  # which tell the examples
    rest = len(found["labels"]) - num_test
    if train + validation > rest or (num_test and test > num_test):
        with pytest.raises(ValueError, match="are more than the"):
            draw_splits(found, sizes, jax.random.key(0))
        return
    splits, (mean, deviation) = draw_splits(found, sizes, jax.random.key(0))
    assert (
        {name: len(y) for name, (_, y) in splits.items()} == {name: len(x) for name, (x, _) in splits.items()} == sizes
    )
    chosen = np.concatenate([y for _, y in splits.values()])
    assert len(set(chosen.tolist())) == sum(sizes.values())
    assert not num_test or min(splits["test"][1]) >= rest > max(splits["train"][1])
    x = np.asarray(splits["train"][0])
    assert all(np.isfinite(x).all() for x, _ in splits.values())
    assert abs(x.mean()) < 1e-6
    assert deviation > 0
    assert x.std() == pytest.approx(0 if pixels == "all the same" else 1, rel=1e-5)
    np.testing.assert_allclose(x * deviation + mean, found["images"][np.asarray(splits["train"][1])], atol=1e-4)


VALUES = st.floats(0, 1) | st.just(np.nan)
OUTCOMES = st.sampled_from(["fitted", "step_limit", "diverged"])
RUN = st.tuples(OUTCOMES, VALUES, st.floats(0, 1e12), st.booleans())


def runs(cells):
    """The table `runs` of these cells."""
    rows = [
        {"K": K, "run": run, "outcome": outcome, "steps": steps, "feature_updates": 1, "evaluations": steps}
        | {"last_phase_ended": ended, "eta_lambda_max": value}
        | dict.fromkeys(ACCURACIES, np.nan if outcome == "diverged" else value)
        for K, group in cells.items()
        for run, (outcome, value, steps, ended) in enumerate(group)
    ]
    return pd.DataFrame(rows)


@given(st.dictionaries(st.sampled_from([1.0, 10.0, np.inf]), st.lists(RUN, min_size=1, max_size=4), min_size=1))
def test_every_cell_has_its_row_whatever_its_runs_are(cells):
    table = runs(cells)
    summary = summarise(table, table[table["K"] == 1], ["K"])
    assert summary["K"].tolist() == list(cells)
    assert summary["runs"].tolist() == [len(group) for group in cells.values()]
    assert (summary[["fitted", "step_limit", "diverged"]].sum(axis=1) == summary["runs"]).all()
    for _, row in summary.iterrows():
        values = table.loc[table["K"] == row["K"], ACCURACIES[0]].dropna()
        assert np.isnan(row[f"{ACCURACIES[0]}_mean"]) == (len(values) == 0)
        assert np.isnan(row[f"{ACCURACIES[0]}_low"]) == (len(values) < 2)
        if 1 not in cells:
            assert np.isnan(row["difference_mean"])


@given(st.lists(VALUES | st.just(np.inf), max_size=5))
def test_an_interval_holds_its_mean_or_is_missing(values):
    found = interval(pd.Series(values, dtype=float))
    assert set(found) == {"mean", "low", "high"}
    if np.isfinite(found["low"]):
        assert found["low"] <= found["mean"] <= found["high"]


RECORDS = st.lists(st.floats(-1e9, 1e9) | st.sampled_from([np.nan, np.inf]), min_size=1, max_size=4)


@given(st.dictionaries(st.sampled_from([1.0, np.inf]), st.lists(RECORDS, min_size=1, max_size=3), min_size=1))
def test_mean_curves_have_every_step_whatever_was_recorded(cells):
    rows = [
        {"K": K, "run": run, "step": step, "phase_step": 0, "loss": value, "accuracy": 0.5}
        for K, group in cells.items()
        for run, values in enumerate(group)
        for step, value in enumerate(values)
    ]
    table = mean_curves(pd.DataFrame(rows), ["K"])
    assert table["K"].drop_duplicates().tolist() == list(cells)
    for K, group in cells.items():
        curve = table[table["K"] == K]
        assert curve["step"].tolist() == list(range(max(map(len, group))))
        assert (curve["accuracy_mean"] == 0.5).all()
