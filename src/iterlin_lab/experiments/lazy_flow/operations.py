"""About how many operations the flows take."""

from iterlin_lab.experiments.lazy_flow.settings import Scope

EVALUATIONS = 2200  # of the gradient in a flow: seen are 800 to 2200 with a duration of 300
A_NEURON = 2000  # operations on an example: its activation and the slope of it, beside products that run at full speed


def operations(scale: Scope) -> float:
    """All evaluations of all flows of a network; the linear ones are known in closed form."""
    own = scale.lazy_flow
    flows = own.num_seeds * len(own.exponents)
    return flows * EVALUATIONS * own.duration / 300 * own.num_train * sum(own.widths) * (6 * own.dimension + A_NEURON)
