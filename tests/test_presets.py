import ast
import re
from functools import reduce

import pytest
from dvc.utils.serialize import load_yaml
from ruamel.yaml import YAML

from iterlin_lab.config import ParamsError, load
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.settings.shared import Shared
from tests.clone import ROOT
from tests.whole import TRAINED

STAGES = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]


def test_every_number_of_the_papers_preset_has_its_source_or_is_called_assumed():
    paper = (ROOT / "params.yaml").read_text().split("  paper: &paper\n")[1]
    lines = re.split(r"\n+(?:  )?\w", paper)[0].splitlines()  # up to what is no part of it
    named = ("    name: paper", "    experiments: ")
    values = [line for line in lines if not re.search(r":( &\S+)?$", line.rstrip()) and not line.startswith(named)]
    assert len(values) > 20
    assert not [line for line in values if not re.search(r" # .*([TAW] (fig\.|§|Algorithm|[A-C]\.)|assumed)", line)]


OWN = """
  of_a_test: &of_a_test
    <<: *smoke
    name: of_a_test
    k_sweep: {<<: *smoke-k_sweep, num_seeds: 5}

scale:
  <<: *of_a_test
"""


def with_own_preset(tmp_path, preset):
    path = tmp_path / "params.yaml"
    path.write_text((ROOT / "params.yaml").read_text().split("\nscale:")[0] + preset)
    return path


def test_a_preset_may_change_single_numbers_of_another_and_dvc_sees_them(tmp_path):
    path = with_own_preset(tmp_path, OWN)
    scale, smoke = load(path).scale, load(ROOT / "params.yaml").presets["smoke"]
    k_sweep = smoke.k_sweep.model_copy(update={"num_seeds": 5})
    assert scale == smoke.model_copy(update={"name": "of_a_test", "k_sweep": k_sweep})
    assert load_yaml(path)["scale"]["k_sweep"] == k_sweep.model_dump()


def test_a_preset_of_one_s_own_is_checked_as_all_are(tmp_path):
    with pytest.raises(
        ParamsError, match=r"params.yaml: presets.of_a_test.k_sweep.num_seed: Extra inputs are not permitted"
    ):
        load(with_own_preset(tmp_path, OWN.replace("num_seeds", "num_seed")))


# Under params and outs, and in the matrix that names an experiment.
SAID_IN_DVC_YAML = re.compile(
    r"src/iterlin_lab/(config|layout|settings/\w+|data/sets/__init__|nets/(contract|__init__|\w+/__init__)"
    r"|experiments/(__init__|experiment|\w+/__init__|\w+/settings))\.py"
)


def modules(file):
    """The modules of ours that a file imports, or names with a function that other processes are to run."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("iterlin.", "iterlin_lab.")):
            yield node.module
        elif isinstance(node, ast.Constant) and (
            named := re.fullmatch(r"(iterlin_lab(?:\.\w+)+):\w+", str(node.value))
        ):
            yield named[1]


def imported(file, found=frozenset()):
    """The files of these modules, and of those that they import."""
    for name in modules(file):
        path = "src/" + name.replace(".", "/")
        module = f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"
        if module not in found and not SAID_IN_DVC_YAML.fullmatch(module):
            found = imported(module, found | {module})
    return found


FOUND_BY_NAME = {"tables": ("table",), "plots": ("figure",), "claims": ("claims",), "report": ("section",)}
FOUND_BY_NAME |= {"track": ("run",), "track_report": ("run",)}


def script(name):
    """The file that a stage runs."""
    return "stages/" + STAGES[name]["cmd"].removeprefix("exec python stages/")


def missing(deps, files):
    """The files that are not in the dependencies, nor in folders there."""
    return {file for file in files if not any(file == dep or file.startswith(f"{dep}/") for dep in deps)}


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_the_code_that_it_runs(name):
    stage = STAGES[name]
    assert stage["cmd"].startswith("exec python stages/")
    assert stage["desc"]
    by_name = {
        f"src/iterlin_lab/experiments/{experiment}/{module}.py"
        for module in FOUND_BY_NAME.get(name, ())
        for experiment in (TRAINED if name.startswith("track") else EXPERIMENTS)
    }
    files = {file for file in by_name if (ROOT / file).exists()} | {script(name)}
    runs = files.union(*(imported(file) for file in files))
    assert not missing(stage["deps"], runs)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_depends_on_the_code_that_it_runs_and_on_no_figure(experiment):
    stage = STAGES[EXPERIMENTS[experiment].stage]
    assert script(EXPERIMENTS[experiment].stage) == "stages/experiment.py"
    run = f"src/iterlin_lab/experiments/{experiment}/run.py"
    names = {"${item.experiment}": experiment, "${scale.net.name}": "lenet"}
    deps = [reduce(lambda path, name: path.replace(*name), names.items(), dep) for dep in stage["deps"]]
    assert not missing(deps, imported(run) | {run, "stages/experiment.py"} | imported("stages/experiment.py"))
    others = {path.stem for path in (ROOT / run).parent.glob("*.py")} - {"run"}
    assert missing(deps, {f"src/iterlin_lab/experiments/{experiment}/{module}.py" for module in others})
    assert not any(dep.endswith(("/experiments", "/tables", "/figures", "/claims", "/report")) for dep in deps)


@pytest.mark.parametrize("name", sorted({EXPERIMENTS[experiment].stage for experiment in TRAINED}))
def test_a_stage_that_trains_knows_all_that_its_recipes_take_from_the_scale(name):
    taken = set(Recipe._fields) & set(Shared.model_fields) - {"net"}  # stages may have networks of their own
    assert {f"scale.{part}" for part in taken} <= set(STAGES[name]["params"])
