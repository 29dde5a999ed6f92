"""What was changed behind DVC's back: files of its cache, which it trusts unseen, and outputs edited by hand."""

import hashlib
import re
import sys
from pathlib import Path
from typing import Any

CACHE = Path(".dvc/cache/files/md5")
NAME = re.compile(r"[0-9a-f]{32}")


def remove_damaged() -> None:
    """Remove files from DVC's cache that are not what they are named after, and say so: what had them is made again."""
    for path in sorted(CACHE.glob("??/*")):
        named = f"{path.parent.name}{path.stem}"
        if NAME.fullmatch(named) and path.suffix in ("", ".dir") and _md5(path) != named:
            path.unlink()
            print(f"warning: {path} was damaged and is removed: what had it is made again", file=sys.stderr)


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def name_edited(status: dict[str, list[Any]]) -> None:
    """Say which outputs are not those that DVC has noted. It brings them back, or makes them again."""
    for changes in status.values():
        for change in changes:
            for path, state in change.get("changed outs", {}).items() if isinstance(change, dict) else ():
                if state == "modified":
                    print(f"warning: {path} is not as its stage has left it: it is made again", file=sys.stderr)
