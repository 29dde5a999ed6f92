"""Measures that are ready for the records of a run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from iterlin import EquinoxModel, RecordAt, cross_entropy, kernel_rank, sharpness, squared_error, train
from iterlin._fingerprint import fingerprint
from iterlin._ready_records import effective_rank
from tests.problems import affine, classification, dense_jacobian, mlp, regression, same
from tests.test_curvature import symmetric

KEYS = tuple(jax.random.split(jax.random.key(0), 3))
STEPS = [0, 10, 20]


def measured(*functions, model=None, data=None, steps=STEPS, **settings):
    """The records of a short run at the steps at which the functions measure, and θ there."""
    thetas = {}

    def kept(moment):
        thetas[moment.step] = ravel_pytree(moment.params)[0]
        return {"kept": 1.0}

    defaults = {"loss": cross_entropy, "solver": 0.5, "schedule": 5, "num_steps": 20}
    records = train(
        model or mlp(KEYS[0]),
        {"train": data or classification(KEYS[1])},
        record_at=[RecordAt(steps, function) for function in (*functions, kept)],
        **(defaults | settings),
    ).records
    return [(record, thetas[record["step"]]) for record in records if "kept" in record]


def dense_curvatures(theta, unflatten, fn, x, y):
    """The largest eigenvalues of the Hessian of the cross-entropy, and of its Gauss–Newton part."""

    def outputs(theta):
        return fn(unflatten(theta), x)

    hessian = jax.hessian(lambda theta: cross_entropy(outputs(theta), y))(theta)
    inner = jax.hessian(cross_entropy)(outputs(theta), y)
    phi = jax.jacobian(outputs)(theta)
    ggn = jnp.einsum("iap,iajb,jbq->pq", phi, inner, phi)
    return jnp.linalg.eigvalsh(hessian)[-1], jnp.linalg.eigvalsh(ggn)[-1]


def test_sharpness_is_that_of_the_network_at_the_step():
    x, y = classification(KEYS[1])
    *_, unflatten, fn = dense_jacobian(mlp(KEYS[0]), x)
    # As many iterations as there are parameters, 100, would be exact; 60 are so to rounding.
    found = measured(sharpness(cross_entropy, x, y, KEYS[2], num_iterations=60))
    assert [record["step"] for record, _ in found] == STEPS
    for record, theta in found:
        hessian_max, ggn_max = dense_curvatures(theta, unflatten, fn, x, y)
        same(record["hessian_max"], hessian_max)
        same(record["ggn_max"], ggn_max)
        assert abs(hessian_max - ggn_max) > 1e-3
    assert len({record["hessian_max"] for record, _ in found}) == 3


def test_rank_is_that_of_the_dense_kernel_at_the_step():
    x, _ = classification(KEYS[1])
    *_, unflatten, fn = dense_jacobian(mlp(KEYS[0]), x)
    for record, theta in measured(kernel_rank(x)):
        phi = jax.jacobian(lambda theta: fn(unflatten(theta), x).ravel())(theta)
        shares = np.linalg.svd(np.asarray(phi), compute_uv=False) ** 2
        shares /= shares.sum()
        same(record["kernel_rank"], np.exp(-np.sum(shares * np.log(shares))))


def test_a_model_of_fixed_features_keeps_its_rank_and_its_sharpness():
    x, y = regression(KEYS[1], inputs=2, out=3)
    functions = kernel_rank(x), sharpness(squared_error, x, y, KEYS[2])
    found = measured(*functions, model=affine(KEYS[0]), data=(x, y), loss=squared_error, solver=0.1)
    for name in ("kernel_rank", "hessian_max", "ggn_max"):
        same([record[name] for record, _ in found], found[0][0][name])
    # 5 features for each of 3 outputs.
    assert 1 < found[0][0]["kernel_rank"] <= 15


def test_measures_of_data_that_numpy_holds_and_of_a_model_of_batches():
    x, y = map(np.asarray, classification(KEYS[1]))
    functions = kernel_rank(x), sharpness(cross_entropy, x, y, KEYS[2])
    plain, batches = (
        measured(*functions, model=model, data=(x, y)) for model in (mlp(KEYS[0]), EquinoxModel(mlp(KEYS[0])))
    )
    for (one, _), (other, _) in zip(plain, batches, strict=True):
        for name in ("kernel_rank", "hessian_max", "ggn_max"):
            same(one[name], other[name])


def test_a_run_with_the_same_measures_is_the_same_run_and_resumes():
    x, y = classification(KEYS[1])

    def measures(x, key, num_iterations):
        return fingerprint(kernel_rank(x), sharpness(cross_entropy, x, y, key, num_iterations))

    same_call, *others = (
        measures(*arguments) for arguments in [(x, KEYS[2], 3), (x + 1, KEYS[2], 3), (x, KEYS[0], 3), (x, KEYS[2], 4)]
    )
    assert measures(x, KEYS[2], 3) == same_call
    assert len({same_call, *others}) == 4


# The effective rank.


def test_equal_eigenvalues_are_counted():
    for k in (1, 4, 9):
        kernel = np.asarray(symmetric(np.r_[np.full(k, 2.0), np.zeros(9 - k)]))
        same(effective_rank(kernel), k)  # the others are some 10⁻¹⁶, and their entropy some 10⁻¹⁴


def test_it_lies_between_the_participation_ratio_and_the_rank_and_no_scale_enters():
    eigenvalues = np.r_[100.0, 3.0, 2.0, 1.0, 0.0, 0.0]
    kernel = np.asarray(symmetric(eigenvalues))
    found = effective_rank(kernel)
    assert eigenvalues.sum() ** 2 / np.sum(eigenvalues**2) < found < 4
    same(effective_rank(1e-6 * kernel), found)
    shares = eigenvalues[:4] / eigenvalues.sum()
    same(found, np.prod(shares**-shares))


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_kernel_without_a_spectrum_has_no_rank(value):
    assert np.isnan(effective_rank(np.full((3, 3), value)))


def test_a_kernel_that_is_too_large_is_refused():
    x, _ = classification(KEYS[1])
    with pytest.raises(ValueError, match=r"the NTK of 12 × 12 examples with 2 outputs takes .* bytes"):
        measured(kernel_rank(x, max_bytes=1000))
