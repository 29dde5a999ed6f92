"""Whatever stands in params.yaml is valid, or every line of the answer names the file; none of it is executed."""

import copy
import math
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from iterlin_lab.config import LENGTH, Params, ParamsError, load
from iterlin_lab.experiments import EXPERIMENTS, chosen
from tests.clone import ROOT

yaml = YAML(typ="safe")
COMMITTED = yaml.load(ROOT / "params.yaml")
# It has every section, as all of the other presets together, which every edit would write and read.
COMMITTED["presets"] = {"smoke": COMMITTED["presets"]["smoke"]}

PATHS_AND_COMMANDS = ["../../x", "/x", ".", "; touch x", "$(touch x)", "`touch x`"]
HOSTILE = [*PATHS_AND_COMMANDS, "a\nb", "a\x00b", "\x1b[2J", "1\n", "inf\n", "é", "\u2028", ""]
NUMBERS = [0, -1, 2**31, 10**30, -(10**30), 1e308, math.nan, math.inf, -math.inf, True]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.sampled_from(HOSTILE), st.sampled_from(NUMBERS), st.integers(), st.floats(), st.text()
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=6,
)


def paths(tree, path=()):
    """The way to every node but the root."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths(value, (*path, key))


PATHS = sorted(paths(COMMITTED), key=str)


def edited(edits):
    """The committed parameters with some nodes replaced, removed, or given a neighbour."""
    tree = copy.deepcopy(COMMITTED)
    for path, how, value in edits:
        node = tree
        try:
            for key in path[:-1]:
                node = node[key]
            if how == "remove":
                del node[path[-1]]
            elif how == "add" and isinstance(node, dict):
                node[value if isinstance(value, str | int | float | None) else "more"] = value
            else:
                node[path[-1]] = value
        except (KeyError, IndexError, TypeError):  # an earlier edit has taken it away
            continue
    return tree


def check(path):
    """Valid parameters or lines about them; which of the two."""
    try:
        params = load(path)
    except ParamsError as error:
        lines = str(error).split("\n")
        assert all(line.startswith(f"{path}") for line in lines), lines
        assert all(line.isprintable() and len(line) <= LENGTH + 2 for line in lines), lines
        return lines
    assert isinstance(params, Params)
    return params


@given(st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(["replace", "remove", "add"]), JUNK), max_size=3))
@settings(max_examples=150)
@example([])
@example([(("scale", "k_sweep", "periods", 1), "replace", "1\n")])
@example([(("scale", "name"), "replace", "laptop\n")])
@example([(("scale", "threads"), "replace", 10**30)])
def test_an_edit_leaves_params_valid_or_is_named(tmp_path, edits):
    path = tmp_path / "params.yaml"
    with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        YAML(typ="safe", pure=True).dump(edited(edits), file)
    answer = check(path)
    if isinstance(answer, Params):
        scale = answer.scale
        paths = [cell.path for experiment in EXPERIMENTS.values() for cell in experiment.cells(scale)]
        names = [scale.name, *(part for path in paths for part in path.parts)]
        names += [experiment.name for experiment in chosen(scale)]
        assert all(re.fullmatch(r"[a-z0-9_][a-z0-9_.-]*", name) for name in names)
        assert all(math.isfinite(value) for value in numbers(answer.model_dump()))


def numbers(tree):
    items = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for value in items:
        yield from numbers(value)
    if isinstance(tree, int | float):
        yield tree


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_a_file_of_junk_is_named(tmp_path, content):
    (tmp_path / "params.yaml").write_bytes(content)
    assert not isinstance(check(tmp_path / "params.yaml"), Params)


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)
)
CRAFTED = {
    "python": "scale: !!python/object/apply:os.system ['touch executed']",
    "python name": "scale: !!python/name:os.system",
    "python module": "!!python/module:antigravity",
    "own tag": "scale: !exec 'touch executed'",
    "aliases": LAUGHS + "scale: *a29\npresets: {x: *a29}",
    "aliases in a valid place": (ROOT / "params.yaml").read_text()
    + LAUGHS
    + "  k_sweep: {periods: [*a29], num_steps: *a29, solver: *a29}",
    "itself": "scale: &s\n  name: *s\n  k_sweep: *s\npresets: &p {x: *p}",
    "a list of itself": "scale: &s [*s, *s]\npresets: *s",
    "twice": "scale: {}\nscale: {}\npresets: {}",
    "not UTF-8": b"scale: \xff\xfe\x00",
    "UTF-16": "scale: {}".encode("utf-16"),
    "deep": "[" * 100_000,
    "deep mapping": "{a: " * 5000,
    "a long number": f"presets: {'9' * 10_000}",
    "a long hexadecimal number": f"presets: {{}}\nscale: 0x{'f' * 10_000}",
    "no date": "presets: 2001-99-99",
    "a key that is a mapping": "{{a: b}: c}",
    "binary": "presets: !!binary '~~~'",
    "set": "presets: !!set {a, b}\nscale: !!omap [1]",
    "merge of no mapping": "scale: {<<: 3}",
    "empty": "",
    "two documents": "scale: {}\n---\nscale: {}",
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_file_is_named_and_not_executed(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    content = CRAFTED[name]
    (tmp_path / "params.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert not isinstance(check(tmp_path / "params.yaml"), Params)
    assert [path.name for path in tmp_path.iterdir()] == ["params.yaml"]


def test_what_is_no_file_is_named(tmp_path):
    (tmp_path / "params.yaml").mkdir()
    with pytest.raises(ParamsError, match=r"params.yaml cannot be read: Is a directory"):
        load(tmp_path / "params.yaml")
