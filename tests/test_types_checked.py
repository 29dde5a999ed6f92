"""Tests check the types and shapes that the code states, also of the leaves of trees."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import TypeCheckError

from iterlin._blocks import in_chunks, rows


@pytest.mark.parametrize("leaf", ["text", np.ones(3)])
def test_a_leaf_of_another_type_is_an_error(leaf):
    with pytest.raises(TypeCheckError, match="in_chunks"):
        in_chunks(lambda x: x, {"a": jnp.ones(3), "b": leaf})


def test_so_is_another_shape():
    with pytest.raises(TypeCheckError, match="rows"):
        rows(jnp.ones(3), jnp.zeros((1, 1), int))
