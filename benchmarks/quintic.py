"""E-DAMP1D's runs against Levenberg–Marquardt of optimistix, alternately: `python -m benchmarks.quintic --help`."""

import argparse
import os
import statistics
import time
from collections.abc import Callable


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quintic", description=__doc__)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--runs", type=int, default=50, help="in one program")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--damping", type=float, default=1e-3, help="λ of the mean loss; optimistix sets its own")
    parser.add_argument("--pairs", type=int, default=3)
    args = parser.parse_args()
    os.environ["NPROC"] = str(args.threads)  # before jax starts

    import jax

    from benchmarks.__main__ import markdown

    with jax.enable_x64(True):
        ours, other = _iterlin(args.runs, args.steps, args.damping), _optimistix(args.runs, args.steps)
        errors = [max(compute()) for compute in (ours, other)]
        times = [(_seconds(ours), _seconds(other)) for _ in range(args.pairs)]
    columns = zip(("iterlin", "optimistix"), zip(*times, strict=True), errors, strict=True)
    rows = [
        [name, f"{1000 / args.runs * statistics.median(column):.1f} s", f"{error:.2g}"]
        for name, column, error in columns
    ]
    ratio = statistics.median(a / b for a, b in times)
    print(markdown(rows, ["solver", f"1000 runs of {args.steps} steps", "largest train RMSE"]))
    print(f"\niterlin / optimistix: {ratio:.2f} ({', '.join(f'{a / b:.2f}' for a, b in times)})")


def _seconds(compute: Callable[[], list[float]]) -> float:
    start = time.perf_counter()
    compute()
    return time.perf_counter() - start


def _iterlin(runs: int, steps: int, damping: float) -> Callable[[], list[float]]:
    """All that the experiment does for these runs but its tables."""
    import jax.numpy as jnp

    from iterlin import Every, Ridge, Run, squared_error, train_many

    models, data = _problem(runs)
    splits = {"train": data}

    def compute() -> list[float]:
        results = train_many(
            [Run(model, splits, Ridge(factorisation="eigh"), damping) for model in models],
            loss=squared_error,
            schedule=Every(1),
            num_steps=steps,
            hoist=True,
            first_record=steps,
            divergence_factor=1e12,
        )
        return [float(jnp.sqrt(2 * result.records[-1]["network_train_loss"])) for result in results]

    return compute


def _optimistix(runs: int, steps: int) -> Callable[[], list[float]]:
    """`LevenbergMarquardt` with `Normal(CG)`, as it is: it chooses λ, and stops by itself where it has converged."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import lineax as lx
    import optimistix as optx

    from iterlin import functional

    models, (x, y) = _problem(runs)
    params = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(functional(model)[0] for model in models))
    _, fn = functional(models[0])
    solver = optx.LevenbergMarquardt(rtol=0.0, atol=0.0, linear_solver=lx.Normal(lx.CG(rtol=1e-6, atol=1e-6)))

    def solved(params):
        solution = optx.least_squares(lambda p, _: fn(p, x) - y, solver, params, max_steps=steps, throw=False)
        return jnp.sqrt(jnp.mean(jnp.square(fn(solution.value, x) - y)))

    program = eqx.filter_jit(eqx.filter_vmap(solved))
    return lambda: program(params).tolist()


def _problem(runs: int):
    """Networks and data of E-DAMP1D."""
    import jax
    import jax.numpy as jnp

    from iterlin_lab.data.quintic import points
    from iterlin_lab.nets.shared.build import build

    net = {"name": "mlp", "width": 50, "depth": 5, "initialisation": "he_normal"}
    models = [build(**net, input_shape=(1,), num_classes=1, key=jax.random.key(run)) for run in range(runs)]
    x, y = points(20)
    return models, (jnp.asarray(x), jnp.asarray(y))


if __name__ == "__main__":
    main()
