"""Proxy: what stands for a value while a program is traced; whatever is done with it becomes a node."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import taeda
from taeda import Tensor

from ._map import map_aggregate
from ._user import user_line
from .node import Argument, Node, Target

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]

_VALUES = (
    *(str, int, float, bool, complex, bytes, range, type(None), type(Ellipsis)),
    *(taeda.dtype, taeda.device, taeda.layout, taeda.memory_format, Tensor),
)


class TraceError(ValueError):
    """The program asks a traced value for something that only a real one has. The message names the line."""


def _located(text: str) -> str:
    line = user_line()
    return f"{text}\n{line}" if line else text


class TracerBase:
    """What makes nodes of calls. A subclass may decide what arguments and control flow become.

    >>> from taeda.fx import Graph
    >>> tracer = GraphAppendingTracer(Graph())
    >>> isinstance(tracer, TracerBase)
    True
    >>> tracer.create_proxy("placeholder", "x", (), {})
    Proxy(x)
    """

    graph: Graph
    record_stack_traces = False

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A node of `graph`; every one that is recorded comes from here."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if self.record_stack_traces:
            node.stack_trace = user_line()
        return node

    def proxy(self, node: Node) -> Proxy:
        """What stands for the value of `node`."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Any = None,
    ) -> Proxy:
        """A node from arguments in which proxies stand for values, and the proxy of its result."""
        made, named = self.create_arg(tuple(args)), self.create_arg(dict(kwargs))
        node = self.create_node(kind, target, made, named, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Argument:
        """What stands in a node for an argument. NotImplementedError for types that a graph cannot hold."""
        if isinstance(a, (tuple, list, dict, slice)):
            return self._create_aggregate(a)
        return self._create_leaf(a)

    def _create_aggregate(self, a: Any) -> Argument:
        if isinstance(a, dict) and any(_holds_proxy(key) for key in a):
            raise RuntimeError(
                _located("Keys for dictionaries used as an argument cannot contain a Node")
            )
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*(self.create_arg(entry) for entry in a))
        if isinstance(a, tuple):
            return tuple(self.create_arg(entry) for entry in a)
        if isinstance(a, list):
            return [self.create_arg(entry) for entry in a]
        if isinstance(a, dict):
            return {key: self.create_arg(entry) for key, entry in a.items()}
        return slice(*(self.create_arg(entry) for entry in (a.start, a.stop, a.step)))

    def _create_leaf(self, a: Any) -> Argument:
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, (*_VALUES, type)) or callable(a):
            return a
        raise NotImplementedError(
            _located(f"argument of type: {type(a)} cannot stand in a graph: {a!r}")
        )

    def to_bool(self, obj: Proxy) -> bool:
        """What `if proxy` means: TraceError, unless a subclass knows."""
        raise TraceError(
            _located("symbolically traced variables cannot be used as inputs to control flow")
        )

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What `for x in proxy` means. Unpacking into a known number of names works: its entries are nodes.

        TraceError where the number is not known.
        """
        count = _unpacked(sys._getframe(2))
        if count is not None:
            return iter([operator.getitem(obj, i) for i in range(count)])
        raise TraceError(
            _located(
                "Proxy object cannot be iterated. This can be attempted when the Proxy is used in "
                "a loop or as a *args or **kwargs "
                "function argument. Its length is not known while tracing: unpack it into as many "
                "names as it has entries, or make "
                "the loop a function under fx.wrap"
            )
        )

    def keys(self, obj: Proxy) -> Any:
        """What `**proxy` asks for."""
        return Attribute(obj, "keys")()


def _unpacked(frame: Any) -> int | None:
    """Into how many names the frame is about to unpack, itself or what a generator expression makes
    of each entry.
    """
    following = (i for i in dis.get_instructions(frame.f_code) if i.offset >= frame.f_lasti)
    names = [i for i in following if i.opname not in ("CACHE", "PRECALL", "EXTENDED_ARG")][:3]
    words = [i.opname for i in names]
    if words[:1] == ["UNPACK_SEQUENCE"]:
        return names[0].argval
    generator = words[:3] == ["GET_ITER", "CALL", "UNPACK_SEQUENCE"]
    return names[2].argval if generator and names[1].argval == 0 else None


def _holds_proxy(value: Any) -> bool:
    found: list[Any] = []
    map_aggregate(value, lambda v: found.append(v) if isinstance(v, Proxy) else None)
    return bool(found)


class GraphAppendingTracer(TracerBase):
    """A tracer that only appends to a graph: for rules written with proxies.

    >>> from taeda.fx import Graph
    >>> graph = Graph()
    >>> x = Proxy(graph.placeholder("x"), GraphAppendingTracer(graph))
    >>> made = x.relu() + 1
    >>> [node.name for node in graph.nodes]
    ['x', 'relu', 'add']
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """Stands for a value while a program runs for its graph: operators, methods, attributes and
    functions of taeda are recorded.

    What needs the value itself is refused, with the line that asked: TraceError for `if` and `for`,
    RuntimeError for `len`, TypeError for `range` and `int`.

    Args:
        node: the node whose value it stands for
        tracer: what records; a tracer that appends to the graph of `node` if None (default: None)

    >>> from taeda.fx import Graph
    >>> graph = Graph()
    >>> x = Proxy(graph.placeholder("x"))
    >>> taeda.relu(x) + x.shape[0]
    Proxy(add)
    >>> [node.name for node in graph.nodes]
    ['x', 'relu', 'getattr_1', 'getitem', 'add']
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k.startswith("__") and k.endswith("__"):
            raise AttributeError(k)  # a protocol that a traced value does not follow
        return Attribute(self, k)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What `**proxy` asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> NoReturn:
        raise RuntimeError(
            _located(
                "'len' is not supported in symbolic tracing by default. If you want this call to "
                "be recorded, please call "
                "taeda.fx.wrap('len') at module scope"
            )
        )

    def __index__(self) -> NoReturn:
        raise TypeError(
            _located(
                "'Proxy' object cannot be interpreted as an integer: its value is not known while "
                "tracing. Pass the number to the "
                "tracer through concrete_args, or put what needs it into a function that is "
                "wrapped with taeda.fx.wrap"
            )
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        self.tracer.create_proxy("call_function", operator.setitem, (self, key, value), {})

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        tracer = _tracer_among((args, kwargs))
        if tracer is None:
            return NotImplemented
        name = getattr(func, "__name__", "")
        if getattr(func, "__objclass__", None) is Tensor or vars(Tensor).get(name) is func:
            return tracer.create_proxy("call_method", func.__name__, args, kwargs)
        return tracer.create_proxy("call_function", func, args, kwargs)


class Attribute(Proxy):
    """An attribute of a traced value: a node of its own only if it is used as more than a method.

    >>> from taeda.fx import Graph
    >>> x = Proxy(Graph().placeholder("x"))
    >>> type(x.relu).__name__, x.relu(), x.shape.node.name
    ('Attribute', Proxy(relu), 'getattr_1')
    """

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]  # made when first asked for
        """The node that gets the attribute."""
        if self._node is None:
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def _tracer_among(values: Any) -> TracerBase | None:
    """The tracer of the proxies among the arguments."""
    found: list[TracerBase] = []

    def note(value: Any) -> None:
        if isinstance(value, Proxy):
            found.append(value.tracer)

    map_aggregate(values, note)
    return found[0] if found else None


# ---- operators ----

_BINARY = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
)
_COMPARED = ("lt", "le", "eq", "ne", "gt", "ge", "getitem")
_UNARY = ("neg", "pos", "invert", "abs")


def _record(function: Any, swapped: bool = False) -> Any:
    def method(self: Proxy, *others: Any) -> Proxy:
        args = (*others, self) if swapped else (self, *others)
        tracer = _tracer_among(args) or self.tracer
        return tracer.create_proxy("call_function", function, args, {})

    return method


def _install() -> None:
    for name in (*_BINARY, *_COMPARED, *_UNARY):
        setattr(Proxy, f"__{name.strip('_')}__", _record(getattr(operator, name)))
    for name in _BINARY:
        bare = name.strip("_")
        setattr(Proxy, f"__r{bare}__", _record(getattr(operator, name), swapped=True))
        setattr(Proxy, f"__i{bare}__", _record(getattr(operator, f"i{bare}")))
    Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]  # __eq__ records


_install()
