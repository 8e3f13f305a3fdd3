"""Random programs for DistributedDataParallel, and the gradients that they must end with.

A program is a list of turns that all ranks take. In a turn each rank calls a module of some branches
once or several times, each time with branches of its own choice, inside or outside of `no_sync`, and
runs backward once or for each output. What its gradients must be is computed by one process without
any wrapper: the mean over ranks of what each holds, for parameters that got something new anywhere.
"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import taeda
import taeda.distributed as dist
from taeda import Tensor, nn
from taeda.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from taeda.nn.parallel import DistributedDataParallel
from taeda.utils.checkpoint import checkpoint

__all__ = ["Program", "outcome", "wrong"]

BRANCHES = "abcd"
FORMS: dict[str, tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]] = {
    "tensor": (lambda t: t, lambda o: o),
    "dict": (lambda t: {"out": [t]}, lambda o: o["out"][0]),
    "namespace": (lambda t: SimpleNamespace(out=t), lambda o: o.out),
    "set": (lambda t: {t}, lambda o: next(iter(o))),
    "closure": (lambda t: lambda: t, lambda o: o()),
    "iterator": (lambda t: iter([t]), next),  # no search finds what it holds
}


class Branches(nn.Module):
    """Parameters of several shapes; `forward` uses those that it is told."""

    def __init__(self, form: str, reentrant: bool) -> None:
        super().__init__()
        self.form, self.reentrant = form, reentrant
        for number, name in enumerate(BRANCHES):
            start = taeda.linspace(-1, 1, 3 * (number + 2), dtype=taeda.float64)
            self.register_parameter(name, nn.Parameter(start.view(number + 2, 3)))

    def part(self, name: str, x: Tensor) -> Tensor:
        return (getattr(self, name) * x).tanh().sum()

    def forward(self, x: Tensor, names: str) -> Any:
        total = x.sum() * 0
        for name in names:
            if self.reentrant:
                total = total + checkpoint(self.part, name, x, use_reentrant=True)
            else:
                total = total + self.part(name, x)
        return FORMS[self.form][0](total)


@dataclass
class Call:
    """One forward: which branches each rank uses, and whether it goes around the wrapper."""

    names: list[str]
    around: bool = False


@dataclass
class Turn:
    """Forwards, then their backwards."""

    calls: list[Call]
    sync: bool = True
    apart: bool = False  # a backward for each output
    clear: str = "keep"  # gradients before it: keep, none, zero
    dropped: str = ""  # a forward before it, whose output nobody uses
    frozen: str = ""  # parameters that need no gradient in it


@dataclass
class Program:
    """Made from a seed; the same on all ranks."""

    seed: int
    size: int
    options: dict[str, Any] = field(default_factory=dict)
    form: str = "tensor"
    reentrant: bool = False
    hook: bool = False  # a communication hook reduces
    lengths: list[int] = field(default_factory=list)  # of the ranks' turns, under join
    turns: list[Turn] = field(default_factory=list)

    @classmethod
    def made(cls, seed: int, size: int) -> Program:
        draw = random.Random(f"{seed} {size}")
        kind = draw.choice(["unused", "unused", "unused", "plain", "static", "skip"])
        options: dict[str, Any] = {
            "gradient_as_bucket_view": draw.random() < 0.5,
            "bucket_cap_mb": draw.choice([None, 0.00005, 0.00012]),
        }
        word = {"unused": "find_unused_parameters", "static": "static_graph",
                "skip": "skip_all_reduce_unused_params"}.get(kind)  # fmt: skip
        if word:
            options[word] = True
        form = draw.choice(list(FORMS))
        reentrant = draw.random() < (0.5 if kind == "static" else 0.15)
        program = cls(seed, size, options, form, reentrant)
        program.hook = draw.random() < 0.2
        joins = draw.random() < 0.2
        fixed = program._calls(draw, kind) if draw.random() < 0.7 else None
        for _ in range(draw.randint(1, 4)):
            calls = fixed if kind in ("static", "skip") and fixed else program._calls(draw, kind)
            calls = calls[:1] if joins else calls
            turn = Turn(
                calls,
                draw.random() < 0.7,
                len(calls) > 1 and draw.random() < 0.3,
                draw.choice(["keep", "keep", "none", "zero"]),
                "ab" if draw.random() < 0.15 and not joins else "",
                draw.choice(BRANCHES) if draw.random() < 0.1 else "",
            )
            if any(call.around for call in calls):
                turn.frozen = ""  # the wrapper's own backward may bring no gradient then
            program.turns.append(turn)
        if joins:
            program.lengths = [draw.randint(0, len(program.turns)) for _ in range(size)]
        return program

    def never_refused(self) -> bool:
        """Whatever a program with find_unused_parameters does, it gets means; but no step on
        gradients that only calls around the wrapper gave, nor a parameter in several checkpoints.
        """
        alone = any(turn.apart and call.around for turn in self.turns for call in turn.calls)
        odd = self.reentrant or alone or self.lengths or any(turn.frozen for turn in self.turns)
        return not odd and "find_unused_parameters" in self.options

    def _calls(self, draw: random.Random, kind: str) -> list[Call]:
        def names() -> str:
            if kind == "plain" and draw.random() < 0.8:
                return BRANCHES
            some = "".join(n for n in BRANCHES if draw.random() < 0.5)
            return some or draw.choice(BRANCHES)

        alike = kind in ("plain", "skip") or draw.random() < 0.3
        calls = []
        for number in range(draw.choice([1, 1, 1, 2, 3])):
            chosen = [names() for _ in range(self.size)]
            around = bool(number) and self.form != "iterator" and draw.random() < 0.3
            calls.append(Call([chosen[0]] * self.size if alike else chosen, around))
        return calls


# ---- what must come ----


def _inputs(program: Program, rank: int) -> Callable[[], Tensor]:
    draw = taeda.Generator().manual_seed(1000 * program.seed + rank)
    return lambda: taeda.randn(3, generator=draw, dtype=taeda.float64).requires_grad_()


def _clear(module: nn.Module, how: str) -> None:
    if how != "keep":
        module.zero_grad(set_to_none=how == "none")


def _freeze(module: Branches, turn: Turn) -> None:
    for name in BRANCHES:
        getattr(module, name).requires_grad_(name not in turn.frozen)


def _backwards(turn: Turn, outs: list[Tensor]) -> list[Tensor]:
    return list(outs) if turn.apart else [sum(outs[1:], outs[0])]


def _wanted(program: Program) -> list[list[Tensor | None]]:
    """Gradients after each turn, by rank and parameter: every rank's backward by itself, then means."""
    modules = [Branches(program.form, False) for _ in range(program.size)]
    inputs = [_inputs(program, rank) for rank in range(program.size)]
    new: list[set[str]] = [set() for _ in modules]
    take = FORMS[program.form][1]
    found = []
    for turn in program.turns:
        losses = []
        for rank, module in enumerate(modules):
            _clear(module, turn.clear)
            if program.lengths and len(found) // program.size >= program.lengths[rank]:
                losses.append([])
                continue
            _freeze(module, turn)
            if turn.dropped:
                inputs[rank]()
            outs = [take(module(inputs[rank](), call.names[rank])) for call in turn.calls]
            losses.append(_backwards(turn, outs))
        for number in range(max(map(len, losses))):
            told = turn.calls if not turn.apart else turn.calls[number : number + 1]
            for rank in range(program.size):
                if losses[rank]:
                    losses[rank][number].backward()
                    used = "".join(call.names[rank] for call in told)
                    new[rank].update(name for name in used if name not in turn.frozen)
            if turn.sync and not all(call.around for call in told):
                _average(modules, new)
        found += [_gradients(module) for module in modules]
    return found


def _average(modules: list[Branches], new: list[set[str]]) -> None:
    for name in BRANCHES:
        params = [getattr(module, name) for module in modules]
        if not any(name in n and p.grad is not None for n, p in zip(new, params, strict=True)):
            continue
        zero = taeda.zeros_like(params[0])
        total = sum(((p.grad if p.grad is not None else zero) for p in params), zero)
        for param in params:
            param.grad = total.detach() / len(params)
    for names in new:
        names.clear()


# ---- what comes ----


def _run(program: Program, rank: int) -> list[list[Tensor | None]]:
    module = Branches(program.form, program.reentrant)
    model = DistributedDataParallel(module, **program.options)
    if program.hook:
        model.register_comm_hook(None, allreduce_hook)
    draw, found = _inputs(program, rank), []
    optimizer = taeda.optim.SGD(module.parameters(), lr=0.0)
    length = program.lengths[rank] if program.lengths else len(program.turns)
    with model.join(enable=bool(program.lengths)):
        for turn in program.turns[:length]:
            _take(turn, model, draw, program, rank)
            found.append(_gradients(module))
    found += [None] * (len(program.turns) - length)
    optimizer.step()
    dist.barrier()
    return found


def _gradients(module: nn.Module) -> list[Tensor | None]:
    return [p.grad if p.grad is None else p.grad.clone() for p in module.parameters()]


def _take(turn: Turn, model: Any, draw: Any, program: Program, rank: int) -> None:
    module, take = model.module, FORMS[program.form][1]
    _clear(model, turn.clear)
    _freeze(module, turn)
    with contextlib.nullcontext() if turn.sync else model.no_sync():
        if turn.dropped:
            model(draw(), turn.dropped)
        outs = [
            take((module if call.around else model)(draw(), call.names[rank]))
            for call in turn.calls
        ]
        for loss in _backwards(turn, outs):
            loss.backward()


def outcome(program: Program) -> tuple[list[Any], list[BaseException | None]]:
    """What each rank ended with, and its error."""
    store, found = dist.HashStore(), [None] * program.size
    errors: list[BaseException | None] = [None] * program.size

    def work(rank: int) -> None:
        dist.init_process_group(
            "inproc", store=store, rank=rank, world_size=program.size, timeout=timedelta(seconds=20)
        )
        try:
            found[rank] = _run(program, rank)
        except Exception as error:  # noqa: BLE001 - judged by `wrong`
            errors[rank] = error
            dist.group.WORLD.abort()
        finally:
            dist.destroy_process_group()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(program.size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), program
    return found, errors


def wrong(program: Program) -> str:
    """What is wrong with the gradients of a program, "" if nothing, "refused: ..." if all ranks raised."""
    found, errors = outcome(program)
    if any(errors):
        if not all(errors):
            return f"some ranks raised and others did not: {errors}"
        first = next((e for e in errors if type(e) is RuntimeError), errors[0])
        if program.never_refused():
            return f"a program with find_unused_parameters was refused: {errors}"
        return f"refused: {first}"
    wanted = _wanted(program)
    for turn in range(len(program.turns)):
        for rank in range(program.size):
            got, want = found[rank][turn], wanted[turn * program.size + rank]
            if got is None:  # the rank had run out of inputs
                continue
            for name, one, other in zip(BRANCHES, got, want, strict=True):
                if not _same(one, other, program):
                    return f"turn {turn}, rank {rank}, {name}: {one}, wanted {other}"
    return ""


def _same(one: Tensor | None, other: Tensor | None, program: Program) -> bool:
    if one is None or other is None:
        # who has run out of inputs may have been the only one that used it; the graph is static
        zero = bool(program.lengths) and "static_graph" in program.options and one is not None
        zero = zero and not one.any()
        return one is other or (other is None and zero)
    return bool(((one - other).abs() < 1e-12).all())
