"""The picture of the method shows iterative linearisation itself."""

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pytest

from iterlin import Every, sgd, squared_error, train
from iterlin_lab.figures.method import PHASES, RATE, START, TARGET, K, method, network, phases, slope
from iterlin_lab.figures.style import drawing


class OneParameter(eqx.Module):
    """The network of the picture."""

    theta: jax.Array

    def __call__(self, x):
        return jnp.log1p(3 * self.theta) * x


@pytest.mark.parametrize("phase", range(PHASES))
def test_its_phases_are_those_of_the_library(phase):
    data = jnp.ones((1, 1)), jnp.full((1, 1), TARGET)
    settings = {"loss": squared_error, "solver": sgd(RATE), "schedule": Every(K), "num_steps": K * (phase + 1)}
    found = train(OneParameter(jnp.array(START)), {"train": data}, **settings)
    start, steps = list(phases())[phase]
    assert float(found.model.theta) == pytest.approx(steps[-1], rel=1e-12)
    assert start == steps[0]


def test_its_lines_are_tangents():
    for start, _ in phases():
        assert slope(start) == pytest.approx(float(jax.grad(lambda theta: jnp.log1p(3 * theta))(start)), rel=1e-12)
        assert float(network(start)) == pytest.approx(float(jnp.log1p(3 * start)), rel=1e-12)


def test_every_phase_starts_on_the_network():
    with drawing():
        figure = method()
    (axes,) = figure.axes
    drawn = [np.asarray(line.get_xydata())[0] for line in axes.lines if str(line.get_label()).startswith("phase")]
    assert np.array(drawn) == pytest.approx(np.array([(start, network(start)) for start, _ in phases()]))
    plt.close(figure)
