"""A solver, a network and a data set are one piece each; a network that breaks its contract is one line, untrained."""

import ast
import json
import re

import pytest
from ruamel.yaml import YAML

from iterlin_lab.config import load
from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.nets import NETS
from iterlin_lab.nets.contract import PARTS
from iterlin_lab.runs.recipes import make_recipe
from iterlin_lab.settings.solvers import SOLVERS, solver_of
from iterlin_lab.settings.solvers.solver import Certified
from tests.clone import ROOT, run_in

LAB = ROOT / "src/iterlin_lab"
OWN = ("nets/", "settings/solvers/")
KINDS = {kind.__name__ for kind in SOLVERS.values()} | {"Solver", "Certified", "Settings", "Network"}
FILES = [path for path in sorted(LAB.rglob("*.py")) if not path.relative_to(LAB).as_posix().startswith(OWN)]
SMOKE = load(ROOT / "params.yaml").presets["smoke"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(LAB).as_posix())
def test_no_other_file_asks_which_solver_or_network_it_has(path):
    for node in ast.walk(ast.parse(path.read_text())):
        inside = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
        if isinstance(node, ast.Compare | ast.MatchValue):
            assert not inside & {*SOLVERS, *NETS}, ast.unparse(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            assert not {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & KINDS, ast.unparse(node)


def test_a_piece_has_the_name_of_its_file():
    """By which code is found that kept runs and the stages of dvc.yaml depend on."""
    assert {path.stem for path in (LAB / "settings/solvers").glob("*.py")} == {*SOLVERS, "solver", "__init__"}
    assert {path.parent.name for path in (LAB / "nets").glob("*/module.py")} == {*NETS}
    assert {path.stem for path in (LAB / "data/sets").glob("*.py")} == {*DATA_SETS, "__init__"}
    for names, kinds in (({*SOLVERS}, SOLVERS), ({*NETS}, NETS)):
        assert {kind.__module__.split(".")[-1] for kind in kinds.values()} == names


def test_a_network_or_a_data_set_imports_no_other():
    """A stage depends on its own alone."""
    for path in (*LAB.glob("nets/*/*.py"), *LAB.glob("data/sets/[a-z]*.py")):
        own = path.parent.name if path.parent.parent.name == "nets" else path.stem
        for kind, name in re.findall(r"iterlin_lab\.(nets|data\.sets)(?:\.| import )(\w+)", path.read_text()):
            assert name in {own, "shared", "contract", *(["NETS", "module"] if own == "shared" else [])}, (path, kind)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_is_found_and_made_by_what_its_recipe_has_of_it(name):
    known = {"tolerance": 0.25, "learning_rate": 0.5, "at_feature_update": "keep"}
    kind = SOLVERS[name]
    fields = {key: known.get(key, 0.5) for key in kind.model_fields if key != "name"}
    solver = kind.model_validate({"name": name} | fields)
    again = solver_of(json.loads(json.dumps(solver.values())))
    assert type(again) is kind
    for own in (solver, again):
        rate = solver.own_rate if isinstance(solver, Certified) else 0.5
        made = own.make(rate)
        assert float(getattr(made, "tolerance", 0.25)) == 0.25
        assert float(getattr(made, "learning_rate", 0.5)) == 0.5
    assert again.evaluations(1000, 5) > 0
    assert solver.title in solver.described()
    assert solver.copies >= 7


def test_solvers_say_what_they_take():
    full = {name for name, kind in SOLVERS.items() if not kind.mini_batches}
    assert full == {"flow", "truncated"}
    flow = SOLVERS["flow"].model_validate({"name": "flow", "tolerance": 0.1})
    assert flow.flow_tolerance == 0.1
    assert flow.evaluations(10**9, 7) == flow.evaluations(10, 7) == 7 * flow.evaluations(1, 1)
    steps = SOLVERS["gradient_descent"].model_validate({"name": "gradient_descent"})
    assert steps.flow_tolerance is None
    assert steps.evaluations(10**9, 7) == 10**9


def test_a_recipe_has_the_network_of_its_scale_or_its_own():
    settings = {"solver": {"name": "gradient_descent"}, "learning_rate": 0.1, "num_steps": 3}
    assert make_recipe(SMOKE, 0, **settings).net == SMOKE.net.model_dump()
    assert make_recipe(SMOKE, 0, net=SMOKE.damp1d.net, **settings).net == SMOKE.damp1d.net.model_dump()


def test_no_stage_that_trains_depends_on_a_network_or_a_data_set_but_its_own():
    stages = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
    for stage in ("regime", "sweep", "rescaled", "finer", "train", "train_own", "measure", "toy"):
        deps = set(stages[stage]["deps"])
        own = "mlp" if stage == "toy" else "${scale.net.name}"
        nets = {dep for dep in deps if "lab/nets" in dep}
        assert nets == {"src/iterlin_lab/nets/shared", f"src/iterlin_lab/nets/{own}"}, stage
        assert not {"src/iterlin_lab/data", "src/iterlin_lab/data/sets", "src/iterlin_lab"} & deps, stage
    assert "src/iterlin_lab/data/sets/${scale.data.name}.py" in stages["prepare"]["deps"]
    assert not {"src/iterlin_lab/data", "src/iterlin_lab/data/sets"} & {*stages["prepare"]["deps"]}


# What is broken in a network, by patches of the LeNet and its settings; what `check` says of it.
CHECK = """
import sys
import equinox as eqx, jax, jax.numpy as jnp
from iterlin_lab.config import load
from iterlin_lab.nets.lenet.module import LeNet
from iterlin_lab.nets.mlp import Settings as MLP
from iterlin_lab.planning.networks import check_networks
scale = load().presets["smoke"]
kept = dict(vars(LeNet))
call, init = LeNet.__call__, LeNet.__init__

def check(patch, scale=scale):
    for name, value in patch.items():
        setattr(LeNet, name, value) if value is not ... else delattr(LeNet, name)
    jax.clear_caches()
    try:
        check_networks(scale)
        print("fine")
    except SystemExit as error:
        print(error)
    for name in patch:
        setattr(LeNet, name, kept[name])

def without(*names, **changes):
    left = {stage: [name for name in found if name not in names] for stage, found in scale.experiments.items()}
    return scale.model_copy(update={"experiments": left, **changes})

def with_norm(self, *arguments, **settings):
    init(self, *arguments, **settings)
    object.__setattr__(self, "dense", (*self.dense[:-1], eqx.nn.LayerNorm(10)))

def net(**settings):
    return without("width", net=MLP(name="mlp", initialisation="he_normal", **settings))  # it has no channels

NO_LAYERS = {"activations": ..., "__call__": lambda self, x: jnp.zeros(10)}
first = property(lambda self: self.convolutions[0].weight[0])
"""
NEEDS = ", and {} needs that: leave it out of experiments, or take another network"
OF_FILTERS = NEEDS.format("filters")
BROKEN = {
    "{}": "fine",
    "{'filters': ...}": f"lenet has no filters ({PARTS['filters']}){OF_FILTERS}",
    "{'filters': ...}, without('filters')": "fine",
    "NO_LAYERS": f"lenet has no activations ({PARTS['activations']}){NEEDS.format('probes')}",
    "NO_LAYERS, without('probes', 'filters')": "fine",
    "{'filters': first}": f"lenet must have as filters {PARTS['filters']}, not f32[3,1,4]{OF_FILTERS}",
    "{'parts': property(lambda self: self.convolutions)}": f"lenet must have as parts {PARTS['parts']}, not ( Conv2d(",
    "NO_LAYERS | {'activations': lambda self, x: x}": f"lenet must have as activations {PARTS['activations']}, "
    "not f32[8,8,1]",
    "{'__call__': lambda self, x: call(self, x)[:3]}": "lenet must make 10 outputs of an example of shape (8, 8, 1), "
    "not f32[3]",
    "{'__call__': lambda self, x: call(self, x)[None]}": "lenet must make 10 outputs of an example of shape (8, 8, 1), "
    "not f32[1,10]",
    "{'__call__': lambda self, x: x @ jnp.ones(3)}": "lenet cannot take an example of shape (8, 8, 1): dot_general ",
    "{'__init__': with_norm}": "lenet cannot be built: initialise knows equinox.nn._linear.Linear, "
    "iterlin_lab.nets.shared.convolution.Conv2d, equinox.nn._batch_norm.BatchNorm alone, "
    "and not the layer of the parameter .dense[2].weight: ",
    "{}, net(width=4, depth=1)": "mlp has activations that cannot be read: depth must be at least 2, for there is no "
    f"second hidden layer{NEEDS.format('probes')}",
    "{}, net(width=4, depth=2)": "fine",
}


def test_a_network_that_breaks_the_contract_is_one_line_that_says_what_it_lacks_and_who_needs_it():
    """As a user meets it, without the types that these tests check."""
    done = run_in(ROOT, "python", "-c", CHECK + "\n".join(f"check({case})" for case in BROKEN))
    lines = done.stdout.splitlines()
    assert len(lines) == len(BROKEN), done.stdout
    for line, expected in zip(lines, BROKEN.values(), strict=True):
        assert line.removeprefix("params.yaml: scale.net: the network ").startswith(expected)


def test_the_networks_of_experiments_keep_it_too():
    script = """
from iterlin_lab.config import load
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.planning import networks
scale, asked = load().presets["paper"], []
networks._made = lambda built: asked.append((built.key, built.net["name"], built.input_shape, built.num_outputs))
networks._check_part = lambda built, part, model: None
networks.check_networks(scale)
print(sorted(asked))
"""
    found = ast.literal_eval(run_in(ROOT, "python", "-c", script).stdout)
    assert found == [
        ("damp1d.net", "mlp", (1,), 1),
        ("net", "lenet", (28, 28, 1), 10),
        ("net", "lenet", (32, 32, 3), 10),
        ("resnet", "resnet", (32, 32, 3), 10),
        ("vit.net", "vit", (32, 32, 3), 10),
        ("xor", "mlp", (2,), 1),
    ]


def test_kept_runs_depend_on_their_own_network_and_solver_alone():
    from iterlin_lab.runs import store
    from iterlin_lab.runs.training import SOLVER, code_of

    paths = [store.SOURCE / name for name in code_of("lenet", SOLVER.format("adam"))]
    files = [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]
    assert all(file.exists() for file in files)
    read = {file.relative_to(LAB).as_posix() for file in files if LAB in file.parents}
    assert {name for name in read if name.startswith(("nets/", "settings/"))} == {
        *(f"nets/lenet/{name}.py" for name in ("__init__", "module")),
        *(f"nets/shared/{name}.py" for name in ("build", "convolution", "initialise", "saved")),
        "settings/schedules.py",
        "settings/solvers/adam.py",
    }
    assert not [name for name in read if name.startswith("data/sets")]


@pytest.mark.parametrize("path", sorted(LAB.glob("experiments/*/run.py")), ids=lambda path: path.parent.name)
def test_what_an_experiment_keeps_depends_on_the_library_and_its_network(path):
    text = path.read_text()
    assert len(re.findall(r"\bkept_(rows|tables)\(", text)) == text.count("code_of(")
