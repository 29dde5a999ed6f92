"""What `make repro` starts without asking, and what a busy machine does to the plan."""

import time

import jax.numpy as jnp
import pytest
from ruamel.yaml import YAML

from iterlin_lab.config import load
from iterlin_lab.dvc.status import LOCK_FILE, ran_before
from iterlin_lab.experiments.experiment import Cost
from iterlin_lab.planning import costs, plan, steps
from iterlin_lab.planning.bounds import Bounds
from iterlin_lab.runs.memory import Need
from tests.clone import ROOT


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    params = (ROOT / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(params)
    scale = YAML(typ="safe").load(params)["scale"]
    stages = {"stages": {f"report@{scale['name']}": {"params": {"params.yaml": {"scale": scale}}}}}
    with (tmp_path / LOCK_FILE).open("w") as file:
        YAML(typ="safe").dump(stages, file)
    return tmp_path


def test_the_same_parameters_were_run_before_and_others_were_not(folder):
    assert ran_before("laptop")
    assert not ran_before("paper")
    path = folder / "params.yaml"
    text = path.read_text()
    seed = f"    seed: {load(path).presets['laptop'].seed} "
    assert seed in text
    path.write_text(text.replace(seed, "    seed: 12345 "))
    assert not ran_before("laptop")
    path.write_text(text)
    (folder / LOCK_FILE).unlink()
    assert not ran_before("laptop")


def test_what_else_the_machine_does_is_not_in_the_estimate():
    def compute():
        time.sleep(0.5)  # as where another process has the processor
        return jnp.zeros(3)

    assert steps._seconds(compute) < 0.25


def test_the_programs_of_a_network_compile_before_its_first_step():
    networks, toy = (plan.Row("", [], Cost(1, 1, 1, 10, step=step), 0, {}) for step in (None, 0.1))
    assert plan._start(networks, {"compiling": 40.0}) - plan._start(toy, {"compiling": 40.0}) == 40.0


@pytest.mark.parametrize(("stage", "nets"), [("toy@smoke-xor", []), ("train@smoke-adam", ["lenet"])])
def test_only_networks_of_what_is_asked_for_are_measured(stage, nets, monkeypatch):
    costs, measured = dict.fromkeys(steps.Estimate._fields, 1.0), []
    monkeypatch.setattr(plan, "_need", lambda scale: Need(1, 0, 0, 0))
    monkeypatch.setattr(plan, "costs_of", lambda scale, net: measured.append(net["name"]) or costs)
    (row,) = plan.make_plan(load(ROOT / "params.yaml").presets["smoke"], [stage])
    assert row["cells"] == [stage]
    assert measured == nets


def test_hours_add_up():
    assert plan.hours([{"hours": Bounds(0.25, 1.0)}, {"hours": Bounds(1.5, 1.5)}]) == (1.75, 2.5)


@pytest.mark.parametrize(
    ("hours", "text"),
    [(0.5, "30 min"), (1.9, "114 min"), (30, "30 h"), (100, "4 days"), (2.4045061e9, "274,487 years")],
)
def test_times_are_in_units_that_people_use(hours, text):
    assert plan.in_units(hours) == text


def test_the_cost_of_a_step_is_forgotten_and_the_need_of_memory_is_not(folder):
    costs.ESTIMATES.mkdir(parents=True)
    for name in ("costs-1.json", "memory-1.json"):
        (costs.ESTIMATES / name).write_text("{}")
    costs.forget_costs()
    assert [path.name for path in costs.ESTIMATES.iterdir()] == ["memory-1.json"]
