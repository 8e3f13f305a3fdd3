"""`while_loop` by a tensor, as one call of a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.trees import tree_flatten
from taeda.autograd import Function
from taeda.autograd.batching import Batched, levels
from taeda.func import vmap

from .._errors import Refused
from ._cond import tried
from ._explore import Found, Lifted, tensors_of
from ._part import Control
from ._speculation import speculating, without_maps

__all__ = ["loop", "run_loop"]

Flat = Callable[..., tuple[Tensor, ...]]


def loop(recorder: Any, cond_fn: Any, body_fn: Any, carried: tuple[Any, ...]) -> Any:
    """What the loop gives, recorded as one call; None if it goes by numbers of Python, or cannot
    be one call and the recorder heard why."""
    try:
        with recorder.strictly():
            held = tried("cond_fn", cond_fn, carried)
            if not _goes_by_tensor(held):
                return None
            _check_carried(carried)
            step = tried("body_fn", body_fn, carried)
        _check(carried, held, step)
    except Refused as why:
        recorder.refuse(f"while_loop: {why}", why.__cause__)
        return None
    leaves, spec = tree_flatten(carried)
    free = {id(t): t for t in (*held.free, *step.free)}
    inputs = [*leaves, *free.values()]
    functions = _Functions(
        _of(cond_fn, carried, inputs), _of(body_fn, carried, inputs), len(leaves)
    )
    return spec.unflatten(list(_While.apply(functions, *inputs)))


def run_loop(
    held: Flat, step: Flat, carried: tuple[Tensor, ...], others: Any
) -> tuple[Tensor, ...]:
    """The loop itself; where no step is done, clones of what came in."""
    first = carried
    while bool(held(*carried, *others)[0]):
        carried = step(*carried, *others)
    return tuple(t.clone() for t in carried) if carried is first else carried


@dataclass
class _Functions:
    """The two functions of all tensors that either reads, of which the first ones are carried."""

    cond: Flat
    body: Flat
    carried: int


class _While(Function):
    """The call of a loop."""

    @staticmethod
    def forward(ctx: Any, functions: _Functions, *inputs: Tensor) -> Any:
        n = functions.carried
        with without_maps():
            made = _core.call_control(
                Control("while_loop"),
                (functions.cond, functions.body),
                inputs,
                lambda: run_loop(functions.cond, functions.body, inputs[:n], inputs[n:]),
            )
        return tuple(made)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        functions, *inputs = args
        n, dims = functions.carried, _spread(functions, in_dims[1:], info, inputs)
        full = [
            v.expand(info.batch_size, *v.shape).clone()
            if k < n and dims[k] is not None and in_dims[1 + k] is None
            else v
            for k, v in enumerate(inputs)
        ]
        out = dims[:n]
        body = vmap(functions.body, in_dims=dims, out_dims=out, randomness=info.randomness)
        cond = vmap(functions.cond, in_dims=dims, out_dims=None, randomness=info.randomness)
        made = _While.apply(replace(functions, cond=cond, body=body), *full)
        return made, out


def _spread(functions: _Functions, dims: Any, info: Any, inputs: Any) -> tuple[int | None, ...]:
    """Which of the tensors have a sample of their own: what is carried has one if a step makes
    it from such."""
    while True:
        seen: list[bool] = []

        def step(*given: Tensor, seen: list[bool] = seen) -> tuple[Tensor, ...]:
            made = functions.body(*given)
            level = levels()[-1]
            seen.extend(level.on(t) for t in made)
            return made

        with speculating():
            vmap(step, in_dims=dims, randomness=info.randomness)(*inputs)
        n = functions.carried
        found = tuple(0 if d is None and one else d for d, one in zip(dims[:n], seen, strict=True))
        if found == dims[:n]:
            return dims
        inputs = [
            v.expand(info.batch_size, *v.shape) if d is None and f == 0 else v
            for v, d, f in zip(inputs, dims, (*found, *dims[n:]), strict=True)
        ]
        dims = (*found, *dims[n:])


def _of(function: Any, carried: Any, inputs: list[Tensor]) -> Flat:
    return Lifted(function, carried, inputs)


def _goes_by_tensor(held: Found) -> bool:
    leaf = held.leaves[0] if len(held.leaves) == 1 else None
    return (
        isinstance(leaf, Tensor)
        and type(leaf) is not Batched
        and leaf.dtype == taeda.bool
        and leaf.numel() == 1
    )


def _check_carried(carried: Any) -> None:
    leaves = tree_flatten(carried)[0]
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise Refused(
            "its condition is a tensor, but it carries a number of Python: "
            "carry a tensor without dimensions"
        )
    if len(tensors_of(carried)) != len(leaves):
        raise Refused("it carries one tensor twice: carry a clone")


def _check(carried: Any, held: Found, step: Found) -> None:
    """Refused unless each step gives what a step is given."""
    leaves, spec = tree_flatten(carried)
    if list(step.spec.children()) != list(spec.children()) or len(step.leaves) != len(leaves):
        raise Refused(f"the carried values must keep their structure {spec}, got {step.spec}")
    for number, (old, new) in enumerate(zip(leaves, step.leaves, strict=True)):
        if not isinstance(new, Tensor) or _kind(old) != _kind(new):
            raise Refused(
                f"entry {number} of the carried values must stay {_said(old)}, got {_said(new)}"
            )
    if held.draws:
        raise Refused("cond_fn draws random numbers")
    if any(t.requires_grad for t in step.tensors):
        raise Refused(
            "its steps want gradients, and their number is the value of a tensor: "
            "detach what it is given"
        )


def _kind(value: Tensor) -> Any:
    return tuple(value.shape), value.dtype, value.device, tuple(value.stride())


def _said(value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"a {type(value).__name__}"
    shape, dtype, device, strides = _kind(value)
    return f"a {dtype} tensor of shape {list(shape)} on {device} with strides {list(strides)}"
