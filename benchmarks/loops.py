"""Twenty training loops as people write them: does the step become a graph, and what does it take
beside the program itself, with the bits of the program?

Times are those of the processor, minima of rounds in turns.

    python benchmarks/loops.py            all of them
    python benchmarks/loops.py scaler     those with this word in their name
"""

from __future__ import annotations

import copy
import random
import sys
import time
from collections import deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.nn import functional as F
from taeda.utils.checkpoint import checkpoint

ROUNDS, CALLS, WARM = 24, 6, 70
Made = tuple[Callable[..., Any], Iterator[tuple[Any, ...]], nn.Module]
LOOPS: dict[str, Callable[[], Made]] = {}


def loop(name: str) -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    """Adds a loop: what it returns is a step, the arguments of its calls, the model."""

    def add(make: Callable[[], Made]) -> Callable[[], Made]:
        LOOPS[name] = make
        return make

    return add


def mlp(wide: int = 256) -> nn.Module:
    return nn.Sequential(
        nn.Linear(64, wide), nn.ReLU(), nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, 10)
    )


def batches(*more: Any, rows: int = 64) -> Iterator[tuple[Any, ...]]:
    while True:
        yield taeda.randn(rows, 64), taeda.randint(10, (rows,)), *more


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.attention = (
            nn.LayerNorm(width),
            nn.MultiheadAttention(width, 4, batch_first=True),
        )
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(x)


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.blocks = nn.Embedding(64, 64), nn.ModuleList([Block(64), Block(64)])

    def forward(self, x: Tensor) -> Tensor:
        y = self.tokens(x)
        for block in self.blocks:
            y = block(y)
        return y @ self.tokens.weight.T


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 25, 10),
    )


@loop("mlp, SGD")
def plain() -> Made:
    model = mlp()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, batches(), model


@loop("mlp, AdamW, returns loss.item()")
def item() -> Made:
    model = mlp()
    optimizer = taeda.optim.AdamW(model.parameters())

    def step(x: Tensor, y: Tensor) -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, batches(), model


@loop("cnn, a schedule's step")
def scheduled() -> Made:
    model = cnn()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)
    schedule = taeda.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x.view(-1, 1, 14, 14)), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    def given() -> Iterator[tuple[Any, ...]]:
        while True:
            yield taeda.randn(32, 196), taeda.randint(10, (32,))

    return step, given(), model


@loop("mlp, clip_grad_norm_")
def clipped() -> Made:
    model = mlp()
    optimizer = taeda.optim.Adam(model.parameters())

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    return step, batches(), model


@loop("lstm, clip_grad_norm_")
def recurrent() -> Made:
    model = nn.LSTM(16, 32, batch_first=True)
    head = nn.Linear(32, 10)
    both = nn.ModuleList([model, head])
    optimizer = taeda.optim.Adam(both.parameters())

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        out, _ = model(x.view(64, 4, 16))
        loss = F.cross_entropy(head(out[:, -1]), y)
        loss.backward()
        nn.utils.clip_grad_norm_(both.parameters(), 1.0)
        optimizer.step()
        return loss

    return step, batches(), both


@loop("mlp, GradScaler and autocast")
def scaler() -> Made:
    model = mlp()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)
    scale = taeda.amp.GradScaler("cpu")

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        with taeda.autocast("cpu", dtype=taeda.bfloat16):
            loss = F.cross_entropy(model(x), y)
        scale.scale(loss).backward()
        scale.step(optimizer)
        scale.update()
        return loss

    return step, batches(), model


@loop("model compiled, called under autocast")
def outside() -> Made:
    model = mlp()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)

    def step(call: Any, x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        with taeda.autocast("cpu", dtype=taeda.bfloat16):
            loss = F.cross_entropy(call(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step.__compiles__ = model  # type: ignore[attr-defined]  # not the step itself
    return step, batches(), model


Batch = namedtuple("Batch", "states actions rewards following")


@loop("dqn, a namedtuple batch")
def dqn() -> Made:
    model = mlp()
    target = copy.deepcopy(model)
    optimizer = taeda.optim.Adam(model.parameters())

    def step(batch: Batch) -> Tensor:
        chosen = model(batch.states).gather(1, batch.actions[:, None])[:, 0]
        with taeda.no_grad():
            wanted = batch.rewards + 0.9 * target(batch.following).amax(1)
        loss = F.smooth_l1_loss(chosen, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    def given() -> Iterator[tuple[Any, ...]]:
        for x, y in batches():
            yield (Batch(x, y, taeda.randn(64), taeda.randn(64, 64)),)

    return step, given(), model


@dataclass
class Sample:
    x: Tensor
    y: Tensor
    weight: float


@loop("mlp, a dataclass batch")
def record() -> Made:
    model = mlp()
    optimizer = taeda.optim.Adam(model.parameters())

    def step(batch: Sample) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch.x), batch.y) * batch.weight
        loss.backward()
        optimizer.step()
        return loss

    return step, ((Sample(x, y, 0.5),) for x, y in batches()), model


@loop("trainer that counts, with an average of weights")
def trainer() -> Made:
    model = mlp()

    class Trainer:
        def __init__(self) -> None:
            self.steps, self.model, self.average = 0, model, copy.deepcopy(model)
            self.optimizer = taeda.optim.Adam(model.parameters())

        def step(self, x: Tensor, y: Tensor) -> Tensor:
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            with taeda.no_grad():
                for mean, now in zip(
                    self.average.parameters(), self.model.parameters(), strict=True
                ):
                    mean.lerp_(now, 0.01)
            self.steps += 1
            return loss

    return Trainer().step, batches(), model


@loop("history.append(loss.item())")
def history() -> Made:
    model = mlp()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)
    kept: deque[float] = deque(maxlen=100)

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        kept.append(loss.item())
        return loss

    return step, batches(), model


@loop("a float argument in each call")
def floats() -> Made:
    model = mlp()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)

    def step(x: Tensor, y: Tensor, weight: float) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) * weight
        loss.backward()
        optimizer.step()
        return loss

    return step, ((x, y, random.random()) for x, y in batches()), model


@loop("mixup by random.random()")
def mixup() -> Made:
    model = mlp()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)

    def step(x: Tensor, y: Tensor) -> Tensor:
        share = random.random()
        order = taeda.randperm(x.shape[0])
        out = model(share * x + (1 - share) * x[order])
        loss = share * F.cross_entropy(out, y) + (1 - share) * F.cross_entropy(out, y[order])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step, batches(), model


@loop("checkpoint inside")
def checkpointed() -> Made:
    blocks = nn.ModuleList([Block(64), Block(64)])
    optimizer = taeda.optim.Adam(blocks.parameters())

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        h = x.view(4, 16, 64)
        for block in blocks:
            h = checkpoint(block, h, use_reentrant=False)
        loss = h.square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step, batches(), blocks


@loop("hooks that step when a gradient is there")
def accumulated() -> Made:
    model = mlp()
    optimizers = {p: taeda.optim.SGD([p], lr=0.01) for p in model.parameters()}

    def arrived(p: Tensor) -> None:
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(arrived)

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    return step, batches(), model


@loop("gpt with tied weights, two groups")
def gpt() -> Made:
    model = Gpt()
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() < 2]
    optimizer = taeda.optim.AdamW([{"params": decayed}, {"params": plain, "weight_decay": 0.0}])

    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x)[:, :-1].flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss

    return step, ((taeda.randint(64, (8, 32)),) for _ in iter(int, 1)), model


@loop("gan, two optimizers")
def gan() -> Made:
    maker, judge = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64)), mlp(64)
    both = nn.ModuleList([maker, judge])
    first = taeda.optim.Adam(maker.parameters(), lr=1e-3)
    second = taeda.optim.Adam(judge.parameters(), lr=1e-3)

    def step(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        made = maker(taeda.randn(x.shape[0], 16))
        second.zero_grad()
        lost = F.softplus(-judge(x)).mean() + F.softplus(judge(made.detach())).mean()
        lost.backward()
        second.step()
        first.zero_grad()
        won = F.softplus(-judge(made)).mean()
        won.backward()
        first.step()
        return lost.detach(), won.detach()

    return step, batches(), both


@loop("four micro-batches")
def micro() -> Made:
    model = mlp(64)
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        total = taeda.zeros(())
        for part, wanted in zip(x.chunk(4), y.chunk(4), strict=True):
            loss = F.cross_entropy(model(part), wanted) / 4
            loss.backward()
            total = total + loss.detach()
        optimizer.step()
        return total

    return step, batches(), model


@loop("dict batch, the last one smaller")
def dicts() -> Made:
    model = mlp()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)

    def step(batch: dict[str, Tensor]) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch["x"]), batch["y"])
        loss.backward()
        optimizer.step()
        return loss

    def given() -> Iterator[tuple[Any, ...]]:
        while True:
            for rows in (64, 64, 64, 40):
                x, y = next(batches(rows=rows))
                yield ({"x": x, "y": y},)

    return step, given(), model


@loop("isfinite, and the step only then")
def finite() -> Made:
    model = mlp()
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.01)

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if taeda.isfinite(loss):
            optimizer.step()
        return loss

    return step, batches(), model


def begun(make: Callable[[], Made]) -> Made:
    taeda.manual_seed(0)
    random.seed(0)
    return make()


def compiled(step: Any) -> tuple[Callable[..., Any], Any]:
    """(the step with what is compiled in it, what is compiled)"""
    model = getattr(step, "__compiles__", None)
    if model is None:
        found = taeda.compile(step)
        return found, found
    found = taeda.compile(model)
    return (lambda *args: step(found, *args)), found


def as_it_is(step: Any) -> Callable[..., Any]:
    model = getattr(step, "__compiles__", None)
    return step if model is None else lambda *args: step(model, *args)


def numbers(result: Any) -> Any:
    if isinstance(result, tuple):
        return [numbers(part) for part in result]
    return result.tolist() if isinstance(result, Tensor) else result


def same_bits(make: Callable[[], Made]) -> bool:
    told = []
    for way in (as_it_is, lambda step: compiled(step)[0]):
        step, given, model = begun(make)
        run = way(step)
        results = [numbers(run(*next(given))) for _ in range(WARM)]
        told.append((results, [p.tolist() for p in model.parameters()], random.random()))
    return told[0] == told[1]


def ratio(make: Callable[[], Made]) -> tuple[float, float, Any]:
    """(seconds of the program, those of the compiled one over them, what is compiled)"""
    step, given, _ = begun(make)
    plain = as_it_is(step)
    other, other_given, _ = begun(make)
    fast, state = compiled(other)
    for _ in range(WARM):
        plain(*next(given))
        fast(*next(other_given))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for way, run, source in ((0, plain, given), (1, fast, other_given)):
            calls = [next(source) for _ in range(CALLS)]
            start = time.process_time()
            for args in calls:
                run(*args)
            times[way].append((time.process_time() - start) / CALLS)
    return min(times[0]), min(times[1]) / min(times[0]), state


def became(made: Any) -> tuple[str, str]:
    """("graph", "units" or "eager", the reason)"""
    state = getattr(made, "__taeda_compiled__", None) or made._compiled
    used = [t for part in state.states() for found in part.traces.values() for t in found]
    if any(trace.trusted and trace.runs >= 0 for trace in used):
        return "graph", "" if state.split is None else f"up to: {state.reasons[0]}"
    why = "; ".join(state.reasons)
    return ("units" if state.units is not None and state.units.alive else "eager"), why


def main(only: str) -> int:
    taeda.set_num_threads(1)
    graphs = slow = wrong = count = 0
    for name, make in LOOPS.items():
        if only not in name:
            continue
        equal = same_bits(make)
        seconds, found, state = ratio(make)
        kind, why = became(state)
        said = "" if equal else "OTHER BITS "
        print(
            f"{name:48} {kind:6}{seconds * 1e3:7.2f} ms {found:5.2f} {said}{why[:80]}", flush=True
        )
        count, graphs, slow, wrong = (
            count + 1,
            graphs + (kind == "graph"),
            slow + (found > 1.02),
            wrong + (not equal),
        )
    print(
        f"{count} loops, {graphs} graphs, {slow} slower than 1.02 of eager, {wrong} with other bits"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
