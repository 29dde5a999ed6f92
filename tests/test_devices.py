"""One run on several devices, in a process that has four of them."""

import json
import sys

import jax
import pytest

from iterlin import Run, cross_entropy, train_many
from tests.clone import ROOT, run_in
from tests.problems import classification, mlp


@pytest.fixture(scope="module")
def told():
    flags = "--xla_force_host_platform_device_count=4"
    done = run_in(ROOT, sys.executable, "-m", "tests.devices", XLA_FLAGS=flags, JAX_ENABLE_X64="1")
    return json.loads(done.stdout.splitlines()[-1])


def test_four_devices_come_to_what_one_comes_to(told):
    assert len(told["differences"]) == 11
    assert max(told["differences"].values()) < 1e-13


def test_kernels_by_blocks_over_the_devices_are_the_same(told):
    assert told["kernels"] < 1e-13


def test_each_device_has_a_quarter_of_the_data_and_of_the_work(told):
    assert (told["data"], told["devices"]) == ([[18], 72], 4)
    one, each = told["operations"]
    assert 0.24 * one < each < 0.3 * one


def test_what_cannot_be_spread_is_refused(told):
    assert told["refused"] == {
        "shares": "mesh: the 70 examples of split 'train' cannot be spread evenly over 4 devices: leave 2 out, or "
        "add 2",
        "batch": "mesh: the 10 examples of a batch cannot be spread evenly over 4 devices: leave 2 out, or add 2",
        "axes": "mesh: examples are spread over one axis, and this mesh has 2 (data, model): give "
        "jax.sharding.Mesh(mesh.devices.ravel(), 'data')",
        "kind": "mesh must be a jax.sharding.Mesh, such as jax.make_mesh((4,), ('data',)), got 4",
    }


def test_the_page_on_devices_runs_on_four_of_them(told):
    assert set(told["documented"]["devices"]) == {4}
    assert max(told["documented"]["losses"]) < 0.69
    assert told["documented"]["kernel"] == [40, 2, 40, 2]


def test_runs_at_once_take_no_mesh():
    mesh, data = jax.make_mesh((1,), ("data",)), classification(jax.random.key(1))
    runs = [Run(mlp(jax.random.key(0)), {"train": data}, rate, mesh=mesh) for rate in (0.1, 0.2)]
    with pytest.raises(ValueError, match="runs with a stream or a mesh train one by one: call train for each of them"):
        train_many(runs, loss=cross_entropy, schedule=1, num_steps=3)
