"""An ONNX model: nodes, weights, inputs and outputs, and the bytes of its file.

Fields have the numbers of onnx.proto (github.com/onnx/onnx, version 1.23).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import taeda
from taeda import Tensor

from . import _wire as wire
from ._dtypes import code

__all__ = ["External", "Inner", "Model", "Node", "Port", "tensor_bytes"]


_INLINE = 1024  # bytes up to which a weight stays in the file of the model


@dataclass
class Node:
    """One operator."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    domain: str = ""
    origin: str = ""
    props: dict[str, str] = field(default_factory=dict)

    def inner(self) -> list[Inner]:
        """The graphs inside."""
        return [a for a in self.attributes.values() if isinstance(a, Inner)]

    def reads(self) -> set[str]:
        """What it reads, inside of its graphs as well."""
        made = set(self.inputs)
        for graph in self.inner():
            made |= {port.name for port in graph.outputs}
            for node in graph.nodes:
                made |= node.reads()
        return made

    def read_instead(self, names: dict[str, str]) -> None:
        """Read other values in place of some."""
        self.inputs = [names.get(n, n) for n in self.inputs]
        for graph in self.inner():
            for port in graph.outputs:
                port.name = names.get(port.name, port.name)
            for node in graph.nodes:
                node.read_instead(names)


@dataclass
class Port:
    """An input or output: its name, dtype, and sizes, numbers or names."""

    name: str
    dtype: taeda.dtype
    sizes: list[int | str]


@dataclass
class Inner:
    """A graph inside of an operator, like a branch of If. It sees the values around it."""

    name: str
    nodes: list[Node]
    inputs: list[Port]
    outputs: list[Port]

    def pieces(self) -> wire.Message:
        """The graph as a message."""
        made: wire.Message = []
        for node in self.nodes:
            made += wire.message(1, _node(node))
        made += wire.text(2, self.name)
        for port in self.inputs:
            made += wire.message(11, _port(port))
        for port in self.outputs:
            made += wire.message(12, _port(port))
        return made


Attribute = Inner | int | float | str | list[int] | list[float] | list[str] | Tensor


@dataclass
class Model:
    """A model in memory. `weights` are the tensors of the program itself, not copies."""

    opset: int
    nodes: list[Node] = field(default_factory=list)
    weights: dict[str, Tensor] = field(default_factory=dict)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    domains: dict[str, int] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)  # by node of the program, until optimized

    def pieces(
        self,
        external: External | None = None,
        *,
        weights: bool = True,
        as_inputs: bool = False,
        untyped: bool = False,
    ) -> wire.Message:
        """The file, in pieces. With `external`, large weights are entered there instead; `untyped`
        leaves the types of outputs to be found by who reads the model.
        """
        graph: wire.Message = []
        for node in self.nodes:
            graph += wire.message(1, _node(node))
        graph += wire.text(2, "main")
        for name, tensor in self.weights.items() if weights else ():
            graph += wire.message(5, _tensor(name, tensor, external))
        shown = [*self.inputs, *(self._ports_of_weights() if as_inputs else ())]
        for port in shown:
            graph += wire.message(11, _port(port))
        for port in self.outputs:
            graph += wire.message(12, wire.text(1, port.name) if untyped else _port(port))
        made = wire.integer(1, _ir_version(self.opset))
        made += wire.text(2, "taeda") + wire.text(3, taeda.__version__)
        made += wire.message(7, graph)
        for domain, version in {"": self.opset, **self.domains}.items():
            made += wire.message(8, wire.text(1, domain) + wire.integer(2, version))
        return made

    def _ports_of_weights(self) -> list[Port]:
        return [Port(n, t.dtype, list(t.shape)) for n, t in self.weights.items()]

    def size(self) -> int:
        """The bytes of all weights."""
        return sum(t.numel() * t.element_size() for t in self.weights.values())


class External:
    """The file beside a model that holds its weights, each at a multiple of 64 bytes."""

    def __init__(self, location: str) -> None:
        self.location, self.length = location, 0
        self.pieces: wire.Message = []

    def place(self, content: memoryview) -> wire.Message:
        """The entries of a TensorProto for bytes that go into this file."""
        gap = -self.length % 64
        self.pieces += [bytes(gap), content]
        start, self.length = self.length + gap, self.length + gap + len(content)
        entries = {"location": self.location, "offset": str(start), "length": str(len(content))}
        made: wire.Message = []
        for key, value in entries.items():
            made += wire.message(13, wire.text(1, key) + wire.text(2, value))
        return made + wire.integer(14, 1)


def _ir_version(opset: int) -> int:
    """The oldest version of the format that knows this opset, and 10 from opset 20 on."""
    for last, version in ((18, 8), (19, 9), (22, 10), (24, 11), (25, 12), (26, 13)):
        if opset <= last:
            return version
    return 14


def memory(tensor: Tensor) -> memoryview:
    """The bytes of a tensor in order; a copy only of one that lies otherwise."""
    if tensor.is_meta:
        raise ValueError(
            "the model was made without memory, so its weights have no values: give them to "
            "apply_weights, or leave them out by include_initializers=False"
        )
    flat: Any = tensor.detach().contiguous().reshape(-1)
    if not flat.numel():
        return memoryview(b"")
    return memoryview(flat.view(taeda.uint8).numpy()).cast("B")


def tensor_bytes(name: str, tensor: Tensor) -> wire.Message:
    """A tensor as a file of its own."""
    return _tensor(name, tensor)


def _tensor(name: str, tensor: Tensor, external: External | None = None) -> wire.Message:
    made = wire.packed_integers(1, list(tensor.shape)) + wire.integer(2, code(tensor.dtype))
    made += wire.text(8, name)
    content = memory(tensor)
    if external is not None and len(content) >= _INLINE:
        return made + external.place(content)
    return made + wire.message(9, [content])


def _node(node: Node) -> wire.Message:
    made: wire.Message = []
    for name in node.inputs:
        made += wire.text(1, name)
    for name in node.outputs:
        made += wire.text(2, name)
    made += wire.text(3, node.outputs[0]) + wire.text(4, node.kind)
    for name, attribute in node.attributes.items():
        made += wire.message(5, wire.text(1, name) + _attribute(attribute))
    if node.origin:
        made += wire.text(6, node.origin)
    for key, value in node.props.items():
        made += wire.message(9, wire.text(1, key) + wire.text(2, value))
    return made + (wire.text(7, node.domain) if node.domain else [])


def _attribute(value: Attribute) -> wire.Message:
    if isinstance(value, bool | int):
        return wire.integer(3, int(value)) + wire.integer(20, 2)
    if isinstance(value, float):
        return wire.floating(2, value) + wire.integer(20, 1)
    if isinstance(value, str):
        return wire.text(4, value) + wire.integer(20, 3)
    if isinstance(value, Inner):
        return wire.message(6, value.pieces()) + wire.integer(20, 5)
    if isinstance(value, Tensor):
        return wire.message(5, _tensor("", value)) + wire.integer(20, 4)
    if value and all(isinstance(v, str) for v in value):
        texts: wire.Message = []
        for v in value:
            texts += wire.text(9, str(v))
        return texts + wire.integer(20, 8)
    if all(isinstance(v, int) for v in value):
        return wire.packed_integers(8, [int(v) for v in value]) + wire.integer(20, 7)
    return wire.packed_floats(7, [float(v) for v in value]) + wire.integer(20, 6)


def _port(port: Port) -> wire.Message:
    shape: wire.Message = []
    for n in port.sizes:
        shape += wire.message(1, wire.text(2, n) if isinstance(n, str) else wire.integer(1, n))
    tensor = wire.integer(1, code(port.dtype)) + wire.message(2, shape)
    return wire.text(1, port.name) + wire.message(2, wire.message(1, tensor))
