"""When to re-linearise: schedules that look at the network, whose periods change, and of the second order."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import iterlin
from iterlin import (
    Every,
    Flow,
    Guarded,
    OnKernelMovement,
    OnLinearisationError,
    Quadratic,
    RecordAt,
    TrustRegion,
    sgd,
)
from tests.problems import affine, mlp, regression
from tests.schedules import DATA, KEYS, close, every_step, flat, name, phases, train

# Periods.


def test_phases_grow_to_the_longest():
    result = every_step(schedule=iterlin.Growing(2, 2.0, 10), num_steps=40)
    assert phases(result) == [2, 4, 8, 10, 10]
    close(flat(train(schedule=iterlin.Growing(5, 1.0, 100))), flat(train(schedule=5)))


def test_a_float_beyond_what_can_be_counted_is_the_longest_phase():
    schedule = iterlin.Growing(1, 1e300, 7)
    assert schedule.remaining(jnp.asarray(0), jnp.asarray(0)) == 1
    assert schedule.remaining(jnp.asarray(5), jnp.asarray(2)) == 5


def test_periods_are_drawn_uniformly_in_their_logarithm():
    schedule = iterlin.Drawn(10, 1000, KEYS[0])

    def draw(state, _):
        return schedule.next_phase(state), schedule.remaining(state, jnp.asarray(0))

    _, drawn = jax.lax.scan(draw, schedule.init(), length=2000)
    assert drawn.min() >= 10
    assert drawn.max() <= 1000
    logs = np.log10(drawn)
    # The mean of 2000 draws from U(1, 3) has the standard error 0.577/√2000; four of them.
    assert abs(logs.mean() - 2) < 4 * 0.577 / np.sqrt(2000)
    assert abs(np.mean(logs < 1.5) - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 2000)


def test_drawn_periods_are_those_of_the_key():
    run = phases(every_step(schedule=iterlin.Drawn(2, 9, KEYS[0])))
    assert len(set(run)) > 2
    assert run == phases(every_step(schedule=iterlin.Drawn(2, 9, KEYS[0])))
    assert run != phases(every_step(schedule=iterlin.Drawn(2, 9, KEYS[1])))


@pytest.mark.parametrize("schedule", [iterlin.Growing(2, 1.5, 20), iterlin.Drawn(2, 9, KEYS[0])], ids=name)
def test_a_solver_that_jumps_knows_periods_that_change(schedule):
    explicit = train(schedule=schedule, num_steps=50)
    jumped = train(schedule=schedule, num_steps=50, solver=iterlin.ClosedForm(0.05))
    np.testing.assert_allclose(flat(jumped), flat(explicit), rtol=1e-7, atol=1e-9)  # through eigenvalues
    assert jumped.state.feature_updates == explicit.state.feature_updates > 3


# What has become wrong.


def test_a_phase_ends_at_the_first_look_above_the_bound():
    found = every_step(schedule=iterlin.Never(), record_at=[RecordAt(range(61), error_of(DATA[0]))])
    errors = {int(record["step"]): record["error"] for record in found.records}
    bound = errors[23]
    assert all(errors[step] < bound for step in range(23))  # so that the test says something
    result = every_step(schedule=OnLinearisationError(0.999 * bound, every=5))
    assert phases(result)[0] == 25
    assert phases(every_step(schedule=OnLinearisationError(0.999 * bound, every=1)))[0] == 23
    assert phases(every_step(schedule=OnLinearisationError(0.999 * bound, every=1, at_least=30)))[0] == 30
    assert phases(every_step(schedule=OnLinearisationError(0.999 * bound, every=1, at_most=7)))[:3] == [7, 7, 7]


def error_of(x):
    def error(moment):
        return {"error": relative_error(moment.linearised, moment.params, x)}

    return error


def relative_error(linearised, params, x):
    f, f_s, f_lin = linearised.fn(params, x), linearised.fn(linearised.params0, x), linearised(params, x)
    moved = jnp.linalg.norm(f - f_s)
    return jnp.where(moved > 0, jnp.linalg.norm(f - f_lin) / jnp.where(moved > 0, moved, 1), 0)


def test_it_may_look_at_inputs_that_are_held_out():
    held_out = jax.random.normal(KEYS[0], (20, 3))
    found = every_step(schedule=iterlin.Never(), record_at=[RecordAt(range(61), error_of(held_out))])
    errors = [record["error"] for record in found.records]
    bound = 0.999 * errors[17]
    first = next(step for step, error in enumerate(errors) if error > bound)
    assert phases(every_step(schedule=OnLinearisationError(bound, every=1, x=held_out)))[0] == first


def test_the_trust_region_s_ratio_is_that_of_the_losses():
    result = every_step(schedule=iterlin.Never())
    start = result.records[0]["network_train_loss"]
    ratios = [
        (start - record["network_train_loss"]) / (start - record["proxy_train_loss"]) for record in result.records[1:]
    ]
    bound = 0.999 * max(1 - ratios[30], 1e-6)
    first = next((step for step, ratio in enumerate(ratios, 1) if 1 - ratio > bound), None)
    schedule = TrustRegion(bound, every=1)
    assert (phases(every_step(schedule=schedule)) or [None])[0] == first


@pytest.mark.parametrize(
    "schedule",
    [
        OnLinearisationError(1e-9, every=1),
        TrustRegion(1e-9, every=1),
        OnKernelMovement(1e-9, every=1, key=KEYS[0]),
    ],
    ids=name,
)
def test_a_model_that_is_linear_in_its_parameters_never_re_linearises(schedule):
    data = regression(KEYS[1], inputs=2, out=3)
    assert train(affine(KEYS[0]), data, schedule=schedule).state.feature_updates == 0


def test_the_kernel_s_movement_is_that_of_the_kernels():
    measured = RecordAt(range(61), kernel_distance_from_start)
    found = every_step(schedule=iterlin.Never(), record_at=[measured])
    distances = [record["distance"] for record in found.records]
    bound = 0.999 * distances[20]
    first = next(step for step, distance in enumerate(distances) if distance > bound)
    assert first > 10
    # Many probes: their error is far below what one step changes.
    schedule = OnKernelMovement(bound, every=1, key=KEYS[0], num_probes=400)
    assert abs(phases(every_step(schedule=schedule))[0] - first) <= 2


def kernel_distance_from_start(moment):
    fn, start = moment.linearised.fn, iterlin.functional(mlp(KEYS[0]))[0]
    a, b = (iterlin.empirical_ntk(fn, params, DATA[0]).ravel() for params in (moment.params, start))
    return {"distance": float(1 - a @ b / np.sqrt(a @ a * (b @ b)))}


# The second order.


def test_a_quadratic_proxy_is_nearer_to_the_network():
    linear, quadratic = train(schedule=iterlin.Never()), train(schedule=Quadratic(iterlin.Never()))
    for first, second in zip(linear.records[1:], quadratic.records[1:], strict=True):
        assert second["linearisation_error"] < 0.5 * first["linearisation_error"]


def test_a_phase_of_the_quadratic_proxy_is_descent_on_it():
    (params, fn), (x, y) = iterlin.functional(mlp(KEYS[0])), DATA
    expanded = iterlin.Expanded(fn, params, 2)

    def step(params, _):
        gradient = jax.grad(lambda params: iterlin.squared_error(expanded(params, x), y))(params)
        return optax.tree.add_scale(params, -0.05, gradient), None

    expected, _ = jax.lax.scan(step, params, length=10)
    result = train(schedule=Quadratic(Every(20)), num_steps=10)
    close(flat(result), ravel_pytree(expected)[0])
    close(result.records[-1]["proxy_train_loss"], iterlin.squared_error(expanded(expected, x), y))


def test_one_step_of_a_quadratic_proxy_is_one_of_gradient_descent():
    close(flat(train(schedule=Quadratic(Every(1)))), flat(train(schedule=1)))


def test_a_quadratic_proxy_may_be_guarded_and_looked_at():
    watching = OnLinearisationError(0.01, every=1)
    result = train(schedule=Guarded(Quadratic(watching)))
    assert 0 < result.state.feature_updates < train(schedule=watching).state.feature_updates


def test_the_measures_do_not_see_the_scale_of_the_loss():
    def hundredfold(outputs, targets):
        return 100 * iterlin.squared_error(outputs, targets)

    schedule = TrustRegion(0.01, every=1)
    one = every_step(schedule=schedule)
    other = every_step(schedule=schedule, loss=hundredfold, solver=sgd(0.05 / 100))
    assert phases(one) == phases(other) != []


def test_a_flow_is_looked_at_between_its_own_steps():
    result = train(schedule=OnLinearisationError(0.02, every=1), solver=Flow(1e-4, tolerance=0.01), num_steps=10**5)
    assert result.state.feature_updates > 3
    never = train(schedule=iterlin.Never(), solver=Flow(1e-4, tolerance=0.01), num_steps=10**5)
    assert result.records[-1]["linearisation_error"] < never.records[-1]["linearisation_error"]


def test_runs_that_train_at_once_are_those_that_train_alone():
    schedules = [OnLinearisationError(bound, every=3) for bound in (0.01, 0.05, 0.2)]
    runs = [iterlin.Run(mlp(KEYS[0]), {"train": DATA}, sgd(0.05), schedule=schedule) for schedule in schedules]
    results = iterlin.train_many(runs, loss=iterlin.squared_error, schedule=1, num_steps=60)
    for result, schedule in zip(results, schedules, strict=True):
        alone = train(schedule=schedule)
        close(flat(result), flat(alone))
        assert result.state.feature_updates == alone.state.feature_updates
