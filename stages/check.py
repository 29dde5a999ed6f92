"""Before anything is computed: validate all parameters, trace the network at its true shapes, remove old results."""

from iterlin_lab.config import read_scale
from iterlin_lab.dvc.unlisted import remove_unlisted
from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.runs.memory import limit_workers
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    from iterlin_lab.planning.memory import require
    from iterlin_lab.planning.trace import trace

    require(scale)
    checked = trace(scale)
    remove_unlisted(scale)
    limit_workers(scale)  # says so where fewer train side by side than there are processors for
    write_text(Layout(scale.name).results / "check.txt", f"all parameters are valid; {checked}\n")


if __name__ == "__main__":
    main()
