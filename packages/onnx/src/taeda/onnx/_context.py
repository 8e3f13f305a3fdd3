"""What rules build with: operators, constants, casts, and sizes that are known when the model runs."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda.fx.experimental._expressions import Expression
from taeda.fx.node import Node as GraphNode

from ._dtypes import code
from ._model import Attribute, Model, Node
from .errors import SymbolicValueError, UnsupportedOperatorError

__all__ = ["Context", "Value"]


@dataclass(frozen=True)
class Value:
    """A result in the model: its name, dtype, rank, and the sizes that are numbers (None else)."""

    name: str
    dtype: taeda.dtype
    sizes: tuple[int | None, ...] = ()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)


class Context:
    """The model that is being made, and the node of the program that a rule translates."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.model = Model(opset)
        self.values: dict[GraphNode, Any] = {}
        self.written: dict[Any, Value] = {}  # new values of arguments that the node writes
        self.node: GraphNode | None = None
        self._taken: set[str] = set()
        self._constants: dict[Any, Value] = {}

    # ---- names ----

    def name(self, wanted: str) -> str:
        """A name that no result has."""
        made, number = wanted, 0
        while made in self._taken:
            number += 1
            made = f"{wanted}_{number}"
        self._taken.add(made)
        return made

    # ---- what the program's node gives ----

    def result(self, k: int | None = None) -> Tensor:
        """The result of the node, or its part `k`, as a tensor without values."""
        assert self.node is not None
        value = self.node.meta["val"]
        return value if k is None else value[k]

    @property
    def dtype(self) -> taeda.dtype:
        """The dtype of the node's result."""
        return self.result().dtype

    def sizes(self, k: int | None = None) -> tuple[int | None, ...]:
        """The sizes of the node's result that are numbers."""
        assert self.node is not None
        shape = self.node.meta["shape"]
        return numbers(shape if k is None else shape[k])

    # ---- building ----

    def op(
        self,
        kind: str,
        *inputs: Value | None,
        dtype: taeda.dtype | None = None,
        rank: int | None = None,
        **attributes: Attribute,
    ) -> Value:
        """An operator of one result. Its dtype and rank are those of the first input by default."""
        named: dict[str, Any] = attributes
        return self.ops(kind, 1, *inputs, dtype=dtype, rank=rank, **named)[0]

    def ops(
        self,
        kind: str,
        count: int,
        *inputs: Value | None,
        dtype: taeda.dtype | None = None,
        rank: int | None = None,
        domain: str = "",
        props: Mapping[str, str] | None = None,
        **attributes: Attribute,
    ) -> list[Value]:
        """An operator of several results. Absent inputs at the end are left out: one that is an
        empty name there kills some versions of onnxruntime.
        """
        names = ["" if v is None else v.name for v in inputs]
        while names and not names[-1]:
            names.pop()
        first = next((v for v in inputs if v is not None), None)
        made = dtype or (first.dtype if first else taeda.float32)
        size = (None,) * ((first.rank if first else 0) if rank is None else rank)
        outputs = [Value(self.name(kind.lower()), made, size) for _ in range(count)]
        origin = str(self.node) if self.node is not None else ""
        kept = {n: a for n, a in attributes.items() if a is not None}
        self.model.nodes.append(
            Node(kind, names, [v.name for v in outputs], kept, domain, origin, dict(props or {}))
        )
        return outputs

    def version(self, domain: str, version: int | None) -> None:
        """The version of a domain that the program names; two must be the same."""
        known = self.model.domains.setdefault(domain, version or 1)
        if version is not None and known != version:
            raise self.refuse(f"the versions {known} and {version} of {domain} in one model")

    def cast(self, value: Value, dtype: taeda.dtype) -> Value:
        """The value in this dtype."""
        if value.dtype == dtype:
            return value
        made = self.op("Cast", value, dtype=dtype, to=code(dtype))
        return Value(made.name, dtype, value.sizes)

    def weight(self, tensor: Tensor, name: str = "const") -> Value:
        """A tensor that the model holds."""
        made = self.name(name)
        self.model.weights[made] = tensor.detach()
        return Value(made, tensor.dtype, tuple(tensor.shape))

    def number(self, number: Any, dtype: taeda.dtype) -> Value:
        """A constant without dimensions."""
        # NaN is unlike itself, and -0.0 like 0.0: bits tell constants apart
        bits = struct.pack("<d", number) if isinstance(number, float) else number
        key = (type(number), bits, dtype)
        if key not in self._constants:
            self._constants[key] = self.weight(taeda.tensor(number, dtype=dtype))
        return self._constants[key]

    def tensor(self, value: Any, dtype: taeda.dtype) -> Value:
        """A value or a number of Python, in this dtype."""
        return self.cast(value, dtype) if isinstance(value, Value) else self.number(value, dtype)

    def integers(self, entries: Sequence[int | Value]) -> Value:
        """A vector of integers, each a number or a result."""
        if all(isinstance(e, int) for e in entries):
            key = ("integers", *entries)
            if key not in self._constants:
                self._constants[key] = self.weight(taeda.tensor(list(entries), dtype=taeda.int64))
            return self._constants[key]
        parts = [self.integers([e]) if isinstance(e, int) else self._vector(e) for e in entries]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def _vector(self, size: Value) -> Value:
        return size if size.rank == 1 else self.op("Unsqueeze", size, self.integers([0]), rank=1)

    # ---- sizes ----

    def size(self, value: Value, dim: int) -> int | Value:
        """A size: a number if it is the same in every call, else a result."""
        dim %= value.rank
        known = value.sizes[dim]
        if known is not None:
            return known
        part = self.op("Shape", value, dtype=taeda.int64, rank=1, start=dim, end=dim + 1)
        return self.op("Squeeze", part, self.integers([0]), rank=0)

    def shape(self, value: Value) -> Value:
        """All sizes as a vector."""
        if None in value.sizes:
            return self.op("Shape", value, dtype=taeda.int64, rank=1)
        return self.integers([n for n in value.sizes if n is not None])

    def reshape(self, value: Value, sizes: Sequence[int | Value]) -> Value:
        """The value with other sizes; 0 is a size of 0, and -1 the rest."""
        rest = any(isinstance(n, int) and n == -1 for n in sizes)
        zero = any(isinstance(n, int) and n == 0 for n in sizes)
        keep: dict[str, Any] = {} if rest and not zero else {"allowzero": 1}
        return self.op("Reshape", value, self.integers(sizes), rank=len(sizes), **keep)

    def axes(self, value: Value, dims: int | Sequence[int] | None) -> list[int]:
        """Dimensions as numbers from 0; none means all."""
        given = [dims] if isinstance(dims, int) else list(dims or range(value.rank))
        return [d % value.rank for d in given] if value.rank else []

    def write(self, place: int, value: Value) -> None:
        """The node gives the argument at this place a new value."""
        assert self.node is not None
        self.written[self.node.args[place]] = value

    def refuse(self, why: str) -> SymbolicValueError:
        """The error for a node whose rule does not take these arguments."""
        assert self.node is not None
        return SymbolicValueError(f"{self.node.target} ({self.where()}): {why}", self.node)

    def no_rule(self, why: str) -> UnsupportedOperatorError:
        """The error for a node whose row has no rule."""
        assert self.node is not None
        name = str(self.node.target)
        return UnsupportedOperatorError(name, self.opset, msg=f"{name} ({self.where()}): {why}")

    def where(self) -> str:
        """The node as text, and the line of the program, if it is known."""
        assert self.node is not None
        line = str(self.node.meta.get("stack_trace") or "").strip().splitlines()
        return f"{self.node.format_node()}" + (f", {line[0].strip()}" if line else "")


def numbers(shape: tuple[Expression, ...]) -> tuple[int | None, ...]:
    """The sizes that are numbers; None for those that depend on the call."""
    return tuple(e.number for e in shape)
