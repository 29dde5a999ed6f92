"""What the lecture's two-layer networks have in params.yaml."""

from typing import Annotated, Literal

from pydantic import Field

from iterlin_lab.settings.base import MAX_STEPS

Activation = Literal["gelu", "sigmoid", "softplus", "tanh"]  # of jax.nn; smooth, since J has to be Lipschitz (L §2)
Width = Annotated[int, Field(ge=2, le=MAX_STEPS, multiple_of=2)]  # of antisymmetric pairs
