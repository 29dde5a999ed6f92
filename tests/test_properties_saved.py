"""A file of a network is the network that was saved, or one line that names the file."""

import hashlib
import io
import json
import pickle
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterlin_lab.nets.shared.build import build
from iterlin_lab.nets.shared.saved import DIGEST, load, save

NET = {"name": "mlp", "width": 3, "depth": 1, "initialisation": "he_normal"}
NET |= {"input_shape": (2, 2, 1), "num_classes": 2}
DESCRIPTION = {"net": NET, "mean": 0.5, "deviation": 2.0}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A network, and the bytes of its file."""
    model = build(**NET, key=jax.random.key(0))
    path = tmp_path_factory.mktemp("saved") / "0.eqx"
    save(path, model, DESCRIPTION)
    return model, path.read_bytes()


def loaded(folder: Path, content: bytes):
    """What is loaded from these bytes, or the error, which names the file in one line."""
    path = folder / "0.eqx"
    path.write_bytes(content)
    try:
        return load(path)
    except ValueError as error:
        lines = str(error).splitlines()
        return lines


def refused(folder: Path, content: bytes) -> str:
    """The one line about these bytes."""
    lines = loaded(folder, content)
    assert len(lines) == 1
    assert str(lines[0]).startswith(f"{folder}/0.eqx is not a saved network")
    return str(lines[0])


def crafted(description, arrays=b""):
    """A file with the digest of its content."""
    content = (description if isinstance(description, bytes) else json.dumps(description).encode()) + b"\n" + arrays
    return content + hashlib.sha256(content).digest()


def parts(saved):
    """The description of the file and its arrays."""
    head, arrays = saved[1][:-DIGEST].split(b"\n", 1)
    return head, arrays


def npy(array, allow_pickle=False):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def test_what_was_saved_is_loaded(saved, tmp_path):
    model, content = saved
    again, description, _ = loaded(tmp_path, content)
    assert eqx.tree_equal(again, model)
    assert description == json.loads(json.dumps(DESCRIPTION))


def test_a_network_is_read_in_the_precision_that_jax_is_set_to(saved, tmp_path):
    """It was trained in float64, which is what jax has in these tests."""
    model, content = saved
    (tmp_path / "0.eqx").write_bytes(content)
    with jax.enable_x64(False):
        again = load(tmp_path / "0.eqx").model
    for one, other in zip(*(jax.tree.leaves(eqx.filter(net, eqx.is_array)) for net in (again, model)), strict=True):
        assert (one.dtype, other.dtype) == (np.float32, np.float64)
        np.testing.assert_array_equal(one, np.asarray(other, np.float32))


@given(st.data())
def test_no_part_of_it_and_nothing_with_another_bit_is(saved, tmp_path, data):
    content = bytearray(saved[1])
    position = data.draw(st.integers(0, len(content) - 1))
    refused(tmp_path, bytes(content[:position]))
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    refused(tmp_path, bytes(content))
    refused(tmp_path, saved[1] + bytes(content[:position]) + b"x")


@given(st.binary(max_size=200))
def test_junk_is_refused_also_with_its_digest(tmp_path, content):
    refused(tmp_path, content)
    refused(tmp_path, crafted(content))
    refused(tmp_path, crafted(DESCRIPTION, content))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@given(st.sampled_from([*NET, "mean", "deviation", "net", "seed"]), JSON)
def test_a_changed_description_is_refused_or_describes_the_same_network(saved, tmp_path, name, value):
    head, arrays = parts(saved)
    description = json.loads(head)
    (description["net"] if name in NET or name == "seed" else description)[name] = value
    answer = loaded(tmp_path, crafted(description, arrays))
    if isinstance(answer, tuple):
        assert jax.tree.structure(answer[0]) == jax.tree.structure(saved[0])
    else:
        assert len(answer) == 1


class Executes:
    """What runs code when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("executed"),)


@pytest.mark.parametrize(
    "arrays",
    [npy(np.array([Executes()], object), allow_pickle=True), pickle.dumps(Executes())],
    ids=["an array of objects", "a pickle"],
)
def test_nothing_is_unpickled(tmp_path, monkeypatch, arrays):
    monkeypatch.chdir(tmp_path)
    refused(tmp_path, crafted(DESCRIPTION, arrays))
    refused(tmp_path, crafted(arrays))
    assert [path.name for path in tmp_path.iterdir()] == ["0.eqx"]
    pickle.loads(pickle.dumps(Executes()))
    assert Path("executed").exists()


@pytest.mark.parametrize(
    "net",
    [
        {"width": 10**12},
        {"width": 10**400},
        {"depth": 10**9},
        {"depth": 30},
        {"width": -1},
        {"width": 1e300},
        {"input_shape": [10**6, 10**6, 10**6]},
        {"num_classes": 10**12},
        {"name": "lenet", "channels": [10**9, 10**9], "kernel": 3, "padding": "SAME", "widths": [4] * 1000},
    ],
    ids=["wide", "wider", "deep", "layers", "negative", "real", "images", "classes", "lenet"],
)
def test_an_absurd_size_is_refused_without_being_allocated(saved, tmp_path, net):
    line = refused(tmp_path, crafted(DESCRIPTION | {"net": NET | net}, parts(saved)[1]))
    assert "its description asks for more than its " in line


def test_an_array_that_is_larger_than_the_file_is_refused_without_being_allocated(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**12,)})
    assert "an array is float32 of shape (1000000000000,)" in refused(tmp_path, crafted(DESCRIPTION, header.getvalue()))


def test_nothing_may_follow(saved, tmp_path):
    line = refused(tmp_path, crafted(parts(saved)[0], parts(saved)[1] + b"x"))
    assert line.endswith("there is more in it than its description asks for")
