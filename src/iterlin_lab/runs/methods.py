"""What a recipe asks of the library: which model and parameters are trained, and when the model is expanded."""

from typing import Any

import equinox as eqx
import jax

from iterlin import Every, LevenbergMarquardt, Never, OnConvergence, Quadratic, Rescaled, Schedule, only
from iterlin_lab.nets.shared.initialise import layers
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.settings.schedules import schedule_of


def model_of(recipe: Recipe, network: Any) -> Any:
    """The model that is trained, from the network."""
    return network if recipe.output_scale is None else Rescaled(network, recipe.output_scale)


def trainable_of(recipe: Recipe, model: Any) -> Any:
    """What `trainable=` takes to train the layers that the recipe names."""
    numbers = recipe.layers
    if numbers is None and recipe.output_scale is None:
        return eqx.is_inexact_array
    if numbers is None:
        return only(model, network_of)
    return only(model, lambda model: [layers(network_of(model))[i] for i in numbers])


def network_of(model: Any) -> Any:
    """The network that a description builds, whose outputs are not rescaled."""
    return model.model if isinstance(model, Rescaled) else model


def schedule_for(recipe: Recipe, key: jax.Array) -> Schedule:
    """When to re-linearise, how λ changes then, and which expansion of the network a phase trains."""
    schedule = _phases(recipe, key)
    if recipe.damping_change is not None:
        schedule = LevenbergMarquardt(schedule, recipe.damping_change)
    return schedule if recipe.order == 1 else Quadratic(schedule)


def _phases(recipe: Recipe, key: jax.Array) -> Schedule:
    if recipe.schedule is not None:
        return schedule_of(recipe.schedule).make(key)
    if recipe.period is None:
        return OnConvergence(recipe.tolerance)
    return Never() if recipe.period == float("inf") else Every(int(recipe.period))
