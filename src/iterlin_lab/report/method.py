"""What every report says: the method in a minute, and where to read what its verdicts rest on."""

METHOD = """## The method in a minute

A network f(x; θ) learns features, and gradient descent renews them with every step. Iterative linearisation renews them
every K steps. Phase s starts at the parameters θ_s. It trains the first-order Taylor expansion of the network there:

    f_lin(x; θ) = f(x; θ_s) + J(x; θ_s) (θ − θ_s),    J = ∂f/∂θ

- The **proxy** is f_lin. It is linear in θ, so that its features are fixed. A phase trains it, and not the network.
- The **network** is f with the same parameters θ. Accuracies are the network's, unless a text says otherwise.
- A **phase** is K steps on one f_lin, a *lazy problem*. At its end θ_{s+1} = θ: this is a **feature update**.
- **K** is the number of steps between feature updates. K = 1 is gradient descent. K = ∞ has no feature update: it is
  lazy training, with the neural tangent kernel of the start. The larger K is, the less feature learning there is.

![A network of one parameter, and the lines that three phases train](figures/method.svg)

*A network of one parameter. Each phase takes K steps towards the target on f_lin, its tangent at θ_s. There the network
has another output (dashed): the next phase starts from it.*"""

VALIDITY = """## Validity

[What the verdicts rest on](../../docs/validity.md): the error of flows, other processors, other images, widths and
seeds, and how tests were changed. [What is not shown](../../docs/limits.md): limits, and where this differs from the
sources."""
