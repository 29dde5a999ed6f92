import numpy as np
import pandas as pd
import pytest
from scipy import stats

from iterlin_lab.dvc.compare import differences, p_values
from iterlin_lab.files import whole_folder
from iterlin_lab.report.names import label, period_text, row_name
from iterlin_lab.report.tables import training_losses
from iterlin_lab.tables import ACCURACIES, by_period, mean_curves, read_cells, summarise
from iterlin_lab.tables.cells import write
from iterlin_lab.tables.summaries import interval


def test_the_interval_is_that_of_scipy_and_leaves_out_missing_values():
    values = np.random.default_rng(0).normal(0.8, 0.1, 9)
    low, high = stats.t.interval(0.95, 8, loc=values.mean(), scale=stats.sem(values))
    found = interval(pd.Series([*values, np.nan]))
    assert (found["low"], found["mean"], found["high"]) == pytest.approx((low, values.mean(), high))
    assert np.isnan(interval(pd.Series([np.nan]))["mean"])


def test_a_run_keeps_its_last_value_after_its_end():
    curves = pd.DataFrame(
        [(1.0, 0, 0, 1.0), (1.0, 0, 10, 3.0), (1.0, 1, 0, 1.0), (1.0, 1, 5, 2.0), (1.0, 1, 20, 7.0)],
        columns=["K", "run", "step", "loss"],
    )
    table = mean_curves(curves, ["K"]).set_index("step")["loss_mean"]
    assert table.to_dict() == {0: 1.0, 5: 1.5, 10: 2.5, 20: 5.0}


def runs(K, accuracies, outcomes):
    table = pd.DataFrame({"K": K, "run": range(len(accuracies)), "outcome": outcomes})
    return table.assign(
        last_phase_ended=True, steps=10, feature_updates=3, evaluations=10, **dict.fromkeys(ACCURACIES, accuracies)
    )


def test_differences_are_paired_by_run_and_outcomes_are_counted():
    reference = runs(1.0, [0.5, 0.7, 0.9], "fitted")
    other = runs(10.0, [0.6, 0.8, 1.0], ["fitted", "diverged", "step_limit"]).sample(frac=1, random_state=0)
    (row,) = summarise(other, reference, ["K"]).to_dict("records")
    assert (row["runs"], row["fitted"], row["diverged"], row["step_limit"]) == (3, 1, 1, 1)
    assert (row["difference_low"], row["difference_mean"]) == pytest.approx((0.1, 0.1))
    assert row["network_final_high"] > 0.9


def test_only_listed_cells_are_read_and_their_names_as_numbers(tmp_path):
    for name in ("1", "1e8", "100000000"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "runs.csv").write_text(f"run,steps\n0,{len(name)}\n")
    for spelling in ("1e8", "100000000"):
        table = read_cells(tmp_path, by_period([spelling, "1"]), "runs")
        assert table.to_dict("list") == {"K": [1e8, 1], "run": [0, 0], "steps": [len(spelling), 1]}


def test_numbers_that_rows_do_not_have_are_missing_and_make_a_group_of_their_own():
    by = ["method", "K", "tolerance"]
    cells = pd.DataFrame([("gradient", 1, np.nan), ("TGN", np.nan, 0.1), ("TGN", np.nan, 0.01)], columns=by)
    table = cells.merge(runs(1.0, [0.5, 0.7], "fitted").drop(columns="K"), how="cross")
    pd.testing.assert_frame_equal(summarise(table, table.iloc[:2], by)[by], cells)


def test_k_is_written_in_full_and_read_back(tmp_path):
    table = pd.DataFrame({"K": [1, 1234567, 1e8, np.inf, np.nan], "steps": 1234567.0})
    write(table, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text().split()[2] == "1234567,1.23457e+06"
    pd.testing.assert_series_equal(pd.read_csv(tmp_path / "table.csv")["K"], table["K"])


def test_one_k_has_one_name_however_it_is_spelt():
    for spellings, text in ((("1000", "1e3"), "1000"), (("100000000", "1e8"), "10⁸"), (("30000", "3e4"), "3·10⁴")):
        assert {period_text(cell["K"]) for cell in by_period(spellings).values()} == {text}
    assert [label(K) for K in (1, 12345, np.inf, np.nan)] == ["K = 1 (GD)", "K = 1.2345·10⁴", "K = ∞ (lazy)", "TGN"]
    row = {"method": "Adam", "n": 20, "K": 1e4, "damping": np.nan, "tolerance": 0.1, "outcome": "fitted"}
    assert row_name(row) == "Adam, n = 20, K = 10⁴, β = 0.1"
    assert row_name({"method": "gradient", "K": np.inf}) == "K = ∞"
    assert row_name({"method": "TGN", "K": np.nan}) == "TGN"


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "cell"
    with whole_folder(target) as folder:
        (folder / "old").touch()

    def fail_half_way():
        with whole_folder(target) as folder:
            (folder / "new").touch()
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        fail_half_way()
    assert [path.name for path in target.iterdir()] == ["old"]
    with whole_folder(target) as folder:
        (folder / "new").touch()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["new"]


def test_tables_are_compared_within_what_another_machine_may_change():
    old = pd.DataFrame({"K": [1, np.inf], "n": [20, 20], "runs": 10, "fitted": [10, 0], "median_steps": [100.0, 9.0]})
    old = old.assign(x_mean=[0.8, np.nan])
    near = old.assign(fitted=[9, 1], median_steps=[104.0, 9.0], x_mean=[0.8009, np.nan])
    assert differences(old, near) == []
    far = old.assign(fitted=[8, 0], median_steps=[130.0, 9.0], x_mean=[0.8, 0.1])
    assert differences(old, far) == [
        "1.0, 20, fitted: 10 committed, 8 recomputed",
        "1.0, 20, median_steps: 100 committed, 130 recomputed",
        "inf, 20, x_mean: nan committed, 0.1 recomputed",
    ]
    assert differences(old, old.head(1))[0].startswith("the rows or columns differ")
    solved = old.assign(K=[1, np.nan], method=["gradient", "TGN"])[["method", *old.columns]]
    assert differences(solved, solved.assign(fitted=[10, 5])) == ["TGN, nan, 20, fitted: 0 committed, 5 recomputed"]


def test_p_values_are_compared_by_their_distance_from_the_level():
    def row(p: float, q: float) -> dict:
        return {"p_for": p, "p_against": q, "verdict": "supported"}

    old = {"A": row(0.04, 1.0), "B": row(0.3, 0.9), "C": {"verdict": "not applicable"}}
    assert p_values(old, {"A": row(0.0409, 1.0), "B": row(0.28, 0.98), "C": row(0.5, 0.5)}) == []
    assert p_values(old, {"A": row(0.042, 0.9), "B": row(0.3, 0.81), "D": row(0.5, 0.5)}) == [
        "A, p_against: 1 committed, 0.9 recomputed",
        "A, p_for: 0.04 committed, 0.042 recomputed",
        "B, p_against: 0.9 committed, 0.81 recomputed",
    ]


def test_how_far_runs_have_trained_is_said_of_all_but_lazy_ones():
    rows = [
        ("gradient", 1.0, 0.1),
        ("gradient", 1.0, 0.2),
        ("gradient", 1.0, 0.4),
        ("gradient", np.inf, 9.0),
        ("TGN", np.nan, 3e-6),
    ]
    runs = pd.DataFrame(rows, columns=["method", "K", "network_train_loss"])
    diverged = pd.DataFrame({"method": ["gradient"], "K": [10.0], "network_train_loss": [np.nan]})
    table = pd.DataFrame({"method": ["TGN", *3 * ["gradient"]], "K": [np.nan, 10.0, np.inf, 1.0]})
    assert training_losses(table, pd.concat([runs, diverged]), ["method", "K"]) == ["3.0e-06", "–", "–", "2.0e-01"]
