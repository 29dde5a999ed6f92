"""What a phase of full batches keeps."""

import jax
import pytest

from iterlin import Continuously, Every, _batches, _blocks, cross_entropy, sgd
from iterlin._begin import begin
from tests.problems import classification, mlp, same, trained


@pytest.mark.parametrize("schedule", [Every(7), Continuously()])
def test_what_is_kept_for_a_phase_or_computed_again_gives_the_same(schedule, monkeypatch):
    monkeypatch.setattr(_blocks, "CHUNK", 5)  # of 12 examples
    model, data = mlp(jax.random.key(0)), classification(jax.random.key(1))
    kept, again = (trained(model, data, loss=cross_entropy, schedule=schedule, hoist=hoist) for hoist in (True, False))
    same(again[0], kept[0])


def test_a_phase_keeps_what_fits_the_budget():
    (x, y), settings = classification(jax.random.key(1), n=1000), {"loss": cross_entropy, "solver": sgd(0.1)}
    wide = mlp(jax.random.key(0))
    assert begin(wide, (x, y), **settings)[0].batches == _batches.FullBatch(True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("iterlin._begin.HOIST_BYTES", 1000 * 8 * 7)  # less than two hidden layers of 7 take
        assert begin(wide, (x, y), **settings)[0].batches == _batches.FullBatch(False)
        assert begin(wide, (x, y), hoist=True, **settings)[0].batches == _batches.FullBatch(True)
