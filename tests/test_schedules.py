"""When to re-linearise: schedules that look at the network, that guard its loss, and whose periods change."""

import itertools
from typing import Any

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
    LevenbergMarquardt,
    OnKernelMovement,
    OnLinearisationError,
    Quadratic,
    RecordAt,
    TrustRegion,
    cross_entropy,
    sgd,
)
from tests.problems import affine, classification, mlp, regression

KEYS = jax.random.key(0), jax.random.key(1)
DATA = regression(KEYS[1])


def train(model=None, data=None, **settings):
    defaults = {"loss": iterlin.squared_error, "solver": sgd(0.05), "schedule": 5, "num_steps": 60}
    splits = {"train": DATA if data is None else data}
    return iterlin.train(mlp(KEYS[0]) if model is None else model, splits, **(defaults | settings))


def name(schedule):
    return type(schedule).__name__


def flat(result):
    return ravel_pytree(result.state.params)[0]


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)  # float64, some dozens of steps of order 1


def phases(result):
    """The lengths of the phases, from records of every step."""
    steps = [int(record["phase_step"]) for record in result.records]
    return [a for a, b in itertools.pairwise(steps) if b <= a]


def every_step(**settings):
    return train(records_per_decade=1000, **settings)


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


# The last word.

LABELLED = {"data": classification(KEYS[1], n=20), "loss": cross_entropy}
FN = iterlin.functional(mlp(KEYS[0]))[1]


@jax.jit
def network_loss(params):
    x, y = LABELLED["data"]
    return cross_entropy(FN(params, x), y)


def start_loss(moment):
    """The network's training loss at θ_s, where the phase started."""
    return {"start": network_loss(moment.linearised.params0)}


@pytest.mark.parametrize("schedule", [Every(50), Every(1), OnLinearisationError(0.5)], ids=["K = 50", "K = 1", "error"])
@pytest.mark.parametrize(("halvings", "rate"), [(0, 2.0), (0, 30.0), (6, 30.0)])
def test_no_phase_ends_with_a_higher_loss(schedule, halvings, rate):
    settings = LABELLED | {"solver": sgd(rate), "num_steps": 200}
    starts = RecordAt(range(201), start_loss)
    result = train(schedule=Guarded(schedule, halvings=halvings), record_at=[starts], **settings)
    assert result.outcome is iterlin.Outcome.step_limit
    losses = [record["start"] for record in result.records]
    assert all(later <= earlier for earlier, later in itertools.pairwise(losses))
    if rate == 2.0 or halvings:  # at η = 30 no whole step lowers the loss, so that each is rolled back
        assert losses[-1] < losses[0]
    else:
        assert losses[-1] == losses[0]
        assert result.state.feature_updates == 0


def test_a_guard_that_never_acts_changes_nothing():
    guarded, plain = train(schedule=Guarded(Every(5), halvings=3)), train(schedule=5)
    close(flat(guarded), flat(plain))
    assert guarded.state.feature_updates == plain.state.feature_updates
    assert [record["rolled_back"] for record in guarded.records] == [0.0] * len(guarded.records)


def test_a_phase_that_is_rolled_back_starts_again_half_as_long():
    result = every_step(schedule=Guarded(Every(16)), **LABELLED, solver=sgd(30.0), num_steps=31)
    # The record after the last step of a phase is of θ_s again: the phases are longer than what is seen by one.
    assert [length + 1 for length in phases(result)] == [16, 8, 4, 2, 1]
    assert result.records[-1]["rolled_back"] == 5
    assert result.records[-1]["network_train_loss"] == result.records[0]["network_train_loss"]
    assert result.state.feature_updates == 0


def test_a_step_that_is_too_long_is_halved_until_the_loss_falls():
    params, _ = iterlin.functional(mlp(KEYS[0]))
    rate, gradient = 300.0, jax.grad(network_loss)(params)

    def at(share):
        return optax.tree.add_scale(params, -rate * share, gradient)

    halved = next(i for i in range(40) if network_loss(at(0.5**i)) <= network_loss(params))
    assert halved > 0
    settings = LABELLED | {"solver": sgd(rate), "num_steps": 1}
    close(flat(train(schedule=Guarded(Every(1), halvings=40), **settings)), ravel_pytree(at(0.5**halved))[0])
    assert train(schedule=Guarded(Every(1), halvings=halved - 1), **settings).records[-1]["rolled_back"] == 1


def test_damping_follows_how_well_the_expansion_predicts():
    settings = LABELLED | {"damping": 0.01}
    short = every_step(schedule=LevenbergMarquardt(Every(1), change=3.0), solver=sgd(0.01), num_steps=5, **settings)
    assert short.records[-1]["damping_factor"] == pytest.approx(3.0**-5)
    long = train(schedule=LevenbergMarquardt(Every(50)), solver=sgd(5.0), num_steps=400, **settings)
    factors = [record["damping_factor"] for record in long.records]
    assert max(factors) > 1
    assert long.records[-1]["rolled_back"] > 0
    assert all(np.log2(factor) % 1 == 0 for factor in factors)


def test_damping_that_adapts_is_what_the_phase_is_solved_with():
    settings = {"solver": sgd(0.05), "num_steps": 10}
    adapted = train(schedule=LevenbergMarquardt(Every(5), change=4.0), damping=0.2, **settings)
    assert adapted.records[-1]["damping_factor"] == 1 / 16
    switched = train(schedule=5, damping=iterlin.Switched(0.2, 0.05, after=1), **settings)
    close(flat(adapted), flat(switched))


# Resume and errors.


class Kept:
    """Checkpoints in memory, at every pause."""

    interval = 0.0

    def __init__(self):
        self.progress: Any = None

    def restore(self, like):
        return self.progress

    def save(self, progress):
        self.progress = progress


@pytest.mark.parametrize(
    "schedule", [Guarded(OnLinearisationError(0.1, every=3), halvings=2), iterlin.Drawn(2, 9, KEYS[0])], ids=name
)
def test_a_run_that_is_cut_off_goes_on_to_the_same_end(schedule):
    def cut_off(record):
        if record["step"] == 31:
            raise KeyboardInterrupt

    whole, kept = every_step(schedule=schedule), Kept()
    with pytest.raises(KeyboardInterrupt):
        every_step(schedule=schedule, checkpoints=kept, on_record=cut_off)
    assert len(kept.progress.records[0]) > 20
    resumed = every_step(schedule=schedule, checkpoints=kept)
    assert resumed.records == whole.records
    assert jnp.array_equal(flat(resumed), flat(whole))


@pytest.mark.parametrize(
    ("schedule", "settings", "words"),
    [
        (lambda: OnLinearisationError(0.0), {}, "the bound must be positive, got 0.0"),
        (lambda: TrustRegion(0.5, every=0), {}, "every must be at least 1, got 0"),
        (lambda: TrustRegion(0.5, at_least=10, at_most=9), {}, "at_most must be at least 10, got 9"),
        (lambda: iterlin.Growing(0, 2.0, 5), {}, "first must be at least 1, got 0"),
        (lambda: iterlin.Growing(1, 0.5, 5), {}, "factor must be at least 1, got 0.5"),
        (lambda: iterlin.Drawn(5, 4, KEYS[0]), {}, "most must be at least 5, got 4"),
        (lambda: Guarded(Every(2), halvings=-1), {}, "halvings must be at least 0, got -1"),
        (lambda: LevenbergMarquardt(Every(2), change=1.0), {}, "change must be above 1, got 1.0"),
        (lambda: LevenbergMarquardt(Every(2)), {}, "LevenbergMarquardt multiplies λ: give a damping above 0 to start"),
        (
            lambda: Guarded(Every(2)),
            {"batch_size": 4, "key": KEYS[0]},
            "Guarded compares losses of the whole training set: leave batch_size out",
        ),
        (
            lambda: Guarded(Every(2)),
            {"solver": iterlin.ClosedForm(0.05)},
            "the closed form jumps to the end of a phase, so it must be known",
        ),
        (
            lambda: Guarded(Every(2)),
            {"solver": iterlin.Dual(sgd(0.05))},
            "the schedule Guarded looks at the network, and",
        ),
        (
            lambda: Quadratic(Every(2)),
            {"solver": iterlin.Truncated(0.1)},
            "is made for proxies that are linear in θ, and",
        ),
        (
            lambda: Quadratic(Every(2)),
            {"solver": iterlin.Ridge(factorisation="qr")},
            "is made for proxies that are linear",
        ),
        (
            lambda: Quadratic(Every(2)),
            {"solver": iterlin.Dual(sgd(0.1))},
            "is made for proxies that are linear in θ, and",
        ),
    ],
)
def test_what_is_impossible_is_refused_in_a_line(schedule, settings, words):
    with pytest.raises(ValueError, match=words):
        train(schedule=schedule(), **settings)
