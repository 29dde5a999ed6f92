"""About how many operations the flows take."""

from iterlin_lab.experiments.decay.settings import Scope

EVALUATIONS = 1600  # of the gradient in a flow: seen are 700 to 1600
A_NEURON = 2000  # operations on an example: its activation and the slope of it, beside products that run at full speed


def operations(scale: Scope) -> float:
    """All evaluations of the flows of f for every γ and of f_lin, on every number of examples."""
    own = scale.decay
    flows = own.num_seeds * (len(own.exponents) + 1)
    return flows * EVALUATIONS * sum(own.sizes) * own.width * (6 * own.dimension + A_NEURON)
