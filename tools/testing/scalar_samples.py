"""Calls of rows along a dimension of a scalar, made from the schemas of all rows that have a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda.onnx._rules import RULES

__all__ = ["SCALARS"]

_VALUES: dict[str, Any] = {
    "dim": -1, "dims": -1, "dim0": 0, "dim1": -1, "destination": -1, "k": 1, "value": 0.5,
    "index": taeda.tensor(0), "src": taeda.tensor(0.25), "source": taeda.tensor(0.25),
    "reduce": "sum",
}  # fmt: skip
_ALONG = ("dim", "dims", "dim0", "source")


def _samples() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    made = {}
    for row in sorted(RULES):
        name, _, overload = row.partition(".")
        packet = getattr(taeda.ops.aten, name, None)
        if packet is None or overload not in packet.overloads():
            continue
        op = getattr(packet, overload)
        first, *rest = op._schema.arguments
        known = {a.name: a for a in rest}
        if str(first.type) != "Tensor" or known.keys().isdisjoint(_ALONG):
            continue
        chosen = {n: _value(n, str(a.type)) for n, a in known.items() if n in _VALUES}
        f = _called(op, chosen)
        try:
            f(taeda.tensor(1.5))
        except (IndexError, RuntimeError, TypeError):  # the row takes no scalar
            continue
        made[row] = (f, (taeda.tensor(1.5),))
    return made


def _value(name: str, kind: str) -> Any:
    value = 0 if name == "source" and kind.startswith("int") else _VALUES[name]
    return [value] if "[" in kind and type(value) is int else value


def _called(op: Any, chosen: dict[str, Any]) -> Callable[..., Any]:
    return lambda x: op(x, **chosen)


SCALARS = _samples()
assert len(SCALARS) >= 45, sorted(SCALARS)  # a schema that reads otherwise would leave rows out
