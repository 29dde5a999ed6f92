"""DVC that ends with the process that has started it: `python -m iterlin_lab.dvc.attached repro`.

A `kill -9` leaves nobody who could end it, and it would go on alone.
"""

import sys

from iterlin_lab.runs.stopping import stop_with_parent


def main() -> None:
    """What the command `dvc` does."""
    stop_with_parent()
    from dvc.cli import main as dvc  # slow to import, and by then the parent may have gone

    sys.exit(dvc(sys.argv[1:]))


if __name__ == "__main__":
    main()
