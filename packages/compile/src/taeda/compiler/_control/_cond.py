"""`cond` by a tensor, as one call of a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api import runtime
from taeda.autograd import Function
from taeda.autograd.batching import levels
from taeda.autograd.forward_ad import unpack_dual
from taeda.func import vjp, vmap

from .._errors import Refused, Stop
from .._signals import let_through
from ._explore import Found, Lifted, explored, tensors_of
from ._part import Control, part
from ._speculation import alone, without_maps

__all__ = ["cond", "tried"]

Flat = Callable[..., tuple[Tensor, ...]]


@dataclass
class _Program:
    """The branch that is taken, as the program itself runs it. Its graph for backward is the one
    for walks that nobody records: it saves what the branch saves, and no more."""

    recorder: Any
    ends: list[Tensor]  # stand for the inputs; writes to those count for them, too
    made: tuple[Tensor, ...]

    def walked(self, tangents: Any, needed: Any) -> tuple[Any, ...]:
        """What comes for each input that needs it."""
        given = [k for k, t in enumerate(tangents) if t is not None]
        wanted = [i for i, one in enumerate(needed) if one]
        came = taeda.autograd.grad(
            [self.made[k] for k in given],
            [self.ends[i] for i in wanted],
            [tangents[k] for k in given],
            retain_graph=True,
            allow_unused=True,
        )
        found = dict(zip(wanted, came, strict=True))
        return tuple(found.get(i) for i in range(len(needed)))


@dataclass
class _Branches:
    """Two functions of the same tensors, and what is known of their derivatives."""

    true: Flat
    false: Flat
    exact: bool  # gradients that a program has not are None, not zeros
    refuse: Callable[[str], None]
    reached: list[set[int]]  # by result: which inputs its gradient has a part in
    fixed: list[bool]  # results that want no gradient
    several: frozenset[int] = frozenset()  # inputs whose gradient is a sum made inside
    sums: frozenset[int] = frozenset()  # results that are such sums
    program: _Program | None = None
    mode: bool = True  # whether the program records gradients there

    def changed(self, change: Callable[[Flat], Flat], **known: Any) -> _Branches:
        """Both functions changed; `known` is what is another thing then."""
        return replace(
            self, true=change(self.true), false=change(self.false), program=None, **known
        )

    def made(self, change: Callable[[Flat], Flat], count: int, inputs: int) -> _Branches:
        """Both functions changed to others, with so many results of so many inputs, which all
        have a part in all gradients."""
        every = set(range(inputs))
        return self.changed(change, reached=[every] * count, fixed=[False] * count)


def cond(recorder: Any, pred: Tensor, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    """The result of the branch that `pred` chooses, recorded with both. If it cannot be, it runs
    as Python, and the recorder hears why."""
    try:
        if recorder.exact and runtime.is_forward_on():
            raise Refused("a derivative is taken in forward mode")
        with recorder.strictly():
            found = [
                tried("true_fn", true_fn, operands),
                tried("false_fn", false_fn, operands),
            ]
        _compare(*found, exact=recorder.exact)
        inputs = _inputs(operands, found)
        if recorder.exact and any(t.requires_grad for t in found[0].tensors):
            _rehearse(recorder, (true_fn, false_fn), operands, inputs)
    except Refused as why:
        recorder.refuse(f"cond: {why}", why.__cause__)
        return (true_fn if bool(pred) else false_fn)(*operands)
    branches = _branches(recorder, (true_fn, false_fn), operands, inputs, found)
    if recorder.exact and not all(branches.fixed):
        branches.program = _as_program(recorder, branches, pred, inputs)
    made = iter(_Cond.apply(branches, pred, *inputs))
    leaves = [next(made) if isinstance(v, Tensor) else v for v in found[0].leaves]
    return found[0].spec.unflatten(leaves)


def _inputs(operands: Any, found: list[Found]) -> list[Tensor]:
    """All tensors that either branch reads."""
    given = (*tensors_of(operands), *(t for one in found for t in one.free))
    return list({id(t): t for t in given}.values())


def _rehearse(recorder: Any, functions: Any, operands: Any, inputs: list[Tensor]) -> None:
    """Refused if a cond inside will be: the call is another node of autograd than what a branch
    runs, so that is known before."""
    if levels():
        raise Refused("gradients flow through it inside of vmap")
    for function in functions:
        part(recorder, Lifted(function, operands, inputs), inputs)


def _as_program(recorder: Any, branches: _Branches, pred: Tensor, inputs: list[Tensor]) -> _Program:
    with alone():
        ends = [t.detach().requires_grad_() if t.requires_grad else t for t in inputs]
        made = (branches.true if bool(pred) else branches.false)(*ends)
    return _Program(recorder, ends, made)


def tried(name: str, function: Any, operands: Any) -> Found:
    try:
        return explored(name, function, operands)
    except (Refused, MemoryError):
        raise
    except Exception as error:
        let_through(error)
        if isinstance(error, Stop):
            raise
        raise Refused(f"{name} raises {type(error).__name__}: {error}") from error


def _branches(
    recorder: Any, functions: Any, operands: Any, inputs: list[Tensor], found: list[Found]
) -> _Branches:
    places = {id(t): n for n, t in enumerate(inputs)}
    reached = [
        {places[key] for one in both for key in one}
        for both in zip(*(f.reached for f in found), strict=True)
    ]
    fixed = [
        not runtime.is_forward_on() and not any(t.requires_grad for t in both)
        for both in zip(*(f.tensors for f in found), strict=True)
    ]
    true, false = (Lifted(f, operands, inputs) for f in functions)
    mode = taeda.is_grad_enabled()
    return _Branches(true, false, recorder.exact, recorder.refuse, reached, fixed, mode=mode)


# ---- alike ----


def _compare(a: Found, b: Found, *, exact: bool) -> None:
    """Refused unless both branches give the same kind of result; says what differs."""
    if a.spec != b.spec:
        raise Refused(
            f"true_fn gives {a.spec}, false_fn gives {b.spec}: they must have one structure"
        )
    for number, (x, y) in enumerate(zip(a.leaves, b.leaves, strict=True)):
        one, other = _kind(x), _kind(y)
        if one != other:
            raise Refused(
                f"entry {number} of what true_fn gives is {_said(one)}, "
                f"of what false_fn gives {_said(other)}"
            )
    if not a.tensors:
        raise Refused("the branches give no tensor")
    if exact:
        _compare_gradients(a, b)
    if (a.draws or b.draws) and any(t.requires_grad for t in (*a.tensors, *b.tensors)):
        raise Refused("a branch draws random numbers, and its backward would draw others")


def _compare_gradients(a: Found, b: Found) -> None:
    if [t.requires_grad for t in a.tensors] != [t.requires_grad for t in b.tensors]:
        raise Refused("a result wants gradients in one branch only")
    if a.several or b.several:
        raise Refused(
            "a branch uses a tensor that wants gradients more than once: "
            "the order of their sum is another than in the program"
        )
    if a.reached != b.reached:
        raise Refused("one branch gives gradients to tensors to which the other gives none")


def _kind(value: Any) -> Any:
    if isinstance(value, Tensor):
        return tuple(value.shape), value.dtype, value.device, tuple(value.stride())
    return type(value), value


def _said(kind: Any) -> str:
    if len(kind) == 2:
        return f"{kind[1]!r:.40}"
    shape, dtype, device, strides = kind
    return f"a {dtype} tensor of shape {list(shape)} on {device} with strides {list(strides)}"


# ---- the call ----


class _Cond(Function):
    """The call of a cond: its derivatives are conds over those of the branches."""

    @staticmethod
    def forward(ctx: Any, branches: _Branches, pred: Tensor, *inputs: Tensor) -> Any:
        ctx.branches = branches
        ctx.save_for_backward(pred, *inputs)
        ctx.save_for_forward(pred, *inputs)
        ctx.set_materialize_grads(False)
        grad = any(ctx.needs_input_grad[2:]) and not all(branches.fixed)
        what = Control("cond", grad, branches.mode)
        with without_maps():
            made = _core.call_control(
                what,
                (branches.true, branches.false),
                (pred, *inputs),
                lambda: (branches.true if bool(pred) else branches.false)(*inputs),
            )
        ctx.mark_non_differentiable(
            *(t for t, one in zip(made, branches.fixed, strict=True) if one)
        )
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *tangents: Any, **_: Any) -> Any:
        branches, program = ctx.branches, ctx.branches.program
        if program is not None and not program.recorder.active and not taeda.is_grad_enabled():
            return None, None, *program.walked(tangents, ctx.needs_input_grad[2:])
        pred, *inputs = ctx.saved_tensors
        given = [k for k, t in enumerate(tangents) if t is not None]
        reached = set().union(*(branches.reached[k] for k in given))
        wanted = [i for i in sorted(reached) if ctx.needs_input_grad[2 + i]]
        found: list[Any] = [None] * len(inputs)
        if wanted and branches.exact and taeda.is_grad_enabled():
            branches.refuse("cond: a gradient of it takes part in a graph (create_graph)")
            made = _walk(branches, pred, inputs, wanted, {k: tangents[k] for k in given})
        elif wanted:
            change = _Pullback(wanted, given, len(inputs), dense=not branches.exact)
            count = len(inputs) + len(given)
            walked = branches.made(change, len(wanted), count)
            made = _Cond.apply(walked, pred, *inputs, *(tangents[k] for k in given))
        for i, gradient in zip(wanted, made if wanted else (), strict=True):
            found[i] = gradient
        return None, None, *found

    @staticmethod
    def jvp(ctx: Any, *tangents: Any, **_: Any) -> Any:
        branches, (pred, *inputs) = ctx.branches, ctx.saved_tensors
        inputs = [unpack_dual(t).primal for t in inputs]
        moving = [i for i, t in enumerate(tangents[2:]) if t is not None]
        change = _Pushforward(moving, len(inputs))
        pushed = branches.made(change, len(branches.fixed), len(inputs) + len(moving))
        return _Cond.apply(pushed, pred, *inputs, *(tangents[2 + i] for i in moving))

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        branches, pred, *inputs = args
        change = _PerSample(tuple(in_dims[2:]), info.batch_size, info.randomness)
        made = _Cond.apply(branches.changed(change), pred, *inputs)
        return made, (0,) * len(made)


def _walk(branches: _Branches, pred: Tensor, inputs: Any, wanted: list[int], tangents: Any) -> Any:
    """The gradients of the branch that is taken, as the program itself finds them."""
    with taeda.enable_grad():
        made = (branches.true if bool(pred) else branches.false)(*inputs)
    start = [made[k] for k in tangents]
    return taeda.autograd.grad(
        start,
        [inputs[i] for i in wanted],
        list(tangents.values()),
        create_graph=True,
        allow_unused=True,
    )


@dataclass
class _Pullback:
    """f -> the function of the inputs of f and gradients of its results that gives those of the
    wanted inputs."""

    wanted: list[int]
    given: list[int]
    count: int
    dense: bool

    def __call__(self, f: Flat) -> Flat:
        def walked(*values: Tensor) -> tuple[Tensor, ...]:
            inputs, tangents = list(values[: self.count]), values[self.count :]

            def of_wanted(*chosen: Tensor) -> tuple[Tensor, ...]:
                for i, value in zip(self.wanted, chosen, strict=True):
                    inputs[i] = value
                made = f(*inputs)
                return tuple(made[k] for k in self.given)

            with taeda.enable_grad():
                _, back = vjp(of_wanted, *(inputs[i] for i in self.wanted))
                found = back(tangents)
            return tuple(g.contiguous() for g in found) if self.dense else tuple(found)

        return walked


@dataclass
class _Pushforward:
    """f -> the function of the inputs of f and tangents of some that gives those of its results."""

    moving: list[int]
    count: int

    def __call__(self, f: Flat) -> Flat:
        def pushed(*values: Tensor) -> tuple[Tensor, ...]:
            inputs, tangents = list(values[: self.count]), values[self.count :]

            def of_moving(*chosen: Tensor) -> tuple[Tensor, ...]:
                for i, value in zip(self.moving, chosen, strict=True):
                    inputs[i] = value
                return f(*inputs)

            with taeda.enable_grad():  # backward twice: there may be a level of forward mode around
                made, back = vjp(of_moving, *(inputs[i] for i in self.moving))
                _, push = vjp(lambda *slopes: back(slopes), *map(taeda.zeros_like, made))
                return tuple(push(tangents))

        return pushed


@dataclass
class _PerSample:
    """f -> the function that computes f for each sample along dimensions of its inputs."""

    dims: tuple[int | None, ...]
    size: int
    randomness: str

    def __call__(self, f: Flat) -> Flat:
        if all(dim is None for dim in self.dims):
            return lambda *values: tuple(v.expand(self.size, *v.shape).clone() for v in f(*values))
        return vmap(f, in_dims=self.dims, randomness=self.randomness)
