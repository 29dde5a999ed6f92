"""Iterative linearisation on one page: fit a quintic with a small network, re-linearised every K steps.

K = 1 is gradient descent, K = ∞ trains the first-order Taylor expansion at the initialisation (lazy training).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

NUM_STEPS, LEARNING_RATE = 3000, 3e-3


def quintic(x):
    return x**5 / 32 - x**3 / 2 + 2 * x - 1


def train(params0, f, x, y, period):
    """T Algorithm 3 on the loss ½ mean (f_lin − y)²; `period` is K. Returns the parameters θ."""
    optimiser = optax.sgd(LEARNING_RATE)

    def step(carry, t):
        params, params_s, state = carry
        # The feature learning step: every K steps the expansion point θ_s moves to θ.
        params_s = jax.lax.cond(t % period == 0, lambda: params, lambda: params_s)

        def loss(params):
            # f_lin(θ) = f(θ_s) + φ_s (θ − θ_s), by a Jacobian-vector product: φ_s is never stored.
            change = jax.tree.map(jnp.subtract, params, params_s)
            outputs, difference = jax.jvp(lambda p: f(p, x), (params_s,), (change,))  # (n, 1), (n, 1)
            return 0.5 * jnp.mean((outputs + difference - y) ** 2)

        # The lazy step: θ follows the gradient of the linear proxy.
        updates, state = optimiser.update(jax.grad(loss)(params), state)
        return (optax.apply_updates(params, updates), params_s, state), None

    carry = (params0, params0, optimiser.init(params0))
    (params, *_), _ = jax.lax.scan(step, carry, jnp.arange(NUM_STEPS))
    return params


def main():
    model = eqx.nn.MLP(1, 1, width_size=50, depth=2, key=jax.random.key(0))
    params0, static = eqx.partition(model, eqx.is_inexact_array)

    def f(params, x):
        return jax.vmap(eqx.combine(params, static))(x)

    x = jnp.linspace(-3.5, 3.5, 20)[:, None]  # (n, 1)
    x_test = jnp.linspace(-3.5, 3.5, 1000)[:, None]
    results = {}
    for name, period in {"1": 1, "10": 10, "100": 100, "1000": 1000, "∞": NUM_STEPS}.items():
        params = jax.jit(train, static_argnums=1)(params0, f, x, quintic(x), period)  # compiled once for all K
        rmse = jnp.sqrt(jnp.mean((f(params, x_test) - quintic(x_test)) ** 2))
        results[name] = float(rmse)
        print(f"K = {name:>4}: {-(-NUM_STEPS // period) - 1:>4} feature updates, test RMSE {rmse:.3f}")
    return results


if __name__ == "__main__":
    main()
