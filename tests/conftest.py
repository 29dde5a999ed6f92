"""Float64, strict dtype and rank promotion, and checked shapes in all tests of the mathematics."""

import os

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_NUMPY_DTYPE_PROMOTION"] = "strict"
os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"
# Most programs here are compiled for one call: what XLA would optimise takes longer than it saves.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0"

from hypothesis import HealthCheck, configuration, settings
from jaxtyping import install_import_hook

import tests.types_checked  # noqa: F401, the hook finds it by name

hook = install_import_hook(["iterlin", "iterlin_lab"], "tests.types_checked.checked")
hook.__enter__()

# The same examples every time: what fails here fails everywhere.
configuration.set_hypothesis_home_dir(".cache/hypothesis")
settings.register_profile(
    "iterlin",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("iterlin")


def pytest_sessionfinish(session):
    """Where no test may be skipped, one that is counts as failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("ITERLIN_NO_SKIPS") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = 1
        reporter.write_line("skipped tests count as failed here", red=True)


def pytest_collection_modifyitems(items):
    """The longest file first, so that the other worker does all the rest meanwhile."""
    items.sort(key=lambda item: "test_pipeline" not in item.nodeid)
