"""The same steps in PyTorch, which is optional: its rows say "not installed" where it is not.

The images lie channels last, which is PyTorch's fastest on a CPU and on a GPU.
"""

import importlib.util
from collections.abc import Callable

import jax

from benchmarks.problems import CLASSES, LeNetProblem, NotInstalled, Problem, ResNetProblem, ViTProblem

RATE = 1e-3


def _setting(problem: Problem):
    """The torch module, the network and its data, on the device of jax, for which PyTorch's build must be."""
    if importlib.util.find_spec("torch") is None:
        raise NotInstalled
    import torch  # pyright: ignore[reportMissingImports]
    from torch import nn  # pyright: ignore[reportMissingImports]

    device = "cuda" if jax.default_backend() == "gpu" else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise NotInstalled
    model = NETWORKS[type(problem)](nn, problem).to(device, memory_format=torch.channels_last)
    x, y = (torch.from_numpy(values).to(device) for values in problem.data())
    return torch, model, x.permute(0, 3, 1, 2), y.long()


def _lenet(nn, problem: LeNetProblem):
    padding = "valid" if problem.padding == "VALID" else "same"
    channels, layers = problem.shape[2], []
    for _ in range(2):
        convolution = nn.Conv2d(channels, problem.channels, problem.kernel, padding=padding)
        layers += [convolution, nn.MaxPool2d(2), nn.ReLU()]
        channels = problem.channels
    layers += [nn.Flatten(), nn.Linear(problem.sizes()[-1] ** 2 * channels, problem.widths[0]), nn.ReLU()]
    layers += [nn.Linear(*problem.widths), nn.ReLU(), nn.Linear(problem.widths[1], CLASSES)]
    return nn.Sequential(*layers)


def _resnet(nn, problem: ResNetProblem):
    class Block(nn.Module):
        def __init__(self, before: int, out: int, stride: int):
            super().__init__()
            self.first = nn.Conv2d(before, out, 3, stride, 1)
            self.second = nn.Conv2d(out, out, 3, 1, 1)
            self.shortcut = nn.Identity() if before == out else nn.Conv2d(before, out, 1, stride)

        def forward(self, x):
            branch = self.second(nn.functional.relu(self.first(x)))
            return nn.functional.relu(self.shortcut(x) + sum(problem.blocks) ** -0.5 * branch)

    before = problem.channels
    layers = [nn.Conv2d(problem.shape[2], before, 3, padding=1), nn.ReLU()]
    for stage, number in enumerate(problem.blocks):
        for place in range(number):
            out = problem.channels * 2**stage
            layers.append(Block(before, out, 2 if stage and not place else 1))
            before = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, CLASSES))


def _vit(nn, problem: ViTProblem):
    import torch  # pyright: ignore[reportMissingImports]

    width, patch, heads = problem.width, problem.patch, problem.heads

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.projections, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.rise, self.fall = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            split = (-1, problem.tokens, 3, heads, width // heads)
            query, key, value = self.projections(norm(x)).reshape(split).permute(2, 0, 3, 1, 4)
            # By its products: the fused attention has no derivative in forward mode.
            weights = torch.softmax(query @ key.transpose(-1, -2) * (width // heads) ** -0.5, -1)
            x = x + self.output((weights @ value).transpose(1, 2).flatten(2))
            return x + self.fall(nn.functional.gelu(self.rise(norm(x)), approximate="tanh"))

    class ViT(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(problem.shape[2], width, patch, patch)
            self.positions = nn.Parameter(torch.zeros(problem.tokens, width))
            self.blocks = nn.Sequential(*(Block() for _ in range(problem.depth)))
            self.head = nn.Linear(width, CLASSES)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
            return self.head(norm(self.blocks(x)).mean(1))

    norm = nn.LayerNorm(width, elementwise_affine=False)
    return ViT()


NETWORKS: dict[type, Callable] = {LeNetProblem: _lenet, ResNetProblem: _resnet, ViTProblem: _vit}


def _stepper(problem: Problem, of: Callable, compiled: bool) -> Callable[[], None]:
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


def plain(problem: Problem) -> Callable[[], None]:
    """Autograd."""
    return _stepper(problem, _plain_loss, compiled=False)


def linearised(problem: Problem) -> Callable[[], None]:
    """`torch.func.jvp` inside autograd."""
    return _stepper(problem, _linearised_loss, compiled=False)


def plain_compiled(problem: Problem) -> Callable[[], None]:
    """Autograd through `torch.compile`."""
    return _stepper(problem, _plain_loss, compiled=True)


def linearised_compiled(problem: Problem) -> Callable[[], None]:
    """`torch.func.jvp` and autograd through `torch.compile`."""
    return _stepper(problem, _linearised_loss, compiled=True)
