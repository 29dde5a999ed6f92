"""The console script `iterlin`, which is installed with the library too."""

import sys


def main() -> None:
    """Run a command, or name what has to be installed for it."""
    try:
        from iterlin_lab.commands import main as run
    except ModuleNotFoundError as error:
        sys.exit(f"iterlin: the pipeline needs {error.name}, which is not installed: pip install 'iterlin[pipeline]'")
    run()
