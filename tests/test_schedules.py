"""When to re-linearise: schedules that look at the network, that guard its loss, and whose periods change."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import iterlin
from iterlin import Every, Flow, Guarded, LevenbergMarquardt, OnLinearisationError, TrustRegion, cross_entropy, sgd
from tests.problems import affine, classification, mlp, regression

KEYS = jax.random.key(0), jax.random.key(1)
DATA = regression(KEYS[1])


def train(model=None, data=None, **settings):
    defaults = {"loss": iterlin.squared_error, "solver": sgd(0.05), "schedule": 5, "num_steps": 60}
    splits = {"train": DATA if data is None else data}
    return iterlin.train(mlp(KEYS[0]) if model is None else model, splits, **(defaults | settings))


def flat(result):
    return ravel_pytree(result.state.params)[0]


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)  # float64, some dozens of steps of order 1


def phases(result):
    """The lengths of the phases, from records of every step."""
    steps = [int(record["phase_step"]) for record in result.records]
    return [a for a, b in zip(steps, steps[1:], strict=False) if b <= a]


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


@pytest.mark.parametrize("schedule", [iterlin.Growing(2, 1.5, 20), iterlin.Drawn(2, 9, KEYS[0])], ids=["grown", "drawn"])
def test_a_solver_that_jumps_knows_periods_that_change(schedule):
    explicit = train(schedule=schedule, num_steps=50)
    jumped = train(schedule=schedule, num_steps=50, solver=iterlin.ClosedForm(0.05))
    np.testing.assert_allclose(flat(jumped), flat(explicit), rtol=1e-7, atol=1e-9)  # through eigenvalues
    assert jumped.state.feature_updates == explicit.state.feature_updates > 3


# What has become wrong.


def test_a_phase_ends_at_the_first_look_above_the_bound():
    found = every_step(schedule=iterlin.Never(), record_at=[iterlin.RecordAt(range(61), error_of(DATA[0]))])
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
    found = every_step(schedule=iterlin.Never(), record_at=[iterlin.RecordAt(range(61), error_of(held_out))])
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


@pytest.mark.parametrize("schedule", [OnLinearisationError(1e-9, every=1), TrustRegion(1e-9, every=1)], ids=["error", "ratio"])
def test_a_model_that_is_linear_in_its_parameters_never_re_linearises(schedule):
    data = regression(KEYS[1], inputs=2, out=3)
    assert train(affine(KEYS[0]), data, schedule=schedule).state.feature_updates == 0


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


def start_loss(moment):
    """The network's training loss at θ_s, where the phase started."""
    x, y = LABELLED["data"]
    return {"start": cross_entropy(moment.linearised.fn(moment.linearised.params0, x), y)}


@pytest.mark.parametrize("schedule", [Every(50), Every(1), OnLinearisationError(0.5)], ids=["K = 50", "K = 1", "error"])
@pytest.mark.parametrize(("halvings", "rate"), [(0, 2.0), (0, 30.0), (6, 30.0)])
def test_no_phase_ends_with_a_higher_loss(schedule, halvings, rate):
    settings = LABELLED | {"solver": sgd(rate), "num_steps": 200, "records_per_decade": 30}
    starts = iterlin.RecordAt(range(201), start_loss)
    result = train(schedule=Guarded(schedule, halvings=halvings), record_at=[starts], **settings)
    assert result.outcome is iterlin.Outcome.step_limit
    losses = [record["start"] for record in result.records if "start" in record]
    assert all(later <= earlier for earlier, later in itertools.pairwise(losses))
    if rate == 2.0 or halvings:  # at η = 30 no whole step lowers the loss, so that each is rolled back
        assert losses[-1] < 0.8 * losses[0]
    else:
        assert losses[-1] == losses[0]
        assert result.state.feature_updates == 0


def test_a_guard_that_never_acts_changes_nothing():
    guarded, plain = train(schedule=Guarded(Every(5), halvings=3)), train(schedule=5)
    close(flat(guarded), flat(plain))
    assert guarded.state.feature_updates == plain.state.feature_updates
    assert [record["rolled_back"] for record in guarded.records] == [0.0] * len(guarded.records)


def test_a_phase_that_is_rolled_back_starts_again_half_as_long():
    settings = LABELLED | {"solver": sgd(30.0), "num_steps": 30}
    assert train(schedule=16, **settings).records[-1]["network_train_loss"] > np.log(2)
    result = every_step(schedule=Guarded(Every(16)), **settings)
    tried = phases(result)
    back = int(result.records[-1]["rolled_back"])
    assert back > 0
    assert tried[0] in (16, 8)  # a phase whose lazy problem leaves its bound ends sooner
    assert result.state.feature_updates == len(tried) - back or result.state.phase_step == 0


def test_a_step_that_is_too_long_is_halved_until_the_loss_falls():
    params, fn = iterlin.functional(mlp(KEYS[0], out=2))
    x, y = LABELLED["data"]
    rate, start = 300.0, cross_entropy(fn(params, x), y)
    gradient = jax.grad(lambda params: cross_entropy(fn(params, x), y))(params)

    def at(share):
        return optax.tree.add_scale(params, -rate * share, gradient)

    halved = next(i for i in range(40) if cross_entropy(fn(at(0.5**i), x), y) <= start)
    assert halved > 0
    schedule = Guarded(Every(1), halvings=40)
    close(flat(train(**LABELLED, solver=sgd(rate), schedule=schedule, num_steps=1)), ravel_pytree(at(0.5**halved))[0])
    assert train(**LABELLED, solver=sgd(rate), schedule=Guarded(Every(1), halvings=halved - 1), num_steps=1).records[-1][
        "rolled_back"
    ] == 1


def test_damping_follows_how_well_the_expansion_predicts():
    settings = LABELLED | {"solver": sgd(1.0), "damping": 0.01, "num_steps": 100}
    good = every_step(schedule=LevenbergMarquardt(Every(1), change=3.0), **settings)
    assert good.records[-1]["damping_factor"] == pytest.approx(1e-6)  # the least that is allowed
    poor = every_step(schedule=LevenbergMarquardt(Every(50)), **settings | {"solver": sgd(30.0), "num_steps": 400})
    factors = [record["damping_factor"] for record in poor.records]
    assert max(factors) > 1
    assert poor.records[-1]["rolled_back"] > 0
    changes = {b / a for a, b in zip(factors, factors[1:], strict=False)}
    assert changes <= {0.5, 1.0, 2.0}


def test_damping_that_adapts_is_what_the_phase_is_solved_with():
    settings = {"solver": sgd(0.05), "num_steps": 10}
    adapted = train(schedule=LevenbergMarquardt(Every(5), change=4.0), damping=0.2, **settings)
    assert adapted.records[-1]["damping_factor"] == 1 / 16
    switched = train(schedule=5, damping=iterlin.Switched(0.2, 0.05, after=1), **settings)
    close(flat(adapted), flat(switched))


# Resume and errors.


@pytest.mark.parametrize(
    "schedule",
    [Guarded(OnLinearisationError(0.1, every=3), halvings=2), iterlin.Drawn(2, 9, KEYS[0])],
    ids=["guarded", "drawn"],
)
def test_a_run_that_stops_and_goes_on_is_one_that_did_not(schedule, tmp_path):
    whole = train(schedule=schedule, num_steps=100)
    kept = iterlin.FileCheckpoints(tmp_path)


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
    ],
)
def test_what_is_impossible_is_refused_in_a_line(schedule, settings, words):
    with pytest.raises(ValueError, match=words):
        train(schedule=schedule(), **settings)
