"""Lazy phases in their dual, against the same solvers on the parameters themselves."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from iterlin import (
    ClosedForm,
    Dual,
    Every,
    FileCheckpoints,
    Flow,
    Never,
    OnConvergence,
    Outcome,
    Ridge,
    Run,
    Schedule,
    Truncated,
    adam,
    cross_entropy,
    sgd,
    squared_error,
    train,
    train_many,
)
from iterlin._coordinates import coordinates
from iterlin._kernels import _products
from tests.phases import EPS, KEYS, RATE, parameters, trained
from tests.problems import classification, dense_jacobian, mlp, regression

EXPLICIT = {"sgd": sgd(RATE), "momentum": sgd(RATE, momentum=0.9), "nesterov": sgd(RATE, momentum=0.9, nesterov=True)}
DATA = classification(KEYS[1])
BATCHES = {"batch_size": 4, "key": jax.random.key(2)}


def both(solver, data=None, loss=cross_entropy, **settings):
    """The same run on the parameters and in the dual."""
    data = data or (classification(KEYS[1]) if loss is cross_entropy else regression(KEYS[1]))
    settings |= {"data": data, "loss": loss}
    return trained(solver, **settings), trained(Dual(solver), **settings)


def compare(primal, dual, tolerance=1e-10):
    """θ, and all that records and the report say."""
    (theta, result), (in_dual, other) = primal, dual
    np.testing.assert_allclose(in_dual, theta, rtol=0, atol=tolerance)
    assert len(other.records) == len(result.records)
    for ours, theirs in zip(other.records, result.records, strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=10 * tolerance, err_msg=name)
    assert other.report.pop("dual_error") < tolerance
    assert other.report.keys() == result.report.keys()


@pytest.mark.parametrize("solver", [Dual(sgd(RATE)), ClosedForm(RATE)])
def test_the_kernel_is_traced_for_one_example_and_for_all_and_not_in_each_phase(solver, monkeypatch):
    traced = []
    monkeypatch.setattr("iterlin._kernels._products", lambda *program: traced.append(program) or _products(*program))
    _, result = trained(solver, schedule=Every(5))
    assert result.state.feature_updates == 5
    assert len(traced) <= 2


@pytest.mark.parametrize("period", [1, 7, 40])
@pytest.mark.parametrize("damping", [0.0, 0.03])
@pytest.mark.parametrize("batches", [{}, BATCHES], ids=["full", "mini"])
@pytest.mark.parametrize("name", EXPLICIT)
def test_explicit_steps_are_those_on_the_parameters(name, batches, damping, period):
    compare(*both(EXPLICIT[name], schedule=Every(period), num_steps=40, damping=damping, **batches))


@pytest.mark.parametrize("n", [1, 12, 90])
def test_wide_and_tall_problems(n):
    """With 90 examples there are more outputs, 180, than parameters."""
    compare(*both(sgd(RATE), regression(KEYS[1], n=n), squared_error, num_steps=500))


def test_a_rank_deficient_problem():
    """Each example twice, with other targets: no parameter moves half of the directions of the outputs."""
    x, y = regression(KEYS[1], n=6)
    data = jnp.concatenate([x, x]), jnp.concatenate([y, y + 1])
    compare(*both(sgd(RATE), data, squared_error, num_steps=500))


def test_outputs_of_several_axes():
    """Two vectors of outputs an example, each with a label."""
    net = eqx.nn.MLP(3, 6, 7, 1, key=KEYS[0])
    model = eqx.nn.Sequential([net, eqx.nn.Lambda(lambda outputs: outputs.reshape(2, 3))])
    data = classification(KEYS[1])[0], jax.random.randint(KEYS[0], (12, 2), 0, 3)
    compare(*both(sgd(RATE), data, model=model, num_steps=30, schedule=Every(10)))


@pytest.mark.parametrize("loss", [cross_entropy, squared_error])
def test_a_flow_in_one_phase_takes_the_same_steps(loss):
    primal, dual = both(Flow(1e-3), loss=loss, schedule=Never(), num_steps=100_000)
    compare(primal, dual, 1e-8)


def test_a_flow_in_phases_has_the_error_that_it_says():
    settings = {"loss": cross_entropy, "data": DATA, "schedule": Every(2000), "num_steps": 10_000}
    exact, result = trained(Flow(1e-3, 1e-6), **settings)
    for tolerance in (1e-1, 1e-2, 1e-3):
        theta, _ = trained(Dual(Flow(1e-3, tolerance)), **settings)
        assert np.linalg.norm(theta - exact) <= 2 * tolerance * result.records[-1]["distance_init"]


@pytest.mark.parametrize("loss", [cross_entropy, squared_error])
def test_truncated_gauss_newton_takes_the_same_steps(loss):
    """Few: Gauss–Newton makes a thousand times as much of an error in each of them."""
    settings = {"schedule": OnConvergence(0.01), "num_steps": 2, "damping": 0.01}
    compare(*both(Truncated(0.01), loss=loss, **settings), 1e-8)


@pytest.mark.parametrize("factorisation", ["cholesky", "eigh", "qr"])
@pytest.mark.parametrize("space", ["kernel", "parameter"])
@pytest.mark.parametrize("n", [7, 30])
def test_an_exact_step_is_the_same_from_either_space(n, space, factorisation):
    """In the dual the space of the parameters has as many dimensions as Θ has eigenvalues that are not zero."""
    solver = Ridge(space=space, factorisation=factorisation)
    compare(*both(solver, regression(KEYS[1], n=n), squared_error, schedule=Every(1), num_steps=3, damping=0.01), 1e-9)


def test_where_the_solver_diverges_so_does_its_dual():
    settings = {"data": regression(KEYS[1]), "num_steps": 1000, "schedule": Every(500)}
    (_, result), (_, other) = both(sgd(3.0), loss=squared_error, **settings)
    assert other.outcome is Outcome.diverged
    assert other.divergence == result.divergence
    assert len(other.records) == len(result.records)


def test_a_model_that_is_not_finite_diverges_at_once():
    model = jax.tree.map(lambda leaf: leaf * jnp.nan if isinstance(leaf, jax.Array) else leaf, mlp(KEYS[0]))
    _, (_, result) = both(sgd(RATE), model=model, num_steps=5)
    assert result.outcome is Outcome.diverged


@pytest.mark.parametrize("n", [4, 12, 90])
def test_the_coordinates_are_orthonormal_and_span_what_the_jacobian_spans(n):
    x, _ = regression(KEYS[1], n=n)
    phi, theta0, unflatten, fn = dense_jacobian(mlp(KEYS[0]), x)
    found = coordinates(fn, unflatten(theta0), x, 2**30)
    matrix, rank = found.matrix.reshape(2 * n, -1), np.linalg.matrix_rank(phi)
    assert matrix.shape[1] == rank
    rounding = 100 * EPS * max(1e4, np.linalg.cond(matrix) ** 2)
    np.testing.assert_allclose(matrix @ matrix.T, phi @ phi.T, rtol=0, atol=1e-11)
    directions = phi.T @ np.stack([found.cotangent(unit).ravel() for unit in np.eye(rank)], axis=1)
    np.testing.assert_allclose(directions.T @ directions, np.eye(rank), rtol=0, atol=rounding)
    np.testing.assert_allclose(phi @ directions, matrix, rtol=0, atol=rounding)


def test_in_float32_the_dual_is_as_near_to_float64_as_the_parameters_are():
    def cast(tree):
        return jax.tree.map(lambda leaf: leaf.astype(jnp.float32) if eqx.is_inexact_array(leaf) else leaf, tree)

    model, data = mlp(KEYS[0]), regression(KEYS[1])
    settings = {"schedule": Never(), "num_steps": 20_000}
    exact, _ = trained(sgd(RATE), model, data, **settings)
    primal, dual = (trained(one, cast(model), cast(data), **settings)[0] for one in (sgd(RATE), Dual(sgd(RATE))))
    assert dual.dtype == jnp.float32
    errors = [np.linalg.norm(np.asarray(theta, float) - np.asarray(exact)) for theta in (primal, dual)]
    assert errors[1] <= 2 * errors[0]


@pytest.mark.parametrize("solver", [sgd(RATE, momentum=0.9), Flow(1e-3), Truncated(0.1)])
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(solver, tmp_path):
    """It is stopped in the middle of a phase, whose coordinates the checkpoint has."""

    class Stopped(Exception):
        pass

    def run(folder, on_record):
        model, checkpoints = mlp(KEYS[0]), FileCheckpoints(folder, interval=0.0)
        settings = {"schedule": Every(50), "num_steps": 120, "first_record": 10, "checkpoints": checkpoints}
        return train(model, {"train": DATA}, loss=cross_entropy, solver=Dual(solver), on_record=on_record, **settings)

    def stop(record):
        if record["step"] >= 70:
            raise Stopped

    whole = run(tmp_path / "whole", lambda record: None)
    with pytest.raises(Stopped):
        run(tmp_path / "stopped", stop)
    again = run(tmp_path / "stopped", lambda record: None)
    assert again.records == whole.records
    assert again.report == whole.report
    np.testing.assert_array_equal(parameters(again), parameters(whole))


def test_a_solver_of_one_s_own_says_that_it_takes_any_basis():
    class Half(type(sgd(1.0))):
        def in_any_basis(self):
            return True

    halved = Half(optax.sgd, {"learning_rate": RATE / 2})
    compare(both(sgd(RATE / 2), num_steps=20)[0], both(halved, num_steps=20)[1])


class LooksAtTheNetwork(Schedule):
    @property
    def looks(self):
        return True


LABELS = {"loss": cross_entropy, "data": DATA, "solver": Dual(sgd(RATE))}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (BATCHES | {"augment": lambda key, x: x}, "the dual form takes inputs that stay as they are: leave augment or"),
        (
            {"schedule": LooksAtTheNetwork()},
            "the schedule LooksAtTheNetwork looks at the network, and the solver",
        ),
        ({"solver": Dual(sgd(RATE), max_bytes=1000)}, "the dual form for n·out = 24 outputs takes 2.2e\\+04 bytes"),
        ({"solver": Dual(Flow(RATE))} | BATCHES, "gradient flow takes full batches: leave batch_size out"),
    ],
)
def test_impossible_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        trained(**(LABELS | settings))


def test_outputs_that_are_no_array():
    net = eqx.nn.MLP(3, 2, 7, 1, key=KEYS[0])
    model = eqx.nn.Sequential([net, eqx.nn.Lambda(lambda outputs: {"both": outputs})])
    data = DATA[0], {"both": DATA[1]}
    with pytest.raises(ValueError, match="the dual form takes a network whose outputs are one array: use its solver"):
        trained(
            Dual(sgd(RATE)), model=model, data=data, loss=lambda outputs, y: cross_entropy(outputs["both"], y["both"])
        )


@pytest.mark.parametrize("solver", [adam(0.1), sgd(0.1, at_feature_update="keep", momentum=0.9)])
def test_a_solver_that_looks_at_coordinates(solver):
    words = "the dual form has coordinates of its own, and FirstOrder depends on those of θ, or keeps momenta in them:"
    with pytest.raises(ValueError, match=words):
        Dual(solver)


def test_runs_at_once_are_refused():
    runs = [Run(mlp(key), {"train": DATA}, Dual(sgd(RATE))) for key in KEYS]
    with pytest.raises(ValueError, match="the solver Dual computes on the host: train its runs one by one"):
        train_many(runs, loss=cross_entropy, schedule=5, num_steps=5)
