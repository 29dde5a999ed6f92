"""Data that were changed behind everybody's back are found before they are used, named, and made again."""

import shutil

import pytest

from iterlin_lab.dvc.damaged import CACHE
from tests.clone import Clone

RESULT = "results/smoke/staircase"
UP_TO_DATE = "Data and pipelines are up to date."


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("silent"), "smoke", "staircase")
    clone.run("iterlin", "repro")
    return clone


@pytest.fixture(scope="module")
def undisturbed(clone):
    return {name: clone.bytes_below(name) for name in ("data", "results", "reports")}


def flip(path):
    """One bit of a byte in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(0o444)


@pytest.mark.parametrize("name", ["data/smoke.npz", RESULT])
def test_a_byte_of_an_output(clone, undisturbed, name):
    path = clone.folder / name
    flip(next(path.glob("*.csv")) if path.is_dir() else path)
    done = clone.run("iterlin", "repro")
    assert f"warning: {name} is not as its stage has left it: it is made again" in done.stderr
    assert {name: clone.bytes_below(name) for name in undisturbed} == undisturbed
    assert clone.run("dvc", "status").stdout.strip() == UP_TO_DATE


@pytest.mark.parametrize("suffix", ["", ".dir"])
def test_a_byte_of_the_cache(clone, undisturbed, suffix):
    """Every file of the cache, so that whatever is taken from there would be wrong."""
    damaged = [path for path in (clone.folder / CACHE).glob("??/*") if path.suffix == suffix and path.stat().st_size]
    assert damaged
    for path in damaged:
        flip(path)
    shutil.rmtree(clone.folder / "results")
    done = clone.run("iterlin", "repro")
    for path in damaged:
        shown = path.relative_to(clone.folder)
        assert f"warning: {shown} was damaged and is removed: what had it is made again" in done.stderr
    assert {name: clone.bytes_below(name) for name in undisturbed} == undisturbed
    assert clone.run("dvc", "status").stdout.strip() == UP_TO_DATE
