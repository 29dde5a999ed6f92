"""L-KERNEL: the kernels of finite networks against their limits."""

from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.kernel_limit import kernel_limit

    table = kernel_limit(scale)
    write_text(Layout(scale.name).results / "kernel_limit.csv", table.to_csv(index=False, float_format=FLOATS))


if __name__ == "__main__":
    main()
