"""What a function reads besides its operands, what it gives, and how that is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.trees import TreeSpec, tree_flatten
from taeda.autograd.batching import Batched, levels, physical
from taeda.func._level import Level
from taeda.overrides import TorchFunctionMode

from .._arguments import tensors_in
from .._errors import Refused
from ._speculation import Speculation, speculating

__all__ = ["Found", "Lifted", "explored", "tensors_of"]


class _Seen(TorchFunctionMode):
    """Collects the tensors that calls get although nobody made or gave them here."""

    _operations_only = True  # a function that it is given may use tensors from outside

    def __init__(self, given: list[Tensor]) -> None:
        self.known = {id(t): t for t in given}
        self.free: dict[int, Tensor] = {}
        self._levels = {level.number for level in levels()}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        for tensor in tensors_in((args, kwargs or {})):
            self._saw(tensor)
        made = func(*args, **(kwargs or {}))
        self.known.update((id(t), t) for t in tensors_in(made))
        return made

    def _saw(self, tensor: Tensor) -> None:
        if id(tensor) in self.known or id(tensor) in self.free:
            return
        if type(tensor) is Batched and tensor._level not in self._levels:  # of a map inside
            self.known[id(tensor)] = tensor
            self._saw(tensor._value)
            if id(tensor._value) in self.free:
                raise Refused("a vmap inside maps a tensor from outside: make it an operand")
            return
        self.free[id(tensor)] = tensor


class _Swapped(TorchFunctionMode):
    """Calls get other tensors in place of some."""

    _operations_only = True  # a function that it is given may use tensors from outside

    def __init__(self, others: dict[int, Tensor]) -> None:
        self.others = others

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return func(*self._of(args), **self._of(kwargs or {}))

    def _of(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self.others.get(id(value), value)
        if type(value) in (tuple, list):
            return type(value)(self._of(entry) for entry in value)
        if type(value) is dict:
            return {key: self._of(entry) for key, entry in value.items()}
        return value


@dataclass
class Found:
    """What one run on the side told."""

    leaves: list[Any]  # of the result
    spec: TreeSpec
    free: list[Tensor]
    draws: bool
    #: by place among the tensors of the result: which tensors get a part of its gradient, by id
    reached: list[set[int]] = field(default_factory=list)
    several: set[int] = field(default_factory=set)  # tensors whose gradient is a sum made inside

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors of the result."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]


def explored(name: str, function: Callable[..., Any], operands: Any) -> Found:
    """Run a function on the side. Refused if what it does would last, or if it gives what it was
    given."""
    with speculating() as side:
        first, _ = _once(function, operands)
        second, made = _once(function, operands)  # what is new in each run was made inside
        free = [t for key, t in second.free.items() if key in first.free]
        leaves, spec = tree_flatten(made)
        found = Found(leaves, spec, free, side.draws)
        given = [*tensors_of(operands), *free]
        _check_memory(name, found.tensors, given, side)
        _differentiate(name, found, function, operands, given)
    return found


def tensors_of(operands: Any) -> list[Tensor]:
    """The tensors of a tree, each once."""
    return list({id(v): v for v in tree_flatten(operands)[0] if isinstance(v, Tensor)}.values())


def _once(function: Callable[..., Any], operands: Any) -> tuple[_Seen, Any]:
    with _Seen(tensors_of(operands)) as seen:
        return seen, function(*operands)


def _check_memory(name: str, made: list[Tensor], given: list[Tensor], side: Speculation) -> None:
    taken = {_core.storage_key(physical(t)) for t in given}
    for tensor in made:
        key = _core.storage_key(physical(tensor))
        if key in taken or not side.owns(key):
            raise Refused(
                f"{name} gives a tensor that was there before, a view of one, or one twice: "
                "return a clone"
            )
        taken.add(key)


# ---- gradients ----


def _differentiate(name: str, found: Found, function: Any, operands: Any, given: Any) -> None:
    """How gradients come to what is given, by a run on objects that are new, so that no other
    way is taken for theirs."""
    if not taeda.is_grad_enabled():
        found.reached = [set() for _ in found.tensors]
        return
    with Level() as level:
        fresh = [level.enter(t) if physical(t).requires_grad else t for t in given]
    made = Lifted(function, operands, given)(*fresh)
    ends = {
        _end(physical(new)): id(old)
        for new, old in zip(fresh, given, strict=True)
        if new is not old
    }
    for tensor in made:
        arrivals = _arrivals(name, [tensor], ends)
        found.reached.append({ends[end] for end in arrivals})
    every = _arrivals(name, list(made), ends)
    found.several = {ends[end] for end, count in every.items() if count > 1}


def _end(tensor: Tensor) -> tuple[int, int]:
    """Where gradients of a tensor arrive."""
    return (id(tensor), -1) if tensor.is_leaf else (id(tensor.grad_fn), tensor.output_nr)


def _arrivals(name: str, made: list[Tensor], ends: dict[Any, int]) -> dict[Any, int]:
    """How many gradients arrive at each end."""
    count: dict[Any, int] = {}
    waiting = [physical(t).grad_fn for t in made]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        for following, number in node.next_functions:
            leaf = getattr(following, "variable", None)
            end = (id(following), number) if leaf is None else (id(leaf), -1)
            if end in ends:
                count[end] = count.get(end, 0) + 1
            elif leaf is not None:
                raise Refused(
                    f"{name} reads a tensor that wants gradients in a way that no graph shows"
                )
            else:
                waiting.append(following)
    return count


# ---- all that it reads as arguments ----


class Lifted:
    """A function of all the tensors that another one reads, which gives the tensors of its
    result."""

    def __init__(self, function: Callable[..., Any], operands: Any, inputs: list[Tensor]) -> None:
        self.function, self.inputs = function, inputs
        leaves, self.spec = tree_flatten(tuple(operands))
        places = {id(t): n for n, t in enumerate(inputs)}
        self.leaves = [(places.get(id(v)), v) for v in leaves]

    def __call__(self, *given: Tensor) -> tuple[Tensor, ...]:
        leaves = [value if place is None else given[place] for place, value in self.leaves]
        others = {id(a): b for a, b in zip(self.inputs, given, strict=True) if a is not b}
        with _Swapped(others):
            made = self.function(*self.spec.unflatten(leaves))
        return tuple(leaf for leaf in tree_flatten(made)[0] if isinstance(leaf, Tensor))
