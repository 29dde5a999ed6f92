"""The code that the docs show does what they say."""

import itertools
import json
import re
import sys
from importlib import import_module

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from iterlin import cross_entropy
from iterlin_lab.experiments import EXPERIMENTS
from tests.clone import ROOT, run_in


def run(page):
    """What the code of a page makes, in the promotion of dtypes that users have."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    names = {}
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        exec("\n".join(blocks), names)
    return names


@pytest.fixture(scope="module")
def made():
    return run("docs/models.md")


def test_schedules_update_features_and_roll_phases_back():
    found = run("docs/when-to-update.md")
    adapted, guarded = found["adapted"].records, found["guarded"].records
    assert adapted[-1]["feature_updates"] > 0
    assert adapted[-1]["network_train_loss"] < adapted[0]["network_train_loss"]
    assert guarded[-1]["rolled_back"] > 0
    assert guarded[-1]["network_train_loss"] < guarded[0]["network_train_loss"]


def test_a_solver_and_a_schedule_of_one_s_own_halve_the_loss_in_every_phase():
    first, *_, last = run("docs/own-solver.md")["result"].records
    assert last["feature_updates"] >= 3
    assert last["network_train_loss"] < first["network_train_loss"] / 4


@pytest.mark.parametrize("name", ["normed", "dropped", "sequence"])
def test_every_kind_of_model_learns(made, name):
    records = made[name].records
    assert records[-1]["feature_updates"] == 4
    assert records[-1]["network_train_loss"] < 0.9 * records[0]["network_train_loss"]


def test_predictions_are_those_of_the_last_record(made):
    loss = cross_entropy(made["predicted"], made["data"]["train"][1])
    assert float(loss) == pytest.approx(made["normed"].records[-1]["network_train_loss"], rel=1e-12)
    assert jnp.shape(made["predicted"]) == (60, 2)


def test_the_drawing_of_the_stages_has_all_groups_and_edges_that_dvc_has():
    (drawing,) = re.findall(
        r"```mermaid\nflowchart LR\n(.*?)```", (ROOT / "docs/experiments.md").read_text(), re.DOTALL
    )
    drawn = set()
    for line in drawing.splitlines():
        groups = [group.split("&") for group in line.split("-->")]
        for sources, ends in itertools.pairwise(groups):
            drawn |= {(source.strip(), end.strip()) for source in sources for end in ends}
    dag = run_in(ROOT, "dvc", "dag", "--dot").stdout
    edges = {tuple(name.split("@")[0] for name in edge) for edge in re.findall(r'"([^"]+)" -> "([^"]+)"', dag)}
    assert drawn <= edges
    assert {name for edge in drawn for name in edge} == {name for edge in edges for name in edge}


def said_by(name, folder, then=""):
    """What a notebook prints, and what is added to it, where it is kept without outputs."""
    notebook = json.loads((ROOT / f"docs/notebooks/{name}.ipynb").read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    script = folder / "notebook.py"
    script.write_text("\n".join(["".join(cell["source"]) for cell in code] + [then]))
    return run_in(ROOT, sys.executable, str(script), MPLBACKEND="Agg", PYTHONWARNINGS="ignore:FigureCanvasAgg").stdout


def test_the_notebook_of_first_steps_finds_that_features_help(tmp_path):
    said = said_by("first_steps", tmp_path)
    found = re.findall(r"K = (\S+) +kernel cosine 0\.\d\d\n +test accuracy of the proxy (\d\d\.\d) %\n", said)
    assert [K for K, _ in found] == ["1", "100", "1000", "∞"]
    assert all(float(accuracy) > float(found[-1][1]) + 5 for _, accuracy in found[:-1])


def test_the_notebook_of_results_computes_what_the_report_has(tmp_path):
    shown = "print(pd.DataFrame({'mean': difference.mean(), 'half': half}).to_json())"
    found = json.loads(said_by("results", tmp_path, shown))
    table = pd.read_csv(ROOT / "reports/laptop/tables/k_sweep.csv")
    table = table[(table["K"] > 1) & np.isfinite(table["K"])]
    assert list(found["mean"].values()) == pytest.approx(100 * table["difference_mean"].to_numpy(), rel=1e-4)
    half = table["difference_high"] - table["difference_mean"]
    assert list(found["half"].values()) == pytest.approx(100 * half.to_numpy(), rel=1e-4)


def test_the_site_has_every_page():
    listed = re.findall(r"^[a-z_/-]+$", (ROOT / "docs/index.md").read_text(), re.MULTILINE)
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".ipynb")}
    there = {str(page.with_suffix("")) for page in pages} - {"index"} | {"generated/params"}
    assert sorted(listed) == sorted(there)


def test_the_page_on_params_has_every_key_with_its_bounds(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import_module("params_page").write(tmp_path / "params.md")
    sections = re.split(r"\n## ", (tmp_path / "params.md").read_text())[1:]
    keys = {section.split("`")[1]: section for section in sections}
    assert {f"scale.{name}" for name in (*EXPERIMENTS, "data", "training")} <= set(keys)
    assert "| `threads` | integer | ≥ 1, ≤ 256 |" in keys["scale"]
    assert "| `batch_size` | integer or null | ≥ 1, ≤ 2147483647 |" in keys["scale.training"]
    assert "| `stability` | number | > 0, < 2 |" in keys["scale.regime (stable)"]
