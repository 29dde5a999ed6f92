"""What a phase of full batches keeps."""

import jax
import pytest

from iterlin import Every, _batches, _blocks, cross_entropy
from iterlin._start import lazy_problem
from tests.problems import classification, mlp, same, trained


@pytest.mark.parametrize("schedule", [Every(7), Every(1)])
def test_what_is_kept_for_a_phase_or_computed_again_gives_the_same(schedule, monkeypatch):
    monkeypatch.setattr(_blocks, "CHUNK", 5)  # of 12 examples
    model, data = mlp(jax.random.key(0)), classification(jax.random.key(1))
    kept, again = (trained(model, data, loss=cross_entropy, schedule=schedule, hoist=hoist) for hoist in (True, False))
    same(again[0], kept[0])


def test_a_phase_keeps_what_fits_the_budget():
    data = classification(jax.random.key(1), n=1000)
    wide = mlp(jax.random.key(0))
    assert lazy_problem(wide, data, loss=cross_entropy)[0].batches == _batches.FullBatch(True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iterlin._batches.HOIST_BYTES", 1000 * 8 * 7)  # less than two hidden layers of 7 take
        assert lazy_problem(wide, data, loss=cross_entropy)[0].batches == _batches.FullBatch(False)
        assert lazy_problem(wide, data, loss=cross_entropy, hoist=True)[0].batches == _batches.FullBatch(True)


def test_a_device_s_own_memory_raises_the_budget():
    assert _batches.hoist_bytes() == _batches.hoist_bytes(memory=2**33) == _batches.HOIST_BYTES == 2**31
    assert _batches.hoist_bytes(memory=2**37) == 2 * _batches.hoist_bytes(2, memory=2**37) == 2**34
