"""A module imports from floors below its own alone, and no file outside its folder names an experiment."""

import ast
import re

import pytest

from iterlin_lab.experiments import EXPERIMENTS
from tests.clone import ROOT

LAB = ROOT / "src/iterlin_lab"
# From the lowest floor up; modules and folders of one floor import from each other as they like.
FLOORS = (
    ("files", "layout", "statistics"),
    ("data", "settings", "nets"),
    ("runs",),
    ("tables", "claims", "figures", "report"),
    ("experiments",),
    ("config", "outputs"),
    ("dvc", "planning", "mlflow"),
    ("cluster",),
    ("commands", "cli"),
)
FLOOR = {name: height for height, names in enumerate(FLOORS) for name in names}
FILES = sorted(path.relative_to(LAB) for path in LAB.rglob("*.py") if path != LAB / "__init__.py")
NAMED_LIKE = {  # words that are also the names of other things: solvers, data sets, properties, folders
    "adam": {"settings/solvers/adam.py"},
    "mnist": {"data/sets/mnist.py", "data/tfds_data.py"},
    "filters": {"nets/contract.py", "planning/networks.py"},
    "augmentation": {"runs/recipes.py"},
    "parts": {"nets/contract.py", "planning/networks.py"},
    "resnet": {"nets/resnet/__init__.py", "nets/resnet/module.py"},
    "stability": {"report/setting.py", "runs/regime.py"},
    "vit": {"nets/vit/__init__.py"},
    "width": {"nets/mlp/__init__.py", "nets/vit/__init__.py"},
}


def modules(path):
    """The modules of ours that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def floor(path):
    """How high a file of the pipeline stands."""
    return FLOOR[path.parts[0].removesuffix(".py")]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_module_imports_from_its_own_floor_and_those_below(path):
    ours = [name.split(".") for name in modules(LAB / path) if name.startswith("iterlin_lab.")]
    assert not [name for _, name, *_ in ours if FLOOR[name] > floor(path)]


def test_the_library_knows_nothing_of_the_pipeline():
    files = [*(ROOT / "src/iterlin").rglob("*.py")]
    assert len(files) > 10
    assert not [path for path in files if any(name.startswith("iterlin_lab") for name in modules(path))]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_file_outside_its_folder_names_an_experiment(name):
    experiment = EXPERIMENTS[name]
    readers = {other for other, found in EXPERIMENTS.items() if name in found.reads} | {name}
    for path in FILES:
        if path.parts[0] == "experiments" and (len(path.parts) == 2 or path.parts[1] in readers):
            continue
        if path.parts[0] == "experiments" and path.parts[1] in EXPERIMENTS:
            continue  # a text of one experiment may speak of another; what it reads is tested below
        if path.as_posix() in NAMED_LIKE.get(name, ()):
            continue
        text = (LAB / path).read_text()
        constants = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
        assert name not in constants, path
        assert f"scale.{name}" not in text, path
        assert not [found for found in modules(LAB / path) if f"experiments.{name}" in found], path
        assert not [one for one in experiment.ids if "-" in one and re.search(rf"\b{re.escape(one)}\b", text)], path


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_imports_from_those_alone_that_it_reads(name):
    for path in (LAB / "experiments" / name).glob("*.py"):
        others = {found.split(".")[2] for found in modules(path) if found.startswith("iterlin_lab.experiments.")}
        assert others <= {name, "experiment", *EXPERIMENTS[name].reads}, path


def test_no_two_experiments_have_the_same_number_for_their_keys_or_place_in_the_report():
    numbers = [experiment.purpose for experiment in EXPERIMENTS.values() if experiment.purpose]
    places = [experiment.order for experiment in EXPERIMENTS.values()]
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) > 1  # 0 and 1 are those of results and of the rule for the learning rate
    assert len(set(places)) == len(places)
