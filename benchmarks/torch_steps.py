"""The same steps in PyTorch, which is optional: its rows say "not installed" where it is not.

The images lie channels last, which is PyTorch's fastest on a CPU and on a GPU.
"""

import importlib.util
from collections.abc import Callable

import jax

from benchmarks.problems import CLASSES, LeNetProblem

RATE = 1e-3


class NotInstalled(Exception):
    """PyTorch, or its CUDA build where jax runs on a GPU, is missing."""


def _setting(problem: LeNetProblem):
    """The torch module, the network and its data, on the device of jax."""
    if importlib.util.find_spec("torch") is None:
        raise NotInstalled
    import torch  # pyright: ignore[reportMissingImports]
    from torch import nn  # pyright: ignore[reportMissingImports]

    device = "cuda" if jax.default_backend() == "gpu" else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise NotInstalled
    padding = "valid" if problem.padding == "VALID" else "same"
    channels, layers = problem.shape[2], []
    for _ in range(2):
        convolution = nn.Conv2d(channels, problem.channels, problem.kernel, padding=padding)
        layers += [convolution, nn.MaxPool2d(2), nn.ReLU()]
        channels = problem.channels
    layers += [nn.Flatten(), nn.Linear(problem.sizes()[-1] ** 2 * channels, problem.widths[0]), nn.ReLU()]
    layers += [nn.Linear(*problem.widths), nn.ReLU(), nn.Linear(problem.widths[1], CLASSES)]
    model = nn.Sequential(*layers).to(device, memory_format=torch.channels_last)
    x, y = (torch.from_numpy(values).to(device) for values in problem.data())
    return torch, model, x.permute(0, 3, 1, 2), y.long()


def _stepper(problem: LeNetProblem, of: Callable, compiled: bool) -> Callable[[], None]:
    torch, model, x, y = _setting(problem)
    params = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    params_s = {name: p.detach().clone() for name, p in params.items()}
    loss = of(torch, model)
    loss = torch.compile(loss) if compiled else loss

    def run():
        for _ in range(problem.steps):
            gradients = torch.autograd.grad(loss(params, params_s, x, y), list(params.values()))
            with torch.no_grad():
                for p, gradient in zip(params.values(), gradients, strict=True):
                    p -= RATE * gradient
        if x.is_cuda:
            torch.cuda.synchronize()

    return run


def _plain_loss(torch, model):
    def loss(params, _, x, y):
        return torch.nn.functional.cross_entropy(torch.func.functional_call(model, params, (x,)), y)

    return loss


def _linearised_loss(torch, model):
    def loss(params, params_s, x, y):
        change = {name: params[name] - params_s[name] for name in params}
        outputs, difference = torch.func.jvp(
            lambda params: torch.func.functional_call(model, params, (x,)), (params_s,), (change,)
        )
        return torch.nn.functional.cross_entropy(outputs + difference, y)

    return loss


def plain(problem: LeNetProblem) -> Callable[[], None]:
    """Autograd."""
    return _stepper(problem, _plain_loss, compiled=False)


def linearised(problem: LeNetProblem) -> Callable[[], None]:
    """`torch.func.jvp` inside autograd."""
    return _stepper(problem, _linearised_loss, compiled=False)


def plain_compiled(problem: LeNetProblem) -> Callable[[], None]:
    """Autograd through `torch.compile`."""
    return _stepper(problem, _plain_loss, compiled=True)


def linearised_compiled(problem: LeNetProblem) -> Callable[[], None]:
    """`torch.func.jvp` and autograd through `torch.compile`."""
    return _stepper(problem, _linearised_loss, compiled=True)
