"""Float64, strict dtype and rank promotion, and checked shapes in all tests of the mathematics."""

import os

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_NUMPY_DTYPE_PROMOTION"] = "strict"
os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"

from jaxtyping import install_import_hook

hook = install_import_hook(["iterlin.core", "iterlin.nets", "iterlin.data.splits"], "beartype.beartype")
hook.__enter__()
