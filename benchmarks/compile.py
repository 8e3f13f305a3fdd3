"""compile beside our own eager, in turns: chains of elementwise steps, training steps, modules; and
what a first call and the guards of a call take. Times are of the processor.

    python benchmarks/compile.py --rounds 9 [--only step]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import taeda
import taeda.nn.functional as F
from taeda import Tensor, nn
from taeda.compiler._arguments import flatten
from taeda.compiler._call import lookup
from taeda.compiler._kernels import any_pending

Case = tuple[Callable[..., Any], tuple[Tensor, ...]]


def transcendental(x: Tensor) -> Tensor:
    y = x.sin() * 2 + x
    y = (y - x.cos()).tanh() * y + 1
    return (y * y + x).relu().sqrt()


def arithmetic(x: Tensor) -> Tensor:
    y = x * 2 + 1
    y = y * x - 0.5
    y = (y + x) * y
    return y.abs() + x


def step(model: nn.Module, x: Tensor, y: Tensor) -> Case:
    optimizer = taeda.optim.Adam(model.parameters(), lr=1e-3)

    def run(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return run, (x, y)


def mlp(inputs: int, hidden: int, outputs: int, rows: int) -> Case:
    model = nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, outputs),
    )
    return step(model, taeda.randn(rows, inputs), taeda.arange(rows) % outputs)


def digits() -> Case:
    def block(inputs: int, outputs: int) -> list[nn.Module]:
        return [
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]

    layers = [*block(1, 32), *block(32, 32), nn.MaxPool2d(2), *block(32, 64), nn.MaxPool2d(2)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.3), nn.Linear(256, 10))
    return step(model, taeda.randn(64, 1, 8, 8), taeda.arange(64) % 10)


def gpt() -> Case:
    """A causal decoder of two layers."""
    block = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True)

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(96, 64), nn.Embedding(32, 64)
            self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
            self.head = nn.Linear(64, 96)
            self.mask = nn.Transformer.generate_square_subsequent_mask(32)

        def forward(self, i: Tensor) -> Tensor:
            x = self.tokens(i) + self.places.weight
            return self.head(self.blocks(x, mask=self.mask, is_causal=True)).flatten(0, 1)

    return step(Decoder(), taeda.randint(0, 96, (8, 32)), taeda.randint(0, 96, (256,)))


def lstm() -> Case:
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.head = nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 10)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(self.lstm(x)[0][:, -1])

    return step(Last(), taeda.randn(16, 24, 32), taeda.arange(16) % 10)


def encoder() -> Case:
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    model = nn.Sequential(layers, nn.Flatten(), nn.Linear(512, 10))
    return step(model, taeda.randn(16, 16, 32), taeda.arange(16) % 10)


def linears(count: int) -> Case:
    return nn.Sequential(*[nn.Linear(4, 4) for _ in range(count)]).requires_grad_(False), (
        taeda.randn(1, 4),
    )


CASES: dict[str, Callable[[], Case]] = {
    "sin, tanh, sqrt: 2M": lambda: (transcendental, (taeda.rand(2_000_000),)),
    "arithmetic: 2M": lambda: (arithmetic, (taeda.rand(2_000_000),)),
    "arithmetic: 200k": lambda: (arithmetic, (taeda.rand(200_000),)),
    "x + 1: 4": lambda: (lambda x: x + 1, (taeda.rand(4),)),
    "MLP 16-32-32-4 step": lambda: mlp(16, 32, 4, 8),
    "MLP 784-512-512-10 step": lambda: mlp(784, 512, 10, 128),
    "digits CNN step": digits,
    "GPT 2 x 64 step": gpt,
    "LSTM 32-64, 24 long step": lstm,
    "encoder 2 x 32 step": encoder,
    "one Linear(4, 4)": lambda: linears(1),
    "40 times Linear(4, 4)": lambda: linears(40),
}


def median(f: Callable[..., Any], args: tuple[Tensor, ...], calls: int) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        for _ in range(calls):
            f(*args)
        times.append((time.process_time() - start) / calls)
    return statistics.median(times)


def once(f: Callable[..., Any], args: tuple[Tensor, ...]) -> float:
    start = time.process_time()
    f(*args)
    return time.process_time() - start


def guards(f: Any, args: tuple[Tensor, ...]) -> str:
    """Seconds for the key and the guards of a call, and how many guards."""
    state = getattr(f, "__taeda_compiled__", None) or f._compiled
    traces = [t for found in state.traces.values() for t in found]
    if not traces:
        return ""

    def ask(*args: Tensor) -> bool:
        return (lookup.environment(), flatten(args, {})) is not None and traces[0].holds()

    return f"{median(ask, args, 500) * 1e6:.1f} us, {traces[0].guard_count}"


def settle(f: Any, args: tuple[Tensor, ...]) -> None:
    """Call until it is decided how its chains run: those that win are compiled meanwhile."""
    state = getattr(f, "__taeda_compiled__", None) or f._compiled
    begin = time.monotonic()
    while time.monotonic() - begin < 30:
        f(*args)
        programs = [t.program for found in state.traces.values() for t in found if t.runs >= 0]
        if not any(map(any_pending, programs)):
            return


def measured(make: Callable[[], Case], rounds: int) -> str:
    f, args = make()
    f(*args)
    g = taeda.compile(make()[0])  # nobody else holds it, as if it was decorated
    first = [once(g, args) * 1e3 for _ in range(3)]  # recorded, proved, run
    for _ in range(40):  # timed by compile itself
        f(*args), g(*args)
    settle(g, args)
    calls = max(3, min(2000, int(0.02 / median(f, args, 3))))
    pairs = [(median(f, args, calls), median(g, args, calls)) for _ in range(rounds)]
    ratio = statistics.median(b / a for a, b in pairs)
    a, b = (statistics.median(column) * 1e6 for column in zip(*pairs, strict=True))
    words = f"{first[0]:6.1f}{first[1]:6.1f}{first[2]:6.1f} ms   {guards(g, args)}"
    return f"{a:10.1f}us{b:10.1f}us{ratio:8.2f}   {words}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="cases with this in their name")
    given = parser.parse_args()
    taeda.set_num_threads(given.threads)
    print(f"{'':26}{'eager':>12}{'compiled':>12}{'ratio':>8}   first, second, third call   guards")
    for name, make in CASES.items():
        if given.only in name:
            print(f"{name:26}{measured(make, given.rounds)}", flush=True)


if __name__ == "__main__":
    main()
