"""Kills of all commands and all their processes at random moments: `python -m tests.system.soak 1000`.

In a clone at the smoke preset a part of what was computed is thrown away, a command is killed again and again while it
brings that back, and then every byte must be what it was. It ends with exit code 1 at the first difference.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.clone import SWEEP, Clone
from tests.system.kills import kill_any, kill_both, start, until_it_ends

COMMANDS = {
    "iterlin repro": ("iterlin", "repro"),
    "dvc repro": ("sh", "-c", "iterlin check && exec dvc --wait-for-lock repro"),  # which mends dvc.lock
    "iterlin sync": ("iterlin", "sync", "--again"),
    "iterlin plan": ("iterlin", "plan"),
    "iterlin check": ("iterlin", "check"),
}
LONGEST = {"iterlin repro": 15.0, "dvc repro": 15.0, "iterlin sync": 10.0, "iterlin plan": 10.0, "iterlin check": 2.0}
OUTPUTS = ("data", "results", "reports/smoke")
ROUND = 50  # kills of a command until it is left to end


def lose_everything(clone: Clone, rng: random.Random) -> None:
    """All runs train again."""
    for name in (*OUTPUTS, ".cache/runs", ".cache/training", ".cache/figures", ".dvc/cache", "tracking"):
        shutil.rmtree(clone.folder / name, ignore_errors=True)


def lose_a_result(clone: Clone, rng: random.Random) -> None:
    """One folder of results, with the runs that it was made of and all of DVC's cache."""
    shutil.rmtree(rng.choice([path for path in (clone.folder / "results/smoke").iterdir() if path.is_dir()]))
    for name in (".cache/runs", ".dvc/cache"):
        shutil.rmtree(clone.folder / name, ignore_errors=True)


def lose_the_tables(clone: Clone, rng: random.Random) -> None:
    """What only reads."""
    shutil.rmtree(clone.folder / "reports/smoke")


LOSSES: list[Callable[[Clone, random.Random], None]] = [lose_everything, lose_a_result, lose_the_tables]


def soak(folder: Path, total: int, seed: int) -> Counter[str]:
    """So many kills; how many of each command."""
    rng, done, begun = random.Random(seed), Counter(), time.monotonic()
    clone = Clone(folder, "smoke", *SWEEP, "kernel_limit", "staircase")
    clone.run("iterlin", "repro")
    clone.commit()
    undisturbed = {name: clone.bytes_below(name) for name in OUTPUTS}
    while done.total() < total:
        rng.choice(LOSSES)(clone, rng)
        for name in (rng.choice([*COMMANDS]), rng.choice(["iterlin repro", "dvc repro"])):
            at_most = min(ROUND, total - done.total())
            found = until_it_ends(
                lambda name=name: start(clone, *COMMANDS[name]),
                LONGEST[name],
                at_most,
                rng,
                {"any": kill_any, "all": kill_both},
            )
            done[name] += found.total()
        differing = [name for name in OUTPUTS if clone.bytes_below(name) != undisturbed[name]]
        state = clone.run("dvc", "status").stdout.strip()
        print(f"{done.total()} kills, {time.monotonic() - begun:.0f} s: {dict(done)}", flush=True)
        if differing or state != "Data and pipelines are up to date.":
            sys.exit(f"{clone.folder}: {', '.join(differing) or 'no output'} differs; {state}")
    return done


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.system.soak", description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of what is lost, and of when and what is killed")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))  # it stays where something differs
    done = soak(folder, args.kills, args.seed)
    shutil.rmtree(folder)
    print(f"{done.total()} kills, no byte differs and nothing was done by hand")


if __name__ == "__main__":
    main()
