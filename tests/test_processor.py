"""Which instructions numbers come from."""

import ast
import os
import sys

import pytest

from iterlin_lab.runs import processor
from tests.whole import ROOT

NAMES = ("XLA_FLAGS", "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")


def said(monkeypatch, flags: str, **environment: str) -> list[str | None]:
    """What the environment says afterwards, on a processor with these flags."""
    monkeypatch.setattr(processor, "processor", lambda: flags)
    monkeypatch.setattr(os, "environ", environment)
    processor.compute_as_older_processors()
    assert environment["OPENBLAS_NUM_THREADS"] == "1"
    return [environment.get(name) for name in NAMES]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("flags : sse4_2 avx2 avx512f", ["--xla_cpu_max_isa=AVX2", "Haswell", "X86_V4"]),
        ("flags : sse4_2 avx2", ["--xla_cpu_max_isa=AVX2", "Haswell", None]),
        ("flags : sse4_2", [None, None, None]),
        ("arm", [None, None, None]),
    ],
)
def test_no_processor_uses_more_than_avx2(flags, words, monkeypatch):
    assert said(monkeypatch, flags) == words


def test_what_the_environment_says_stands(monkeypatch):
    own = {
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX512",
        "OPENBLAS_CORETYPE": "SkylakeX",
        "NPY_DISABLE_CPU_FEATURES": "",
    }
    assert said(monkeypatch, "avx2 avx512f", **own) == list(own.values())


def test_flags_of_another_kind_are_kept(monkeypatch):
    flags, *_ = said(monkeypatch, "avx2", XLA_FLAGS="--xla_dump_to=there")
    assert flags == "--xla_dump_to=there --xla_cpu_max_isa=AVX2"


def test_the_first_processor_is_told_from_the_others():
    found = processor.processor()
    assert found.count("model name") <= 1
    assert "\n\n" not in found


@pytest.mark.parametrize("stage", sorted(path.name for path in (ROOT / "stages").glob("*.py")))
def test_no_stage_loads_numpy_before_its_instructions_are_set(stage):
    """`iterlin_lab` sets them when it is imported, so nothing that is not Python's own stands before it."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / "stages" / stage).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module).partition(".")[0])
    assert "iterlin_lab" in found
    assert found <= {"iterlin_lab", *sys.stdlib_module_names}
