"""An operation raises between things that a program changes: what was changed until then is what the program
itself would have changed, whoever runs the graph, and an operator of somebody else is called once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import chain, permutations
from typing import Any

import pytest

import taeda
from taeda import Tensor, nn

LETTERS = {
    "h": "an operator that was defined at run time",
    "i": "an index, which raises later",
    "w": "a write into a tensor from outside",
    "z": "gradients are dropped",
    "b": "a backward",
    "s": "a step of an optimizer",
    "r": "random numbers",
}


def as_it_is(graph_module, example_inputs):
    return graph_module


BACKENDS: dict[str, Any] = {"taeda": "taeda", "aot_eager": "aot_eager", "a user's": as_it_is}


def drawn(count: int) -> list[str]:
    """Orders of three to five letters with an index among them; the first two were once wrong."""
    every = ["".join(o) for o in chain(*(permutations(LETTERS, k) for k in (3, 4, 5)))]
    fit = [o for o in every if "i" in o and ("b" in o or "s" not in o)]
    return ["hbisz", "hzbi", *random.Random(0).sample(fit, count)]


class State:
    """What a program changes."""

    def __init__(self) -> None:
        taeda.manual_seed(0)
        self.net, self.index = nn.Linear(4, 4), taeda.tensor([0, 1])
        self.total, self.calls = taeda.zeros(4), 0
        self.optimizer = taeda.optim.SGD(self.net.parameters(), lr=0.1)
        name = f"errors_between::halved{id(self)}"

        @taeda.library.custom_op(name, mutates_args=())
        def halved(t: Tensor, k: float) -> Tensor:
            self.calls += 1
            return t / 2 + k

        halved.register_fake(lambda t, k: taeda.empty_like(t))
        halved.register_autograd(lambda ctx, g: (g / 2, None))
        self.halved = halved

    def seen(self) -> list[Any]:
        parameters = [p.detach().clone() for p in self.net.parameters()]
        gradients = [None if p.grad is None else p.grad.clone() for p in self.net.parameters()]
        return [*parameters, *gradients, self.total.clone(), taeda.default_generator.get_state()]


def program(order: str, state: State) -> Callable[[Tensor], Tensor]:
    net, total, index = state.net, state.total, state.index
    halved, optimizer = state.halved, state.optimizer

    def run(x):
        y = x
        for letter in order:
            if letter == "h":
                y = halved(y, 0.5)
            elif letter == "i":
                y = y + x[index].sum()
            elif letter == "w":
                total.add_(y.detach().sum(0))
            elif letter == "z":
                for p in net.parameters():
                    p.grad = None
            elif letter == "b":
                net(y).square().mean().backward()
            elif letter == "s":
                optimizer.step()
            else:
                y = y + taeda.rand(4)
        return y

    return run


def called(function: Callable[[Tensor], Tensor], state: State, number: int) -> list[Any]:
    """The result or the kind of error, and what is there then."""
    x = taeda.randn(3, 4, generator=taeda.Generator().manual_seed(number))
    taeda.manual_seed(number)
    try:
        made: Any = function(x).detach()
    except IndexError as error:
        made = type(error)
    return [made, *state.seen()]


def same(a: Any, b: Any) -> bool:
    return taeda.equal(a, b) if isinstance(a, Tensor) and isinstance(b, Tensor) else a is b


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("order", drawn(24))
def test_what_is_there_after_an_error_is_what_the_program_leaves(order, backend):
    plain, other = State(), State()
    functions = [
        program(order, plain),
        taeda.compile(program(order, other), backend=BACKENDS[backend]),
    ]
    for number in range(6):
        if number == 4:
            plain.index.fill_(9)
            other.index.fill_(9)
        wanted, found = (
            called(f, s, number) for f, s in zip(functions, (plain, other), strict=True)
        )
        assert wanted[0] is IndexError or number < 4
        assert all(map(same, wanted, found))
        assert plain.calls == other.calls
