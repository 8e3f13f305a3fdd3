"""Random graphs of the objects that modules hold: `made(seed, form)` is one, in which objects are met several
times, at any depth, tensors share memory, and what contains an object may be within it. `differs` says where
what a file gave back is another graph.
"""

from __future__ import annotations

import functools
import random
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from kept_objects import COPIED, KINDS, Net, Own, Pair, shown

import taeda
from taeda import nn

__all__ = ["differs", "made"]

_DEPTH, _MOST = 4, 60
_PLAIN = (taeda.Tensor, nn.Parameter)
_WHOLE = (
    type(None),
    bool,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    taeda.dtype,
    frozenset,
)


class _Draw:
    """Makes objects, and remembers them."""

    def __init__(self, seed: int, form: str) -> None:
        self.random = random.Random(f"{form} {seed}")
        self.kinds = KINDS[form]
        self.objects: list[Any] = []
        self.count = 0

    def one(self, depth: int) -> Any:
        self.count += 1
        if self.objects and self.random.random() < 0.3:
            return self.random.choice(self.objects)
        leaf = not depth or self.count > _MOST or self.random.random() < 0.4
        found = self.leaf() if leaf else self.container(depth - 1)
        self.objects.append(found)
        return found

    def leaf(self) -> Any:
        tensors = [t for t in self.objects if type(t) in _PLAIN and t.numel() > 1]
        if tensors and self.random.random() < 0.3:
            return self.view(self.random.choice(tensors).detach())
        return self.kinds[self.random.choice(list(self.kinds))]()

    def view(self, t: Any) -> Any:
        views = (
            lambda: t[1:], lambda: t[::2], lambda: t.reshape(-1)[:1], lambda: t[None].expand(2, *t.shape),
            lambda: t.view(t.shape), lambda: t.T,
        )  # fmt: skip
        return self.random.choice(views)()

    def several(self, depth: int) -> list[Any]:
        return [self.one(depth) for _ in range(self.random.randint(0, 4))]

    def container(self, depth: int) -> Any:
        values = self.several(depth)
        keys = [
            self.random.choice((f"k{n}", n, (n, "a"), f"a.b{n}", "")) for n in range(len(values))
        ]
        pairs = dict(zip(keys, values, strict=True))
        modules = [v for v in values if isinstance(v, nn.Module)]
        makers = (
            lambda: values,
            lambda: tuple(values),
            lambda: pairs,
            lambda: OrderedDict(pairs),
            lambda: defaultdict(list, pairs),
            lambda: deque(values),
            lambda: types.SimpleNamespace(**{f"a{n}": v for n, v in enumerate(values)}),
            lambda: Pair(values, pairs),
            lambda: functools.partial(len, *values),
            lambda: self.with_attributes(Own(), values),
            lambda: self.with_attributes(Net(), values),
            lambda: self.with_attributes(nn.Linear(1, 2), values),
            lambda: nn.Sequential(*modules),
            lambda: nn.ModuleList(modules),
            lambda: nn.ModuleDict({f"m{n}": m for n, m in enumerate(modules)}),
        )
        return self.random.choice(makers)()

    def with_attributes(self, owner: Any, values: list[Any]) -> Any:
        for number, value in enumerate(values):
            setattr(owner, f"a{number}", value)
        return owner

    def close(self, root: Any) -> None:
        """Put the root, or what is in it, into something in it."""
        lists = [o for o in self.objects if type(o) is list]
        owners = [o for o in self.objects if type(o) in (Own, dict)]
        within = self.random.choice([*lists, *owners] or [None])
        if type(within) is list:
            within.append(self.random.choice([root, within]))
        elif type(within) is dict:
            within["itself"] = self.random.choice([root, within])
        elif within is not None:
            within.itself = self.random.choice([root, within])


def made(seed: int, form: str) -> Any:
    """The module of a seed."""
    draw = _Draw(seed, form)
    root = draw.with_attributes(Net(), [draw.one(_DEPTH) for _ in range(draw.random.randint(1, 6))])
    if draw.random.random() < 0.3:
        draw.close(root)
    return root


def differs(before: Any, after: Any) -> str:
    """The place where the second graph is not the first; empty if it is."""
    return _Walk().differs(before, after, "root")


class _Walk:
    def __init__(self) -> None:
        self.after: dict[int, Any] = {}
        self.before: dict[int, Any] = {}
        self.memory: dict[int, int] = {}
        self.back: dict[int, int] = {}

    def differs(self, a: Any, b: Any, place: str) -> str:
        if type(a) is not type(b):
            return f"{place}: {type(b).__name__} where {type(a).__name__} was"
        if isinstance(a, (*_WHOLE, *COPIED)):
            return "" if shown(a) == shown(b) else f"{place}: {b!r:.80} where {a!r:.80} was"
        if id(a) in self.after:
            return (
                ""
                if self.after[id(a)] is b
                else f"{place}: an object of its own, where it was met before"
            )
        if id(b) in self.before and a != ():
            return f"{place}: one object, where there were two"
        self.after[id(a)], self.before[id(b)] = b, a
        if isinstance(a, taeda.Tensor):
            return self.tensors(a, b, place)
        inside, found = list(_parts(a)), list(_parts(b))
        if [name for name, _ in inside] != [name for name, _ in found]:
            return f"{place}: {[n for n, _ in found]} where {[n for n, _ in inside]} was"
        if not inside and shown(a) != shown(b):
            return f"{place}: {b!r:.80} where {a!r:.80} was"
        parts = zip(inside, found, strict=True)
        return next(
            (s for (n, x), (_, y) in parts if (s := self.differs(x, y, f"{place}.{n}"))), ""
        )

    def tensors(self, a: Any, b: Any, place: str) -> str:
        if isinstance(a, nn.UninitializedParameter):
            return ""  # it has no numbers
        facts = [
            (t.dtype, tuple(t.shape), t.requires_grad, getattr(t, "note", None)) for t in (a, b)
        ]
        if facts[0] != facts[1] or shown(a) != shown(b):
            return f"{place}: {b} where {a} was"
        if not a.numel():
            return ""
        one, other = a.untyped_storage().data_ptr(), b.untyped_storage().data_ptr()
        if self.memory.setdefault(one, other) != other or self.back.setdefault(other, one) != one:
            return f"{place}: memory is shared otherwise"
        return ""


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """What an object holds, by names."""
    if isinstance(value, np.ndarray) or value is None:
        return
    if isinstance(value, functools.partial):
        yield from (("func", value.func), ("args", value.args), ("keywords", value.keywords))
    elif isinstance(value, dict):
        for number, (key, entry) in enumerate(value.items()):
            yield f"key {number} {key!r}", entry
    elif isinstance(value, (list, tuple, deque)):
        yield from enumerate(value)
    if isinstance(value, (nn.Module, Own, types.SimpleNamespace)):
        yield from sorted(vars(value).items())  # in any order
