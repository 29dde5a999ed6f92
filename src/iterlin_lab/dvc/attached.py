"""DVC that ends with the process that has started it, and takes one command after another.

`python -m iterlin_lab.dvc.attached repro` is one command. Without one, each line of standard input is a JSON list: what
the environment of a command is to have beside the usual one, and its words. What it prints is followed by a line that
starts with `END` and has its exit status.

A `kill -9` leaves nobody who could end it, and it would go on alone. It takes half a second to import.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence

from iterlin_lab.dvc.forks import use_forks
from iterlin_lab.dvc.quick import make_quick
from iterlin_lab.runs.stopping import stop_with_parent

END = "\0"


def main() -> None:
    """What the command `dvc` does, once or for each line."""
    stop_with_parent()
    from dvc.cli import main as dvc  # slow to import, and by then the parent may have gone

    if len(sys.argv) > 1:
        sys.exit(dvc(sys.argv[1:]))
    _serve(dvc)


def _serve(dvc: Callable[[Sequence[str]], int]) -> None:
    make_quick()
    use_forks()
    commands = os.fdopen(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a stage must not read them
    usual = dict(os.environ)
    for line in commands:
        env, words = json.loads(line)
        os.environ.clear()
        os.environ.update(usual | env)
        code = dvc(words)
        print(f"\n{END}{code}", flush=True)


if __name__ == "__main__":
    main()
