"""Validate all parameters, and trace the network at its true shapes, before anything is computed."""

from iterlin.files import write_text
from iterlin.layout import Layout
from iterlin.memory import limit_workers
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin.experiments.check import trace
    from iterlin.experiments.memory import require

    checked = trace(scale)
    require(scale)
    limit_workers(scale)  # says so where fewer train side by side than there are processors for
    write_text(Layout(scale.name).results / "check.txt", f"all parameters are valid; {checked}\n")


if __name__ == "__main__":
    main()
