"""`dvc.lock` has the stages of the scale in params.yaml, and those of each other report lie beside it.

DVC reads and writes the whole file after every stage, which takes it a second for every 150 kB. Nothing is done here
while a DVC is at work.
"""

import re
import sys
from pathlib import Path

from iterlin_lab.dvc.cut_off import LOCK_FILE, entries, joined, no_dvc_at_work
from iterlin_lab.files import write_bytes
from iterlin_lab.layout import Layout


def take_up(scale: str) -> None:
    """Bring back what lies beside the report of this scale, if `dvc.lock` has none of its stages; say so."""
    if not (kept := Layout(scale).lock).exists():
        return
    with no_dvc_at_work() as alone:
        found = _read(LOCK_FILE)
        if alone and scale not in map(_scale, found):
            _write(LOCK_FILE, found | _read(kept))
            print(f"{LOCK_FILE} has the stages of {kept} now", file=sys.stderr)


def put_away(scale: str) -> None:
    """Leave the stages of this scale in `dvc.lock`; those of another scale go beside its report, if it has one."""
    with no_dvc_at_work() as alone:
        if not alone:
            return
        found = _read(LOCK_FILE)
        for other in set(map(_scale, found)) - {scale}:
            if Layout(other).report.exists():
                _write(Layout(other).lock, {name: found.pop(name) for name in list(found) if _scale(name) == other})
        _write(LOCK_FILE, found)
        if scale in map(_scale, found):
            Layout(scale).lock.unlink(missing_ok=True)


def _scale(name: str) -> str:
    """From the first line of an entry, such as `  sweep@laptop-k_sweep-1:`."""
    return re.split("[@:-]", name)[1]


def _read(path: Path) -> dict[str, str]:
    return entries(path.read_text()) if path.exists() else {}


def _write(path: Path, found: dict[str, str]) -> None:
    if found:
        write_bytes(path, joined(found).encode())
    else:
        path.unlink(missing_ok=True)  # DVC does not start with an empty one
