"""Ctrl-C at random instants of compiled functions: after each of them nothing of a recording is
left, and the functions give what they give without.

    python tools/hunt/interrupts.py                   10,000 interrupts
    python tools/hunt/interrupts.py --count 200 --seed 3
"""

from __future__ import annotations

import argparse
import gc
import random
import signal
import sys
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import programs as _core
from taeda.nn import functional as F

WITHIN = 0.004  # seconds from the beginning of the calls to the interrupt
_plain_call = nn.Module.__call__


def chain(x: Tensor, own: list[float]) -> Tensor:
    return (x * own[0] + 1).tanh() * x


def step_of(seed: int) -> Callable[[Tensor], Tensor]:
    taeda.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), taeda.tensor([0, 1]))
        loss.backward()
        optimizer.step()
        return loss

    return step


def made(seed: int) -> Callable[[Tensor], Tensor]:
    """A function that nobody compiled before."""
    kind, own = seed % 3, [1.5 + seed]
    if kind == 0:
        return taeda.compile(lambda x: chain(x, own))
    if kind == 1:
        return taeda.compile(step_of(seed))

    def read(x: Tensor) -> Tensor:
        y = chain(x, own)
        own.append(y.sum().item())
        return y

    return taeda.compile(read)


class Alarm:
    """Raises KeyboardInterrupt once, some seconds after `start`."""

    def __init__(self) -> None:
        self.waits = False
        signal.signal(signal.SIGALRM, self._arrived)

    def _arrived(self, *_: Any) -> None:
        if self.waits:
            self.waits = False
            raise KeyboardInterrupt

    def start(self, seconds: float) -> None:
        self.waits = True
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def end(self) -> None:
        self.waits = False
        signal.setitimer(signal.ITIMER_REAL, 0)


def left() -> str:
    """What is left of a recording; "" if nothing is."""
    faults = {
        "a layer": bool(_core.get_layers()) or bool(_core.tracers.entered),
        "the hook of modules": nn.Module.__call__ is not _plain_call,
        "a profile": sys.getprofile() is not None,
        "a collector that waits": not gc.isenabled(),
        "a grad mode": not taeda.is_grad_enabled(),
    }
    return ", ".join(name for name, there in faults.items() if there)


def interrupted(alarm: Alarm, seed: int, within: float) -> tuple[bool, str]:
    """(whether an interrupt came, what is wrong afterwards)"""
    f, x = made(seed), taeda.ones(2, 4)
    came = False
    try:
        alarm.start(within)
        for _ in range(12):
            f(x)
        alarm.end()
    except KeyboardInterrupt:
        came = True
    finally:
        alarm.end()
    fault = left()
    if not fault and seed % 3 != 1 and not f(x).equal(chain(x, [1.5 + seed])):
        fault = "another result"
    if not fault and seed % 3 == 1 and not f(x).isfinite():
        fault = "a step that does not work"
    if not fault and not (taeda.ones(2) * 2).eq(2).all():
        fault = "operations that do not work"
    return came, fault


def main(count: int, seed: int) -> int:
    alarm, own = Alarm(), random.Random(seed)
    came = wrong = number = 0
    while came < count and number < 3 * count + 100:
        number += 1
        arrived, fault = interrupted(alarm, seed + number, max(1e-5, own.random() * WITHIN))
        came += arrived
        if fault:
            wrong += 1
            print(f"seed {seed + number}: {fault} is left", flush=True)
            nn.Module.__call__ = _plain_call  # type: ignore[method-assign]  # for the next ones
            gc.enable()
            taeda.set_grad_enabled(True)
    print(f"{came} interrupts in {number} functions, {wrong} left something behind")
    return int(wrong > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.exit(main(given.count, given.seed))
