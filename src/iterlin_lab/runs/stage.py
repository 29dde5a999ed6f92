"""How a stage of dvc.yaml starts."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

from iterlin_lab.files import alone, held
from iterlin_lab.runs.stopping import explain_failures, stop_with_a_word, stop_with_parent
from iterlin_lab.runs.workers import CHECKPOINT_SECONDS, prepare_jax, whole_number
from iterlin_lab.settings.shared import Shared

PIPELINE = "ITERLIN_PIPELINE"  # which pipeline a stage belongs to: the process that runs its stages
_HELD = ExitStack()  # what a stage holds until its process ends


def begin_stage(scale: Shared) -> tuple[str, list[str]]:
    """The stage, as DVC names it in `DVC_STAGE`, and what that names after `stage@scale`.

    Also fixes what the processes of this stage inherit (`prepare_jax`). XLA's bytes change with the number of threads
    of its pool, so that number is a parameter and not the machine's. One process at a time is in a stage: what a DVC
    that was killed has left behind ends first.
    """
    stage, _, item = os.environ.get("DVC_STAGE", "").partition("@")
    name, *cell = item.split("-")
    if name != scale.name:
        sys.exit(f"DVC_STAGE is {stage}@{item}, not a stage of scale {scale.name}: run this through `dvc repro`")
    address = os.environ["DVC_STAGE"]
    stop_with_a_word(address)
    explain_failures(address)
    stop_with_parent()
    whole_number(CHECKPOINT_SECONDS, 0, smallest=0)  # its workers take it
    _HELD.enter_context(alone(_lock(address), "this stage"))
    os.environ.setdefault(PIPELINE, str(os.getppid()))
    prepare_jax(scale)
    return address, cell


def is_running(stage: str) -> bool:
    """Whether a process of this machine is in the stage."""
    return held(_lock(stage))


def _lock(stage: str) -> Path:
    return Path(".cache/stages") / f"{stage}.lock"
