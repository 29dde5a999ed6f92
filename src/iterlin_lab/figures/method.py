"""The picture of the method: a network of one parameter, and the lines that iterative linearisation trains."""

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

NAME = "method"
TARGET = 1.6
START, RATE, K, PHASES = 0.0, 0.08, 12, 3
COLOURS = ("#0072b2", "#d55e00", "#009e73")


def network(theta: Any) -> Any:
    """f(θ) of a number or of an array, of which no expansion is right for long."""
    return np.log1p(3 * np.asarray(theta))


def slope(theta: float) -> float:
    """J = ∂f/∂θ."""
    return 3 / (1 + 3 * theta)


def phases() -> Iterator[tuple[float, list[float]]]:
    """θ_s of every phase, and θ after each of its K steps on ½(f_lin − y)²."""
    start = START
    for _ in range(PHASES):
        theta, steps, J = start, [start], slope(start)
        for _ in range(K):
            theta -= RATE * J * float(network(start) + J * (theta - start) - TARGET)
            steps.append(theta)
        yield start, steps
        start = theta


def method() -> Figure:
    """f against θ, f_lin of each phase with its K steps, and where the next phase starts."""
    figure, axes = plt.subplots(figsize=(4.6, 2.7))
    everywhere = np.linspace(START, 1.4, 200)
    axes.plot(everywhere, network(everywhere), color="black", label="network f")
    axes.axhline(TARGET, color="0.6", linewidth=0.8, linestyle=":")
    axes.annotate("target y", (0.7, TARGET), (0, 3), textcoords="offset points")
    for s, ((start, steps), colour) in enumerate(zip(phases(), COLOURS, strict=True)):
        at = np.array(steps)
        line = network(start) + slope(start) * (at - start)
        axes.plot(at, line, "o-", color=colour, label=f"phase {s}: {K} steps on f_lin")
        axes.plot([at[-1]] * 2, [line[-1], network(at[-1])], color=colour, linestyle="--", linewidth=0.8)
        axes.annotate(f"$θ_{s}$", (start, network(start)), (5, -8), textcoords="offset points", color=colour)
    axes.set(xlabel="parameter θ", ylabel="output", ylim=(-0.2, None))  # room for θ₀
    axes.legend(loc="lower right")
    return figure
