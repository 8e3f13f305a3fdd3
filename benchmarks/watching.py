"""What it costs to look at a run: scalars for TensorBoard, events of a profile, memory of a long one.

    python benchmarks/watching.py [--steps 1000000]

Plain and watched turns alternate; each figure is a median. Beside torch where that is installed. About half
a minute; with a million steps some minutes. `instructions.py --profiled` counts what a profile leaves behind.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import resource
import tempfile
import time
from collections.abc import Callable
from statistics import median
from typing import Any


def timed(call: Callable[[], Any]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def scalar(library: str, rounds: int) -> float:
    """Microseconds of `add_scalar`, with what the writing thread takes from the program."""
    made: Any = importlib.import_module(f"{library}.utils.tensorboard").SummaryWriter
    found = []
    with tempfile.TemporaryDirectory() as folder, made(folder) as writer:

        def adds() -> None:
            for step in range(1000):
                writer.add_scalar("loss", 0.5, step)

        for _ in range(rounds):
            found.append(timed(adds) * 1e3)
            writer.flush()
    return median(found)


def profiled(library: str, step: Callable[[], Any], rounds: int) -> tuple[float, float, int]:
    """Seconds of a step, plain and under a profile, and the events of one."""
    profiler: Any = importlib.import_module(f"{library}.profiler")
    watch = [profiler.ProfilerActivity.CPU]
    plain, watched, events = [], [], 0
    for _ in range(3):
        step()
    for _ in range(rounds):
        plain.append(timed(step))
        with profiler.profile(activities=watch) as prof:
            watched.append(timed(step))
        events = len(prof.events())
    return median(plain), median(watched), events


def small_calls(library: str) -> Callable[[], None]:
    """Two thousand additions of four numbers."""
    x: Any = importlib.import_module(library).ones(4)

    def step() -> None:
        for _ in range(2000):
            _ = x + x

    return step


def cnn(library: str) -> Callable[[], None]:
    """A training step of a network of convolutions on 64 images of 28 x 28."""
    tensors: Any = importlib.import_module(library)
    nn: Any = importlib.import_module(f"{library}.nn")
    tensors.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(9216, 10),
    )
    optimizer = tensors.optim.SGD(model.parameters(), lr=0.01)
    x, y = tensors.randn(64, 1, 28, 28), tensors.randint(0, 10, (64,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def long_run(steps: int) -> tuple[int, int]:
    """KiB of the process at a tenth of so many steps under a schedule, and at their end."""
    import taeda
    from taeda import profiler

    x, early = taeda.ones(4), 0
    plan = profiler.schedule(wait=5, warmup=1, active=3)
    with profiler.profile(schedule=plan, on_trace_ready=lambda prof: prof.key_averages()) as prof:
        for step in range(steps):
            _ = x + x
            prof.step()
            if step == steps // 10:
                early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return early, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=20_000, help="of the long run")
    options = parser.parse_args()
    libraries = ["taeda"] + ["torch"] * bool(importlib.util.find_spec("torch"))
    print(f"{'':28}" + "".join(f"{name:>10}" for name in libraries))
    scalars = [scalar(name, options.rounds) for name in libraries]
    print(f"{'us a scalar':28}" + "".join(f"{x:10.2f}" for x in scalars))
    for title, made in (("small calls", small_calls), ("CNN step", cnn)):
        found = [profiled(name, made(name), options.rounds) for name in libraries]
        each = [1e6 * (on - off) / events for off, on, events in found]
        print(f"{title + ': us an event':28}" + "".join(f"{x:10.2f}" for x in each))
        share = [100 * (on / off - 1) for off, on, _ in found]
        print(f"{title + ': % more':28}" + "".join(f"{x:10.1f}" for x in share))
    early, late = long_run(options.steps)
    print(f"{options.steps} steps under a schedule: {early} KiB at a tenth, {late} at the end")


if __name__ == "__main__":
    main()
