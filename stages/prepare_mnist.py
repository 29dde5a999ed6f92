"""The same for the data of E-MNIST."""

from iterlin.data.prepare import prepare
from iterlin.layout import Layout
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    layout = Layout(scale.name)
    prepare("scale.mnist.data.name", scale.mnist.data.name, layout.mnist_data, layout.mnist_card)


if __name__ == "__main__":
    main()
