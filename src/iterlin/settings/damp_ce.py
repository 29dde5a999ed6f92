"""The section of params.yaml of E-DAMPCE."""

from typing import Annotated

from pydantic import Field

from iterlin.settings.adam import Adam, Truncated
from iterlin.settings.base import Dampings, Steps, Strict


class DampCE(Strict):
    """E-DAMPCE: lazy problems with cross-entropy + λ‖θ − θ_s‖², each solved to a certificate."""

    solver: Annotated[Adam | Truncated, Field(discriminator="name")]
    num_steps: Steps
    records_per_decade: Annotated[int, Field(ge=1, le=1000)]
    dampings: Dampings
    num_seeds: Annotated[int, Field(ge=2)]
