"""What a step of a network costs on this machine, kept from one command to the next. Nothing here imports jax."""

import hashlib
import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from iterlin_lab.files import alone, write_text
from iterlin_lab.runs.memory import ESTIMATES
from iterlin_lab.runs.workers import prepare_jax
from iterlin_lab.settings.shared import Shared


def kept_costs(scale: Shared, net: dict[str, Any]) -> Path:
    """Where it is kept what a step costs with this network, these data, and this machine."""
    what = {
        "data": scale.data.model_dump(),
        "net": net,
        "batch_size": scale.training.batch_size,
        "threads": scale.threads,
        "precision": scale.precision,
        "form": scale.form,
        "cores": os.cpu_count(),
        "jax": version("jax"),
    }
    return ESTIMATES / f"costs-{hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]}.json"


def costs_of(scale: Shared, net: dict[str, Any]) -> dict[str, float]:
    """The numbers of an `Estimate` (`planning.steps`), measured once."""
    path = kept_costs(scale, net)
    if not path.exists():
        prepare_jax(scale)
        from iterlin_lab.planning.steps import estimate  # jax starts here

        print(f"Measuring a few steps of {net['name']}, to estimate what the whole takes …", flush=True)
        with alone(ESTIMATES / "lock", "the estimates"):
            write_text(path, json.dumps(estimate(scale, net)._asdict()))
    return json.loads(path.read_text())


def forget_costs() -> None:
    """What a step costs is measured afresh the next time."""
    for path in ESTIMATES.glob("costs-*.json"):
        path.unlink()
