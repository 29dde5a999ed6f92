"""The arithmetic behind `iterlin plan --device`."""

import math
import sys

import jax
import jax.numpy as jnp
import pytest

from iterlin_lab import commands
from iterlin_lab.config import ParamsError, load
from iterlin_lab.experiments import chosen
from iterlin_lab.experiments.experiment import Built
from iterlin_lab.planning import device_plan
from iterlin_lab.planning.devices import DEVICES
from iterlin_lab.planning.operations import count, products
from iterlin_lab.runs.recipes import make_recipe
from tests.clone import ROOT

PAPER = load(ROOT / "params.yaml").presets["paper"]
LENET = Built("net", PAPER.net.model_dump(), (32, 32, 3), 10)


def test_operations_of_the_papers_lenet_are_those_of_a_count_by_hand():
    first = 2 * 28 * 28 * 50 * (5 * 5 * 3)
    rest = 2 * (10 * 10 * 50 * (5 * 5 * 50) + 1250 * 120 + 120 * 84 + 84 * 10)
    found = count(LENET)
    assert found.forward == first + rest
    assert found.plain == 2 * first + 3 * rest  # the first layer has no derivative in its inputs
    assert found.linearised == 3 * first + 5 * rest
    assert found.hoisted == 2 * first + 4 * rest
    # XLA counts 13.0 and 21.2 GFLOP at batch 256, with what lies between the products.
    assert 256 * found.plain == pytest.approx(13.0e9, rel=0.02)
    assert 256 * found.linearised == pytest.approx(21.2e9, rel=0.02)


def test_convolutions_and_loops_are_counted():
    x, w = jnp.zeros((1, 8, 8, 3)), jnp.zeros((5, 5, 3, 7))

    def convolve(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loop(x, w):
        return jax.lax.fori_loop(0, 3, lambda _, total: total + convolve(x, w), jnp.zeros((1, 4, 4, 7)))

    once = 2 * 4 * 4 * 7 * 5 * 5 * 3
    assert products(jax.make_jaxpr(convolve)(x, w).jaxpr) == once
    assert products(jax.make_jaxpr(jax.jit(loop))(x, w).jaxpr) == 3 * once


def test_the_papers_preset_likely_takes_a_tenth_of_the_papers_hours_on_an_h100():
    found = device_plan.slices(PAPER, DEVICES["h100"])
    assert {one.name for one in found} == {one.name for one in chosen(PAPER)}
    times = [one.seconds.likely for one in found]
    assert times == sorted(times)
    assert min(times) > 0
    assert all(one.seconds.most >= one.seconds.likely for one in found)
    assert sum(times) <= 100 * 3600
    text = device_plan.table(found, DEVICES["h100"])
    assert "not run on such a device" in text
    assert "1500 GPU-hours" in text
    last = next(line for line in text.splitlines() if line.startswith("all"))
    assert last.split()[-4:-2] == [f"{sum(times) / 3600:.1f}", "h"]


def recipe(period, solver="flow", num_steps=10**8):
    values = {"flow": {"name": "flow", "tolerance": 0.1}, "gradient_descent": {"name": "gradient_descent"}}[solver]
    return make_recipe(
        PAPER, 0, solver=values, learning_rate=1e-5, num_steps=num_steps, first_record=100, period=period
    )


def test_a_flow_of_many_short_phases_is_not_planned_as_one_of_a_few_long_ones():
    few = device_plan.evaluations(recipe(10**8))
    assert few == device_plan.evaluations(recipe(1)) == device_plan.evaluations(recipe(math.inf))
    many = device_plan.evaluations(recipe(10))
    assert many.most == 4 * 10**7
    assert many.likely == pytest.approx(4 * 10**6)
    assert device_plan.evaluations(recipe(10, "gradient_descent")) == (10**8, 10**8)


def test_a_step_that_moves_more_than_it_computes_takes_the_time_of_the_memory():
    of_step = {}
    for name in ("h100", "h200"):  # which differ in memory alone
        for precision in ("float32", "bfloat16"):
            scale = PAPER.model_copy(update={"precision": precision})
            step = device_plan.Step(scale, DEVICES[name], "cifar10", count)
            of_step[name, precision] = step.gradient(LENET.net, 256, lazy=True, fixed=False)
    computed = 256 * count(LENET).linearised / (0.25 * 67e12)
    assert of_step["h100", "float32"] == of_step["h200", "float32"] == pytest.approx(computed)
    assert of_step["h100", "bfloat16"] / of_step["h200", "bfloat16"] == pytest.approx(4.8 / 3.35)


def test_what_a_phase_can_keep_is_computed_once():
    step = device_plan.Step(PAPER, DEVICES["h100"], "cifar10", count)
    few, found = 1000, count(LENET)
    card = step._replace(device=DEVICES["rtx3090"])
    kept, again = (step.gradient(LENET.net, few, lazy=True, fixed=fixed) for fixed in (True, False))
    assert kept / again == pytest.approx(found.hoisted / found.linearised)
    assert step.gradient(LENET.net, 45000, lazy=True, fixed=True) == pytest.approx(45 * kept)
    kept, again = (card.gradient(LENET.net, 45000, lazy=True, fixed=fixed) for fixed in (True, False))
    assert kept == again  # does not fit


def test_an_unknown_device_is_one_line(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["iterlin", "plan", "--device", "tpu"])
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(commands, "repair_files", lambda: None)
    with pytest.raises(SystemExit, match=r"^there is no device 'tpu', but h100, h200, a100, rtx3090$"):
        commands.main()


@pytest.mark.parametrize(
    ("section", "key"), [("batches", "ratio"), ("kernel_limit", "dimension"), ("k_sweep", "num_seeds")]
)
@pytest.mark.parametrize("digits", [20, 400])
def test_a_number_out_of_proportion_is_one_line_that_names_its_key(tmp_path, section, key, digits):
    path = tmp_path / "params.yaml"
    own = f"scale:\n  <<: *smoke\n  {section}: {{<<: *smoke-{section}, {key}: {'9' * digits}}}\n"
    path.write_text((ROOT / "params.yaml").read_text().split("\nscale:")[0] + "\n" + own)
    with pytest.raises(ParamsError, match=rf"^.*params\.yaml: scale\.{section}\.{key}: [^\n]*$"):
        load(path)
