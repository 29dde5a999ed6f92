"""What was traced once is known, for the settings that decide it and no others."""

import jax
import pytest

from iterlin_lab.config import load
from iterlin_lab.planning import trace as tracing


@pytest.fixture
def scale(tmp_path, monkeypatch):
    smoke = load().presets["smoke"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tracing, "CODE", ("iterlin_lab/planning",))
    with jax.numpy_dtype_promotion("standard"):  # as in stages
        yield smoke


def refuse(*arguments):
    raise AssertionError("it is traced again")


def test_an_edit_of_an_experiment_traces_nothing_again(scale, monkeypatch):
    said = tracing.trace(scale)
    assert said.endswith("MiB, is kept for a whole phase")
    monkeypatch.setattr(tracing, "step_and_record", refuse)
    edited = scale.k_sweep.model_copy(update={"periods": ["1", "2"]})
    assert tracing.trace(scale.model_copy(update={"k_sweep": edited, "seed": 5})) == said


@pytest.mark.parametrize(("section", "change"), [("data", {"num_train": 61}), ("training", {"batch_size": 7})])
def test_an_edit_of_what_is_traced_traces_it_again(scale, monkeypatch, section, change):
    tracing.trace(scale)
    monkeypatch.setattr(tracing, "step_and_record", refuse)
    edited = scale.model_copy(update={section: getattr(scale, section).model_copy(update=change)})
    with pytest.raises(AssertionError, match="it is traced again"):
        tracing.trace(edited)


def test_other_code_traces_it_again(scale, monkeypatch):
    tracing.trace(scale)
    monkeypatch.setattr(tracing, "step_and_record", refuse)
    monkeypatch.setattr(tracing, "CODE", ("iterlin_lab/nets",))
    with pytest.raises(AssertionError, match="it is traced again"):
        tracing.trace(scale)
