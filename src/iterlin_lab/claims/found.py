"""What the verdicts say in all, and which of them are others than in the last commit."""

import json
import subprocess
from collections import Counter
from pathlib import Path


def in_words(path: Path) -> str:
    """Two lines on the verdicts in `claims.json`: how many there are of each, and what has changed."""
    verdicts = _verdicts(path.read_text())
    counts = ", ".join(f"{number} {verdict}" for verdict, number in Counter(verdicts.values()).most_common())
    return f"{len(verdicts)} claims: {counts}\n{_changes(_committed(path), verdicts)}"


def _changes(before: dict[str, str] | None, now: dict[str, str]) -> str:
    if before is None:
        return "The last commit has no verdicts to compare with"
    lines = [f"{claim} was {before.get(claim, 'not there')}" for claim in now if before.get(claim) != now[claim]]
    lines += [f"{claim} is not there any more" for claim in before if claim not in now]
    return f"Against the last commit: {'; '.join(lines) or 'the same verdicts'}"


def _committed(path: Path) -> dict[str, str] | None:
    """As of the last commit, if that has them in this form."""
    done = subprocess.run(["git", "show", f"HEAD:./{path}"], capture_output=True, text=True)
    return None if done.returncode else _verdicts(done.stdout)


def _verdicts(text: str) -> dict[str, str]:
    return json.loads(text)["verdict"]
