"""Every impossible value in params.yaml is one line that names its key."""

from typing import get_args

import pytest
from ruamel.yaml import YAML

from iterlin_lab.config import ParamsError, load
from iterlin_lab.settings import parse_period
from tests.clone import ROOT, Clone

yaml = YAML(typ="safe")


def changed(tmp_path, key, value):
    """A copy of params.yaml with one value of `scale` set, or removed if it is `...`."""
    params = yaml.load(ROOT / "params.yaml")
    *path, last = key.split(".")
    scale = params["scale"] = {**params["scale"]}
    for name in path:
        scale[name] = {**scale[name]}
        scale = scale[name]
    if value is ...:
        del scale[last]
    else:
        scale[last] = value
    with (tmp_path / "params.yaml").open("w") as file:
        yaml.dump(params, file)
    return tmp_path / "params.yaml"


def test_the_committed_parameters_are_valid():
    params = load(ROOT / "params.yaml")
    assert params.scale == params.presets["laptop"]
    assert {name: preset.name for name, preset in params.presets.items()} == {name: name for name in params.presets}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("k_sweep.periods", ["1", "0"], "scale.k_sweep.periods.1: K must be a whole number of at least 1"),
        ("k_sweep.periods", ["1", -1], "scale.k_sweep.periods.1: K must be a whole number of at least 1"),
        ("k_sweep.periods", ["1", 1.5], "scale.k_sweep.periods.1: K must be a whole number of at least 1"),
        ("k_sweep.periods", ["1", "1; ls"], "scale.k_sweep.periods.1: K must be a whole number of at least 1"),
        ("k_sweep.periods", ["1e0", "10"], "scale.k_sweep.periods.0: K must be a whole number of at least 1"),
        ("k_sweep.periods", ["1", "1e10"], "scale.k_sweep.periods.1: K must be below 2147483647"),
        ("mnist.periods", ["1", "100000000", "1e8"], "scale.mnist.periods: two entries are the same number"),
        ("k_sweep.periods", ["1", "100", "1e2"], "scale.k_sweep.periods: two entries are the same number"),
        ("k_sweep.periods", [], "scale.k_sweep.periods: List should have at least 1 item"),
        ("k_sweep.periods", "1", "scale.k_sweep.periods: Input should be a valid list, got '1'"),
        ("k_sweep.periods", ["10"], 'k_sweep.periods must contain "1"'),
        ("k_sweep.periods", ["1", "inf"], 'k_sweep.periods must contain a finite K besides "1"'),
        ("k_sweep.num_steps", 2**53, "scale.k_sweep.num_steps: Input should be less than 9007199254740992"),
        ("precision", "float32", "k_sweep.num_steps must be below 2147483647 where precision is not float64"),
        ("k_sweep.seeds", 3, "scale.k_sweep.seeds: Extra inputs are not permitted"),
        ("k_sweep.num_seeds", 1, "scale.k_sweep.num_seeds: Input should be greater than or equal to 2, got 1"),
        ("k_sweep.num_seeds", "ten", "scale.k_sweep.num_seeds: Input should be a valid integer, got 'ten'"),
        ("k_sweep.num_seeds", ..., "scale.k_sweep.num_seeds: Field required"),
        ("sensitivity.periods", ["1", "7"], 'sensitivity.periods must contain "1" and be among k_sweep.periods'),
        ("sensitivity.variants", ["-1"], "scale.sensitivity.variants.0: a factor must be a positive decimal number"),
        ("sensitivity.variants", ["pytorh"], "variants.0: a factor must be a positive decimal number"),
        ("sensitivity.variants", ["1"], 'sensitivity.variants must not contain "1"'),
        ("sensitivity.variants", ["1.0"], 'sensitivity.variants must not contain "1"'),
        ("sensitivity.variants", ["he_normal"], "or the initialisation of net: that is the sweep itself"),
        ("xor", ..., "scale: experiments: xor has no section of that name in this preset"),
        ("stability.learning_rates", [0.1, 0.3], "must contain ten times the smallest of them: W compares the two"),
        ("stability.batch_size", 151, "stability.batch_size is 151, more than data.num_train, which is 150"),
        ("sensitivity.num_seeds", 21, "sensitivity.num_seeds must not exceed k_sweep.num_seeds"),
        (
            "regime",
            {"rule": "fixed", "learning_rate": 0.0},
            "scale.regime.learning_rate: Input should be greater than 0",
        ),
        ("regime", {"rule": "tuned"}, "scale.regime: Input tag 'tuned' found using 'rule' does not match"),
        ("k_sweep.solver.tolerance", 0.0, "scale.k_sweep.solver.tolerance: Input should be greater than 0, got 0.0"),
        ("k_sweep.solver.name", "euler", "scale.k_sweep.solver: Input tag 'euler' found using 'name' does not match"),
        ("training.batch_size", 50, "training.batch_size must be null: k_sweep.solver flow needs full batches"),
        ("flow_check.learning_rates", [], "scale.flow_check.learning_rates: List should have at least 1 item"),
        ("flow_check.tolerances", [1.0], "scale.flow_check.tolerances.0: Input should be less than 1, got 1.0"),
        ("damp1d.dampings", [1e-3, -1.0, 1.0], "scale.damp1d.dampings.1: Input should be greater than 0, got -1.0"),
        ("damp1d.dampings", [1e-3, 1e-2, 1e-3], "scale.damp1d.dampings: two entries are the same number in"),
        ("damp1d.step_sizes", [1.0], "scale.damp1d.step_sizes.0: Input should be less than 1, got 1.0"),
        ("damp1d.drawn", [0.5], "scale.damp1d: drawn must be among dampings, got [0.5]"),
        ("damp1d.shallower.depth", 5, "scale.damp1d: shallower.depth must be below net.depth = 5, got 5"),
        ("damp1d.num_drawn", 999, "scale.damp1d: num_drawn is 999, but there are only 200 seeds"),
        ("flow_check.num_seeds", 21, "flow_check.num_seeds must not exceed k_sweep.num_seeds"),
        (
            "regime",
            {"rule": "stable", "stability": 2.0, "num_seeds": 3},
            "stability: Input should be less than 2, got 2.0",
        ),
        ("tgn_baseline.solver.name", "flow", "tgn_baseline.solver: Input tag 'flow' found using 'name'"),
        ("tgn_baseline.solver.tolerance", 1.0, "tgn_baseline.solver.tolerance: Input should be less than 1"),
        ("adam.solved.period", "1", 'scale.adam.solved.period: must be finite and above "1"'),
        ("adam.solved.period", "inf", 'scale.adam.solved.period: must be finite and above "1"'),
        ("adam.solved.period", "1e4", "solved.num_steps is 10000, not even two phases of solved.period"),
        (
            "adam.records_per_decade",
            6,
            "up to step 10000 the ends of phases of 1000 steps are recorded with 22 or more",
        ),
        ("adam.truncated.tolerances", ["1"], "scale.adam.truncated.tolerances.0: a tolerance must lie between 0 and 1"),
        ("adam.truncated.tolerances", ["0"], "scale.adam.truncated.tolerances.0: a tolerance must lie between 0 and 1"),
        ("adam.truncated.tolerances", ["0.1", "1e-1"], "adam.truncated.tolerances: two entries are the same number"),
        ("adam.gradient.learning_rates", [0.0], "scale.adam.gradient.learning_rates.0: Input should be greater than 0"),
        ("adam.descent.learning_rates", [], "scale.adam.descent.learning_rates: List should have at least 1 item"),
        (
            "adam.descent.learning_rates",
            [0.1, 0.1000000001],
            "scale.adam.descent.learning_rates: two entries have the same first six digits in [0.1, 0.1000000001]",
        ),
        ("adapt.periods", ["1", "10"], 'adapt.periods must contain two finite K besides "1"'),
        ("adapt.reference", "7", 'adapt.reference must be one of adapt.periods, finite and not "1"'),
        ("adapt.reference", "1", 'adapt.reference must be one of adapt.periods, finite and not "1"'),
        ("adapt.num_steps", 2**31, "scale.adapt.num_steps: Input should be less than 2147483647"),
        ("adapt.schedules", {}, "scale.adapt.schedules: Dictionary should have at least 1 item"),
        (
            "adapt.schedules.error.bound",
            0.0,
            "adapt.schedules.error.linearisation_error.bound: Input should be greater",
        ),
        ("adapt.schedules.error.name", "never", "scale.adapt.schedules.error: Input tag 'never' found using 'name'"),
        ("adapt.schedules.growing.most", 1, "adapt.schedules.growing.most must be at least first, which is 10000"),
        ("adapt.schedules.growing.factor", 0.5, "adapt.schedules.growing.factor must be at least 1, got 0.5"),
        ("adapt.schedules.kernel.num_probes", 1, "adapt.schedules.kernel.num_probes must be at least 2, got 1"),
        (
            "adapt.schedules",
            {"1e5": {"name": "drawn", "least": 1, "most": 2}},
            "adapt.schedules must have other names than '1e5', which another cell has",
        ),
        ("tgn_baseline.num_seeds", 21, "tgn_baseline.num_seeds must not exceed k_sweep.num_seeds"),
        ("adam.num_seeds", 21, "adam.num_seeds must not exceed k_sweep.num_seeds: the same runs are compared"),
        ("damp_ce.dampings", ["-1"], "scale.damp_ce.dampings.0: must be a number of at least 0 in quotes"),
        ("damp_ce.dampings", ["1", "../x"], "scale.damp_ce.dampings.1: must be a number of at least 0 in quotes"),
        ("damp_ce.dampings", [0.1], "scale.damp_ce.dampings.0: Input should be a valid string, got 0.1"),
        ("damp_ce.dampings", ["1", "1.0"], "scale.damp_ce.dampings: two entries are the same number"),
        (
            "damp_ce.dampings",
            ["1e-1", "1"],
            'scale.damp_ce: dampings must contain "0": what damping in some phases does',
        ),
        ("damp_ce.switch.damping", "2", "scale.damp_ce: switch.damping must be one of dampings, and above 0, got '2'"),
        ("damp_ce.switch.damping", "0", "scale.damp_ce: switch.damping must be one of dampings, and above 0, got '0'"),
        ("damp_ce.switch.after", 0, "scale.damp_ce.switch.after: Input should be greater than or equal to 1, got 0"),
        ("damp_ce.solver.tolerance", 1.0, "scale.damp_ce.solver.tolerance: Input should be less than 1, got 1.0"),
        ("damp_ce.solver.name", "sgd", "scale.damp_ce.solver: Input tag 'sgd' found using 'name' does not match"),
        ("damp_ce.num_seeds", 21, "damp_ce.num_seeds must not exceed k_sweep.num_seeds: the same runs are compared"),
        ("k_sweep.num_steps", 0, "scale.k_sweep.num_steps: Input should be greater than or equal to 1, got 0"),
        ("training.batch_size", 151, "training.batch_size is 151, more than data.num_train, which is 150"),
        ("data.num_train", 1000, "is 2647, but digits has 1797 examples for that"),
        ("data.name", "imagenet", "scale.data.name: there is no data set 'imagenet', but cifar10, digits, mnist"),
        ("data", {"name": "mnist", "num_train": 59_000, "num_validation": 1001, "num_test": 9}, "has 60000 examples"),
        ("data", {"name": "mnist", "num_train": 9, "num_validation": 9, "num_test": 10_001}, "has 10000 examples"),
        ("net.name", "vgg", "scale.net: Input tag 'vgg' found using 'name' does not match any of the expected tags"),
        ("net.channels", 8, "scale.net.channels: Input should be a valid list, got 8"),
        ("net.initialisation", "zeros", "scale.net.initialisation: Input should be 'he_normal'"),
        ("xor.periods", ["1", "10", "1e1"], "scale.xor.periods: two entries are the same number"),
        ("xor.periods", ["10"], 'xor.periods must contain "1"'),
        ("xor.dampings", [0.1, -0.1], "scale.xor.dampings.1: Input should be greater than 0, got -0.1"),
        ("xor.dampings", [0.1, 1.0e-1], "scale.xor.dampings: two entries are the same number"),
        ("xor.noise_variance", float("inf"), "scale.xor.noise_variance: Input should be a finite number"),
        (
            "parts.layers",
            [1, 5],
            "parts.layers has 5, but net has 5 layers, all of which are trained besides: each must",
        ),
        ("parts.layers", [2, 2], "scale.parts.layers: two entries are the same number in [2, 2]"),
        ("parts.layers", [], "scale.parts.layers: List should have at least 1 item"),
        ("parts.periods", ["inf"], 'scale.parts.periods: must contain "1": every K is compared with K = 1'),
        ("threads", 0, "scale.threads: Input should be greater than or equal to 1, got 0"),
        ("threads", 1000, "scale.threads: Input should be less than or equal to 256, got 1000"),
        ("mnist.num_seeds", 10**30, "scale.mnist.num_seeds: Input should be less than or equal to 1000, got 1000000"),
        ("k_sweep.num_seeds", 10**400, "scale.k_sweep.num_seeds: Input should be less than or equal to 1000, got 1000"),
        ("flow_check.num_seeds", 1001, "scale.flow_check.num_seeds: Input should be less than or equal to 1000"),
        ("net.kernel", 100_000, "scale.net.kernel: Input should be less than or equal to 99, got 100000"),
        ("net.widths", [8] * 2000, "scale.net.widths: List should have at most 100 items after validation, not 2000"),
        (
            "net",
            {"name": "mlp", "width": 8, "depth": 2000, "initialisation": "he_normal"},
            "scale.net.depth: Input should be less than or equal to 100, got 2000",
        ),
        ("runs_at_once", 0, "scale.runs_at_once: Input should be greater than or equal to 1, got 0"),
        ("devices", 0, "scale.devices: Input should be greater than or equal to 1, got 0"),
        ("devices", 8, "scale: devices is 8, and they cannot have equal shares of 150 examples"),
        ("devices", 4097, "scale.devices: Input should be less than or equal to 4096"),
        ("runs_at_once", 2.0, "scale.runs_at_once: Input should be a valid integer, got 2.0"),
        ("experiments.toy", ["xor", "admm"], "scale: experiments.toy: there is no 'admm', but damp1d, xor, "),
        ("experiments.toy", ["xor", "xor"], "scale: experiments.toy: a name is there twice in ['xor', 'xor']"),
        ("experiments.sweep", [], "scale: experiments: sensitivity needs k_sweep, which is left out"),
        (
            "experiments.more",
            [],
            "scale: experiments must have the keys sweep, train, rescaled, toy, ",
        ),
        ("name", "../x", "scale.name: String should match pattern"),
    ],
)
def test_an_impossible_value_is_one_line_that_names_its_key(tmp_path, key, value, message):
    with pytest.raises(ParamsError) as error:
        load(changed(tmp_path, key, value))
    text = str(error.value)
    assert message in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('periods: ["1", "10", "inf"], num_seeds: 2}', "periods: [], num_seeds: 2}", "k_sweep.periods"),
        ('periods: ["1", "10", "inf"], num_seeds: 2}', 'periods: "1", num_seeds: 2}', "k_sweep.periods"),
        ('periods: ["1", "10", "inf"], num_seeds: 2}', "period: 1, num_seeds: 2}", "k_sweep.period"),
        ('variants: ["0.5", pytorch], periods', "variants: [], periods", "sensitivity.variants"),
    ],
)
def test_what_dvc_itself_would_stumble_over_is_a_line_of_ours(tmp_path, old, new, key):
    clone = Clone(tmp_path, "smoke")
    clone.edit(old, new)
    done = clone.run("iterlin", "repro", check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert all(line.startswith("params.yaml: ") for line in done.stderr.splitlines())
    assert f"params.yaml: scale.{key}: " in done.stderr


def test_sections_may_spell_one_k_in_different_ways(tmp_path):
    periods = ["1", "1e4", "100000", "1e6", "1e7", "100000000", "inf"]  # sensitivity has 1e5, and finer_flow 1e8
    assert load(changed(tmp_path, "k_sweep.periods", periods)).scale.k_sweep.periods == periods


def test_periods():
    assert [parse_period(label) for label in ("1", "300", "1e3", "2e6", "inf")] == [1, 300, 1000, 2e6, float("inf")]


def test_the_initialisations_in_the_types_are_those_of_the_registry():
    from iterlin_lab.nets.shared.initialise import INITIALISERS
    from iterlin_lab.settings import Initialisation

    assert set(get_args(Initialisation)) == set(INITIALISERS)
