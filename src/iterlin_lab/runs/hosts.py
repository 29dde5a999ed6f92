"""One run on several devices, of one host or of several: then each has a process, and the first keeps the results."""

import json
import sys
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import jax
from jax.sharding import Mesh

from iterlin._devices import from_first
from iterlin_lab.runs.store import entries_of, kept
from iterlin_lab.runs.workers import num_processes

Compute = Callable[[dict[int, Path], Path], None]


@cache
def mesh_of(devices: int) -> Mesh | None:
    """So many devices, over which the examples of a run are spread; none for one, on which it trains as it is.

    **Raises**: `SystemExit` with one line that names the key if there are fewer.
    """
    if devices == 1:
        return None
    if num_processes() > 1:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize()
    if len(found := jax.devices()) < devices:
        sys.exit(f"params.yaml: scale.devices: a run is to have {devices}, and there are {len(found)} here")
    return jax.make_mesh((devices,), ("data",), devices=found[:devices])


def kept_together(descriptions: list[dict], code: tuple[str, ...], compute: Compute) -> list[Path]:
    """`kept`, where several processes compute each run: the first says which runs are missing, and keeps them."""
    if jax.process_count() == 1:
        return kept(descriptions, code, compute)
    if jax.process_index() == 0:
        return _led(descriptions, code, compute)
    if missing := _agreed(()):
        with TemporaryDirectory() as away:
            folders = {number: Path(away) / str(number) for number in missing}
            for folder in folders.values():
                folder.mkdir()
            compute(folders, Path(away))
    return entries_of(descriptions, code)


def _led(descriptions: list[dict], code: tuple[str, ...], compute: Compute) -> list[Path]:
    said = []

    def lead(folders: dict[int, Path], progress: Path) -> None:
        said.append(_agreed(folders))
        compute(folders, progress)

    entries = kept(descriptions, code, lead)
    if not said:
        _agreed(())
    return entries


def _agreed(numbers: Collection[int]) -> list[int]:
    """The numbers that the first process gives."""
    return json.loads(from_first(json.dumps([*numbers]).encode()))
