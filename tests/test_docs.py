"""The code that the docs show does what they say."""

import itertools
import re

import jax
import jax.numpy as jnp
import pytest

from iterlin import cross_entropy
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
