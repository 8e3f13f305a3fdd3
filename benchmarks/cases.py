"""What is measured: a table of cases, each a function that gets the library and returns what to repeat.

A case prepares its data and returns a function without arguments; only that function is timed.
Shapes are chosen so that each group has small cases, where the way of a call counts, and large
ones, where the kernel does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools" / "testing"))
from both import script  # the examples, for either library

Case = Callable[[Any], Callable[[], object]]
CASES: dict[str, dict[str, Case]] = {}


def case(group: str, name: str) -> Callable[[Case], Case]:
    def add(make: Case) -> Case:
        CASES.setdefault(group, {})[name] = make
        return make

    return add


# ---- overhead: little work, many calls ----
def _small(name: str, action: Callable[[Any, Any, Any], object], grad: bool = False) -> None:
    @case("overhead", name)
    def make(lib):
        x = lib.ones(16).requires_grad_(grad)
        y = lib.ones(16).requires_grad_(grad)
        return lambda: action(lib, x, y)


_small("add", lambda lib, x, y: x + y)
_small("add, gradient recorded", lambda lib, x, y: x + y, grad=True)
_small("mul by a number", lambda lib, x, y: x * 2.0)
_small("function call", lambda lib, x, y: lib.add(x, y))
_small("view", lambda lib, x, y: x.view(4, 4))
_small("index", lambda lib, x, y: x[3])
_small("shape", lambda lib, x, y: x.shape)
_small("item", lambda lib, x, y: x[0].item())
_small("zeros", lambda lib, x, y: lib.zeros(16))
_small("backward of (x*y+y).sum()", lambda lib, x, y: (x * y + y).sum().backward(), grad=True)


@case("overhead", "Linear 16 to 16, batch 1")
def linear(lib):
    layer, x = lib.nn.Linear(16, 16), lib.ones(1, 16)
    return lambda: layer(x)


@case("overhead", "MLP of 10 layers, forward and backward")
def deep(lib):
    layers = [part for _ in range(10) for part in (lib.nn.Linear(32, 32), lib.nn.ReLU())]
    model, x = lib.nn.Sequential(*layers), lib.ones(8, 32)
    return lambda: model(x).sum().backward()


# ---- elementwise ----
def _elementwise(
    name: str, action: Callable[[Any, Any, Any], object], dtype: str = "float32"
) -> None:
    for label, count in (("32 K", 1 << 15), ("256 K", 1 << 18), ("4 M", 1 << 22)):

        @case("elementwise", f"{name}, {label}" + (f" {dtype}" if dtype != "float32" else ""))
        def make(lib, count=count):
            lib.manual_seed(0)
            x = (lib.rand(count) + 0.5).to(getattr(lib, dtype))
            y = (lib.rand(count) + 0.5).to(getattr(lib, dtype))
            return lambda: action(lib, x, y)


_elementwise("add", lambda lib, x, y: x + y)
_elementwise("add", lambda lib, x, y: x + y, "bfloat16")
_elementwise("exp", lambda lib, x, y: x.exp())
_elementwise("log", lambda lib, x, y: x.log())
_elementwise("tanh", lambda lib, x, y: x.tanh())
_elementwise("sigmoid", lambda lib, x, y: x.sigmoid())
_elementwise("gelu", lambda lib, x, y: lib.nn.functional.gelu(x))
_elementwise("relu", lambda lib, x, y: x.relu())
_elementwise("where", lambda lib, x, y: lib.where(x > y, x, y))
_elementwise("to bfloat16", lambda lib, x, y: x.to(lib.bfloat16))


@case("elementwise", "add of a transposed 2048 x 2048")
def add_transposed(lib):
    x, y = lib.ones(2048, 2048), lib.ones(2048, 2048).t()
    return lambda: x + y


@case("elementwise", "add a row to 2048 x 2048")
def add_row(lib):
    x, y = lib.ones(2048, 2048), lib.ones(2048)
    return lambda: x + y


@case("elementwise", "gather 256 of 1024 in 4096 rows")
def gather(lib):
    lib.manual_seed(0)
    x, index = lib.rand(4096, 1024), lib.randint(0, 1024, (4096, 256))
    return lambda: x.gather(1, index)


# ---- reduction ----
def _reduction(name: str, shape: tuple[int, ...], action: Callable[[Any, Any], object]) -> None:
    @case("reduction", f"{name}, {' x '.join(map(str, shape))}")
    def make(lib):
        lib.manual_seed(0)
        x = lib.rand(*shape)
        return lambda: action(lib, x)


_reduction("sum", (1 << 22,), lambda lib, x: x.sum())
_reduction("sum of rows", (2048, 1024), lambda lib, x: x.sum(1))
_reduction("sum of columns", (2048, 1024), lambda lib, x: x.sum(0))
_reduction("mean of channels", (32, 64, 28, 28), lambda lib, x: x.mean((0, 2, 3)))
_reduction("max of rows", (2048, 1024), lambda lib, x: x.max(1))
_reduction("argmax of rows", (2048, 1024), lambda lib, x: x.argmax(1))
_reduction("var of rows", (2048, 1024), lambda lib, x: x.var(1))
_reduction("softmax", (2048, 1024), lambda lib, x: x.softmax(1))
_reduction("log_softmax", (256, 10), lambda lib, x: x.log_softmax(1))
_reduction("cumsum", (2048, 1024), lambda lib, x: x.cumsum(1))
_reduction("layer_norm", (2048, 768), lambda lib, x: lib.nn.functional.layer_norm(x, (768,)))


# ---- matmul ----
def _matmul(name: str, a: tuple[int, ...], b: tuple[int, ...], transposed: bool = False) -> None:
    @case("matmul", name)
    def make(lib):
        lib.manual_seed(0)
        x, y = lib.rand(*a), lib.rand(*b)
        y = y.transpose(-1, -2) if transposed else y
        return lambda: x @ y


_matmul("64", (64, 64), (64, 64))
_matmul("512", (512, 512), (512, 512))
_matmul("1024", (1024, 1024), (1024, 1024))
_matmul("512, second transposed", (512, 512), (512, 512), transposed=True)
_matmul("8 x 1024 times 1024 x 1024", (8, 1024), (1024, 1024))
_matmul("matrix 2048 times vector", (2048, 2048), (2048,))
_matmul("64 products of 64", (64, 64, 64), (64, 64, 64))
_matmul("256 products of 32 x 64 times 64 x 32", (256, 32, 64), (256, 64, 32))


@case("matmul", "attention, 8 heads, 256 long, 64 wide")
def attention(lib):
    lib.manual_seed(0)
    q, k, v = (lib.rand(4, 8, 256, 64) for _ in range(3))
    return lambda: lib.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


@case("matmul", "attention, 4 heads, 64 long, 32 wide, and backward")
def short_attention(lib):
    lib.manual_seed(0)
    q, k, v = (lib.rand(16, 4, 64, 32).requires_grad_() for _ in range(3))
    attend = lib.nn.functional.scaled_dot_product_attention
    return lambda: attend(q, k, v, is_causal=True).sum().backward()


# ---- packed weights: a vector times the weights of a layer ----


def _packed(lib: Any, bits: int, n: int, k: int, x: Any) -> Callable[[], object]:
    """taeda's groups of 32 for both; torch's forms are a scale for each row of int8, and groups of 32."""
    if hasattr(lib, "_weight_int8_mm"):
        scales = lib.rand(n, k // 32).half()
        if bits == 8:
            weight = lib.randint(-127, 128, (n, k)).to(lib.int8)
            return lambda: lib._weight_int8_mm(x, weight, scales)
        weight = lib.randint(0, 256, (n, k // 2)).to(lib.uint8)
        return lambda: lib._weight_int4_mm(x, weight, scales)
    if bits == 8:
        weight, row = lib.randint(-127, 128, (n, k)).to(lib.int8), lib.rand(n).to(x.dtype)
        return lambda: lib._weight_int8pack_mm(x, weight, row)
    weight = lib._convert_weight_to_int4pack_for_cpu(lib.randint(0, 16, (n, k)).to(lib.int32), 1)
    both = lib.rand(k // 32, n, 2).to(x.dtype)
    return lambda: lib._weight_int4pack_mm_for_cpu(x, weight, 32, both)


def _vector_times_packed(bits: int, n: int, k: int, dtype: str) -> None:
    @case("packed", f"1 x {k} x {n}, {bits} bits, {dtype}")
    def make(lib):
        return _packed(lib, bits, n, k, lib.rand(1, k).to(getattr(lib, dtype)))


for _bits in (8, 4):
    for _n, _k in ((768, 768), (3072, 768), (50304, 768), (24576, 4096)):
        _vector_times_packed(_bits, _n, _k, "bfloat16")
_vector_times_packed(8, 3072, 768, "float32")


# ---- fft: one long line, batches of short ones, columns, several dimensions, a prime ----
def _fft(name: str, shape: tuple[int, ...], action: Callable[[Any, Any], object]) -> None:
    @case("fft", name)
    def make(lib):
        lib.manual_seed(0)
        x = lib.randn(*shape, dtype=lib.complex64)
        x = x.real.contiguous() if name.startswith("rfft") else x
        return lambda: action(lib, x)


_fft("fft of 16", (16,), lambda lib, x: lib.fft.fft(x))
_fft("fft of 1024", (1024,), lambda lib, x: lib.fft.fft(x))
_fft("rfft of 1 M", (1 << 20,), lambda lib, x: lib.fft.rfft(x))
_fft("fft of 1 M", (1 << 20,), lambda lib, x: lib.fft.fft(x))
_fft("fft of 64, 4096 rows", (4096, 64), lambda lib, x: lib.fft.fft(x))
_fft("fft of 1024, 1024 rows", (1024, 1024), lambda lib, x: lib.fft.fft(x))
_fft("fft of 1024, 1024 columns", (1024, 1024), lambda lib, x: lib.fft.fft(x, dim=0))
_fft("fft of 1000, 1000 rows", (1000, 1000), lambda lib, x: lib.fft.fft(x))
_fft("rfft of 400, 3200 rows", (3200, 400), lambda lib, x: lib.fft.rfft(x))
_fft("rfft of 4096, 256 rows", (256, 4096), lambda lib, x: lib.fft.rfft(x))
_fft("irfft of 4096, 256 rows", (256, 2049), lambda lib, x: lib.fft.irfft(x))
_fft("fft2 of 256 x 256, 16 of them", (16, 256, 256), lambda lib, x: lib.fft.fft2(x))
_fft("fft of 10007, a prime", (10007,), lambda lib, x: lib.fft.fft(x))
_fft("fft of 10007, 64 rows", (64, 10007), lambda lib, x: lib.fft.fft(x))


# ---- conv ----
def _conv(
    name: str, batch: int, inputs: int, outputs: int, size: int, kernel: int, **more: int
) -> None:
    for backward in (False, True):

        @case("conv", name + (", and backward" if backward else ""))
        def make(lib, backward=backward):
            lib.manual_seed(0)
            layer = lib.nn.Conv2d(inputs, outputs, kernel, **more)
            x = lib.rand(batch, inputs, size, size).requires_grad_(backward)
            return (lambda: layer(x).sum().backward()) if backward else (lambda: layer(x))


_conv("3 x 3, 64 to 64, 28", 8, 64, 64, 28, 3, padding=1)
_conv("1 x 1, 256 to 64, 14", 8, 256, 64, 14, 1)
_conv("7 x 7 stride 2, 3 to 64, 112", 2, 3, 64, 112, 7, stride=2, padding=3)
_conv("3 x 3, 1 to 32, 8", 64, 1, 32, 8, 3, padding=1)


@case("conv", "max pooling 2 x 2, 28, and backward")
def max_pooling(lib):
    lib.manual_seed(0)
    x = lib.rand(64, 32, 28, 28).requires_grad_()
    return lambda: lib.nn.functional.max_pool2d(x, 2).sum().backward()


# ---- forward: a value and its tangent, without a graph ----
def _tangent(name: str, model: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
    @case("forward", name)
    def make(lib):
        function, x, t = model(lib), lib.randn(*shape), lib.randn(*shape)
        modes = lib.autograd.forward_ad

        def run():
            with lib.no_grad(), modes.dual_level():
                return modes.unpack_dual(function(modes.make_dual(x, t))).tangent

        return run


_tangent("exp of 16", lambda lib: lib.exp, (16,))
_tangent("softmax, 64 x 512", lambda lib: lambda x: x.softmax(1), (64, 512))
_tangent(
    "MLP 256-256-10, batch 64",
    lambda lib: lib.nn.Sequential(lib.nn.Linear(256, 256), lib.nn.ReLU(), lib.nn.Linear(256, 10)),
    (64, 256),
)
_tangent(
    "convolution of 16 channels, 28 x 28", lambda lib: lib.nn.Conv2d(16, 16, 3), (8, 16, 28, 28)
)
_tangent("layer norm, 64 x 512", lambda lib: lib.nn.LayerNorm(512), (64, 512))


@case("forward", "hessian of 8 numbers")
def hessian(lib):
    x = lib.randn(8)
    return lambda: lib.func.hessian(lambda x: (x.sin() * x).sum())(x)


# ---- optim ----
def _optimizer(name: str, **options: float) -> None:
    for label, count, size in (("60 small", 60, 256), ("6 large", 6, 1 << 20)):

        @case("optim", f"{name}, {label}")
        def make(lib, count=count, size=size):
            parameters = [lib.nn.Parameter(lib.ones(size)) for _ in range(count)]
            for parameter in parameters:
                parameter.grad = lib.ones(size)
            optimizer = getattr(lib.optim, name)(parameters, lr=1e-6, **options)
            return lambda: optimizer.step()


_optimizer("SGD", momentum=0.9)
_optimizer("Adam")
_optimizer("AdamW", weight_decay=0.01)


@case("optim", "clip_grad_norm_ within the limit, 6 large")
def clipping(lib):
    parameters = [lib.nn.Parameter(lib.ones(1 << 20)) for _ in range(6)]
    for parameter in parameters:
        parameter.grad = lib.ones(1 << 20)
    return lambda: lib.nn.utils.clip_grad_norm_(parameters, 1e9)


# ---- train: whole steps ----
def _step(lib: Any, model: Any, x: Any, y: Any) -> Callable[[], object]:
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> None:
        loss = lib.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


@case("train", "MLP 784-256-256-10, batch 64")
def mlp(lib):
    nn = lib.nn
    model = nn.Sequential(
        *(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    )
    return _step(lib, model, lib.rand(64, 784), lib.arange(64) % 10)


@case("train", "CNN on 8 x 8, batch 64")
def cnn(lib):
    nn = lib.nn
    layers = [nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(256, 10))
    return _step(lib, model, lib.rand(64, 1, 8, 8), lib.arange(64) % 10)


class _Recurrent:
    """A recurrent layer and a linear one on its last output, called like a module."""

    def __init__(self, lib: Any, kind: str) -> None:
        self.rnn = getattr(lib.nn, kind)(64, 256, batch_first=True)
        self.head = lib.nn.Linear(256, 10)

    def parameters(self) -> list[Any]:
        return [*self.rnn.parameters(), *self.head.parameters()]

    def __call__(self, x: Any) -> Any:
        return self.head(self.rnn(x)[0][:, -1])


@case("train", "LSTM of 256 units, 48 steps, batch 32")
def lstm(lib):
    return _step(lib, _Recurrent(lib, "LSTM"), lib.rand(32, 48, 64), lib.arange(32) % 10)


@case("train", "GRU of 256 units, 48 steps, batch 32")
def gru(lib):
    return _step(lib, _Recurrent(lib, "GRU"), lib.rand(32, 48, 64), lib.arange(32) % 10)


@case("train", "RNN of 256 units, 48 steps, batch 32")
def rnn(lib):
    return _step(lib, _Recurrent(lib, "RNN"), lib.rand(32, 48, 64), lib.arange(32) % 10)


@case("train", "ResNet-18 on 32 x 32, batch 8")
def resnet(lib):
    model = script("examples/resnet18/train.py", lib.__name__).ResNet18()
    return _step(lib, model, lib.rand(8, 3, 32, 32), lib.arange(8))


@case("train", "GPT of 3 layers, 96 wide, batch 8")
def gpt(lib):
    example = script("examples/char_gpt/train.py", lib.__name__)
    model = example.GPT(example.Config())
    optimizer = example.optimizer_for(model, 1e-4)
    x, y = next(example.batches(model.config, 8, seed=0))

    def step() -> None:
        _, loss = model(x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step
