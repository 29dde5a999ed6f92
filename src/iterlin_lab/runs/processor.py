"""The same instructions on every x86 processor, so that all of them end with the same bytes."""

import os
import platform
from itertools import takewhile
from multiprocessing import parent_process
from pathlib import Path


def compute_as_older_processors() -> None:
    """Before numpy and jax start: let them use AVX2 where a processor has more. What the environment says stands.

    Numpy's matrices have one thread, for their bytes depend on it, until `prepare_jax` says what workers have.
    """
    if parent_process() is None:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    here = processor()
    if "avx2" not in here:
        return
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
    if "avx512" in here:
        os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4")
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_cpu_max_isa" not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_max_isa=AVX2".strip()


def processor() -> str:
    """What Linux says of the first processor, of maybe hundreds; its name elsewhere."""
    cpu = Path("/proc/cpuinfo")
    if not cpu.exists():
        return platform.processor()
    with cpu.open() as lines:
        return "".join(takewhile(str.strip, lines))
