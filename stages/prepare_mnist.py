"""The same for the data of E-MNIST."""

from iterlin_lab.data.prepare import prepare
from iterlin_lab.layout import Layout
from iterlin_lab.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    prepare("scale.mnist.data.name", scale.mnist.data.name, layout.mnist_data, layout.mnist_card)


if __name__ == "__main__":
    main()
