import ast
import re

import pytest
from ruamel.yaml import YAML

from tests.clone import ROOT

STAGES = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]


def test_every_number_of_the_papers_preset_has_its_source_or_is_called_assumed():
    lines = (ROOT / "params.yaml").read_text().split("  paper: &paper\n")[1].split("\nscale:")[0].splitlines()
    values = [line for line in lines if not line.rstrip().endswith(":") and "name: paper" not in line]
    assert len(values) > 20
    assert not [line for line in values if not re.search(r" # .*([TAW] (fig\.|§|Algorithm|[A-C]\.)|assumed)", line)]


SAID_IN_DVC_YAML = (
    "src/iterlin_lab/config.py",
    "src/iterlin_lab/settings/",
    "src/iterlin_lab/layout.py",
)  # under params and outs


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
        if module not in found and not module.startswith(SAID_IN_DVC_YAML):
            found = imported(module, found | {module})
    return found


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_depends_on_the_code_that_it_runs(name):
    stage = STAGES[name]
    assert stage["cmd"] == f"exec python stages/{name}.py"
    assert stage["desc"]
    runs = imported(f"stages/{name}.py") | {f"stages/{name}.py"}
    assert not {file for file in runs if not any(file == dep or file.startswith(f"{dep}/") for dep in stage["deps"])}
