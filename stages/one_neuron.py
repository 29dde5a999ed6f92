"""L-RELU: one ReLU neuron by gradient descent, against kernels and lazy training."""

from iterlin_lab.files import whole_folder
from iterlin_lab.layout import Layout
from iterlin_lab.results import FLOATS
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin_lab.experiments.one_neuron import one_neuron

    errors, descent = one_neuron(scale)
    with whole_folder(Layout(scale.name).results / "one_neuron") as folder:
        errors.to_csv(folder / "errors.csv", index=False, float_format=FLOATS)
        descent.to_csv(folder / "descent.csv", index=False, float_format=FLOATS)


if __name__ == "__main__":
    main()
