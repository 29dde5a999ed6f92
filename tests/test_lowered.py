"""The programs that train are lowered for CUDA, as far as a machine without a GPU can."""

import jax
import pytest

from iterlin_lab.config import load
from iterlin_lab.planning.lowered import calls, in_words, lowered
from iterlin_lab.planning.memory import solvers


@jax.numpy_dtype_promotion("standard")  # optax's Adam needs it
@pytest.mark.parametrize(("preset", "size"), [("paper", 256), ("laptop", 15)])
def test_phases_and_records_call_nothing_outside_of_their_programs(preset, size):
    scale = load().presets[preset]
    found = calls(scale)
    assert {*(f"a phase of {solver.name}" for solver in solvers(scale)), "a record"} <= set(found)
    assert f"a phase of gradient_descent on batches of {size}" in found
    assert not any(found.values()), in_words(found)


def test_what_is_called_outside_is_seen_and_named():
    x = jax.ShapeDtypeStruct((3, 3), "float32")
    assert "custom_call @cusolver" in lowered(jax.numpy.linalg.eigh, x)
    assert in_words({"a record": [], "a phase": ["cusolver_f"]}) == (
        "Lowered for CUDA, these call nothing outside of the device: a record.\na phase calls cusolver_f."
    )


def test_a_function_of_the_host_is_not_lowered_at_all():
    x = jax.ShapeDtypeStruct((3,), "float32")
    with pytest.raises(ValueError, match="the platform for the specified backend cpu is different"):
        lowered(lambda x: jax.pure_callback(lambda x: x, x, x), x)
