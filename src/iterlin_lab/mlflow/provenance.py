"""Where runs come from, in the tags that MLflow's page has columns for."""

import getpass
import subprocess
from functools import cache


def provenance(stage: str) -> dict[str, str]:
    """The DVC stage, the commit of its code, and who is here."""
    return {"stage": stage, "mlflow.source.name": stage, "mlflow.source.type": "LOCAL"} | _here()


@cache
def _here() -> dict[str, str]:
    """What all runs of this process have in common."""
    dirty = str(bool(_git("status", "--porcelain")))
    return {"mlflow.source.git.commit": _git("rev-parse", "HEAD"), "dirty": dirty, "mlflow.user": getpass.getuser()}


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True).stdout.strip()
