"""The verdicts of now beside those of the last commit."""

import json
import subprocess
from collections import Counter
from pathlib import Path


def in_words(path: Path) -> str:
    """Two lines on the verdicts in `claims.json`: how many there are of each, and what has changed."""
    now, before = read(path.read_text()), committed(path)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in Counter(now.values()).most_common())
    if before is None:
        changes = "The last commit has no verdicts to compare with"
    else:
        changes = f"Against the last commit: {'; '.join(changed(read(before), now)) or 'the same verdicts'}"
    return f"{len(now)} claims: {counts}\n{changes}"


def changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The claims whose verdicts differ, by name, and both verdicts."""
    claims = sorted(before.keys() | now.keys())
    pairs = {claim: (before.get(claim, "nothing"), now.get(claim, "nothing")) for claim in claims}
    return [f"{claim}: {old} committed, {new} recomputed" for claim, (old, new) in pairs.items() if old != new]


def read(text: str) -> dict[str, str]:
    """By the names of the claims, what `claims.json` says of them."""
    return json.loads(text)["verdict"]


def committed(path: Path) -> str | None:
    """A file as it is in the last commit, if it is there."""
    done = subprocess.run(["git", "show", f"HEAD:./{path}"], capture_output=True, text=True)
    return None if done.returncode else done.stdout
