"""Graph: a list of nodes that stands for the `forward` of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from taeda._core_api import warn

from . import _lint
from ._codegen import CodeGen, PythonCode, TransformBody, generate
from ._names import Namespace, candidate
from .node import Argument, Node, Target, map_arg, target_text

if TYPE_CHECKING:
    from .graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode"]

_EMPTY = object()


class _Insertion:
    """Where new nodes go; as a context it puts the former place back at the end."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        self.graph._insert = self.before


class NodeList:
    """The nodes of a graph in order. Nodes may be added and erased while one goes through it."""

    def __init__(self, graph: Graph, backward: bool = False) -> None:
        self.graph, self.backward = graph, backward

    def __len__(self) -> int:
        return self.graph._length

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = root._prev if self.backward else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self.backward else node._next

    def __reversed__(self) -> Iterator[Node]:
        return iter(NodeList(self.graph, not self.backward))


class Graph:
    """A list of nodes, from placeholders to one output.

    Args:
        owning_module: the module that targets are looked up in (default: None)
        tracer_cls: the class of the tracer that makes it, for who reads it later (default: None)
        tracer_extras: what that tracer keeps with the graph (default: None)

    >>> import taeda
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(taeda.relu, (x,)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=taeda.relu](args = (%x,), kwargs = {})
        return relu
    """

    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: type | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._length = 0
        self._names = Namespace()
        self._owners: list[Any] = []
        self._transform: TransformBody | None = None
        self._codegen = CodeGen()
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self.owning_module = owning_module

    @property
    def owning_module(self) -> GraphModule | None:
        """The module whose graph this is; targets of get_attr and call_module are looked up in it."""
        return self._owner

    @owning_module.setter
    def owning_module(self, module: GraphModule | None) -> None:
        self._owner = module

    @property
    def nodes(self) -> NodeList:
        """All nodes in order; `reversed` gives them from the end."""
        return NodeList(self)

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes of one opcode and target, in order. ValueError without a target for call_function."""
        if op == "call_function" and target is None:
            raise ValueError("find_nodes: call_function needs a target")
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # ---- new nodes ----

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node at the insertion point. Its name is `name`, or made of the target, and unique."""
        args, kwargs = args or (), kwargs or {}
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError(
                f"args must be a tuple and kwargs a dict, got {type(args).__name__} and "
                f"{type(kwargs).__name__}"
            )
        wanted = name if name is not None else candidate(op, target)
        node = Node(self, self._names.create_name(wanted), op, target, args, kwargs, type_expr)
        self._insert(node)
        self._length += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = _EMPTY) -> Node:
        """A parameter of the function; `default_value` is what it takes where nothing is passed."""
        import inspect

        given = default_value is not _EMPTY and default_value is not inspect.Signature.empty
        args = (default_value,) if given else ()
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """The attribute at a dotted path of the owning module; a UserWarning if there is none."""
        if self.owning_module is not None and not _lint.has_attribute(
            self.owning_module, qualified_name
        ):
            warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning "
                f"GraphModule: {qualified_name!r}. "
                "Call GraphModule.add_submodule to add the necessary submodule, or "
                "register_parameter or register_buffer",
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """The result of the module at a dotted path; a UserWarning if there is none."""
        if self.owning_module is not None and not _lint.has_attribute(
            self.owning_module, module_name
        ):
            warn(
                "Attempted to insert a call_module Node with no underlying reference in the "
                f"owning GraphModule: {module_name!r}. "
                "Call GraphModule.add_submodule to add the necessary submodule",
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """The result of `args[0].method_name(*args[1:], **kwargs)`."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """The result of `the_function(*args, **kwargs)`."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """What the function returns."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def output_node(self) -> Node:
        """The output. RuntimeError if there is none."""
        found = self.find_nodes(op="output")
        if not found:
            raise RuntimeError("the graph has no output node")
        return found[-1]

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A copy of a node of another graph; `arg_transform` gives for each of its inputs what
        stands for it here.
        """
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, dict(kwargs), node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False
    ) -> Any:
        """Copy the nodes of `g` but for its output, and return what here equals its result.

        `val_map` takes the copies, by original; a node that is already in it is not copied. With
        `return_output_node` the result is (value, output node of `g`).
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    # ---- order ----

    def inserting_before(self, n: Node | None = None) -> _Insertion:
        """New nodes go before `n`, before all without it.
        In a with statement until its end, else for good.
        """
        if n is None:
            return self.inserting_after(self._root)
        return _Insertion(self, self._own(n).prepend)

    def inserting_after(self, n: Node | None = None) -> _Insertion:
        """New nodes go after `n`, one after another; without it to the end of the graph."""
        if n is None:
            return self.inserting_before(self._root)
        last = self._own(n)

        def insert(node: Node) -> None:
            nonlocal last
            last.append(node)
            last = node

        return _Insertion(self, insert)

    def _own(self, node: Node) -> Node:
        if node.graph is not self:
            raise AssertionError(f"Node {node} to insert beside is not in this graph")
        return node

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out. RuntimeError if another node uses it, or if it is of another graph."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {list(to_erase.users)}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warn(f"erase_node({to_erase}) on an already erased node")
            return
        to_erase._set_arguments((), {})
        to_erase._unlink()  # its own links stay, for whoever is just going through the list
        to_erase._erased = True
        self._length -= 1

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase what nobody uses and what is pure (`Node.is_impure`, or your own function).
        Whether something went.

        In-place operations, inputs and the output stay. Say of a function of yours that writes something
        `has_side_effect(function)`.
        """
        self.lint()
        impure = is_impure_node or Node.is_impure
        before = self._length
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
        return self._length < before

    # ---- checks, text ----

    def lint(self) -> None:
        """RuntimeError if something is wrong: a foreign or later node among arguments, a name
        twice, users that are not true, a target the owning module lacks.
        """
        _lint.lint(self)

    def python_code(
        self, root_module: str, *, verbose: bool = False, lasting: bool = False
    ) -> PythonCode:
        """The Python function that the graph stands for: `src`, and the `globals` it needs.

        `root_module` is what the module is called in it, "self" in a method. `verbose` notes as
        comments where each node was recorded. `lasting` text says taeda though this process calls it
        torch (`install_as_torch`).
        """
        return generate(self, root_module, verbose, self._transform, self._codegen, lasting)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let `codegen` say how the function is called and what it returns. Needs a recompile to act."""
        if not isinstance(codegen, CodeGen):
            raise TypeError(
                f"set_codegen wants a taeda.fx.graph.CodeGen, got {type(codegen).__name__}"
            )
        self._codegen = codegen

    def process_inputs(self, *args: Any) -> Any:
        """The values of the placeholders for these arguments of a call, as the codegen has them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What a call gives where the graph gives `out`, as the codegen has it."""
        return self._codegen.process_outputs(out)

    def on_generate_code(
        self, make_transformer: Callable[[TransformBody | None], TransformBody | None]
    ) -> _Transform:
        """Let a function change the lines of the body whenever code is made:
        `make_transformer(current)` returns it.

        Needs a recompile to act. As a context the former one comes back at the end.
        """
        return _Transform(self, make_transformer)

    def print_tabular(self) -> None:
        """Print the nodes as a table: opcode, name, target, args, kwargs."""
        print(self._table())

    def _table(self) -> str:
        head = ("opcode", "name", "target", "args", "kwargs")
        rows = [
            (n.op, n.name, target_text(n.target), repr(n.args), repr(n.kwargs)) for n in self.nodes
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [head, tuple("-" * width for width in widths), *rows]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def __str__(self) -> str:
        names: list[str] = []
        lines = [node.format_node() for node in self.nodes]
        return "graph(" + ", ".join(names) + "):" + "".join(f"\n    {line}" for line in lines)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        copies: dict[Node, Any] = {}
        memo = {} if memo is None else memo
        memo[id(self)] = made
        for node in self.nodes:
            copies[node] = made.node_copy(node, lambda n: copies[n])
        made._names = self._names.copy()
        made._transform, made._codegen = self._transform, self._codegen
        return made

    def __reduce__(self) -> Any:
        place = {node: number for number, node in enumerate(self.nodes)}
        rows = [_row(node, place) for node in self.nodes]
        return _rebuilt, (rows, self._tracer_cls, self._codegen)


class _Transform:
    """The body's transformer, and the one before it."""

    def __init__(self, graph: Graph, make: Callable[[TransformBody | None], Any]) -> None:
        self.graph, self.before = graph, graph._transform
        graph._transform = make(self.before)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        self.graph._transform = self.before


# ---- pickles: a list of rows, for the links of a long list would nest ----


class _Place:
    """A node in a pickle: its number in the list."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> Any:
        return _Place, (self.number,)


class _Named:
    """A function in a pickle, by its name: many of ours have another `__module__` than their place."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        return _Named, (self.name,)


def _row(node: Node, place: dict[Node, int]) -> tuple[Any, ...]:
    from ._names import qualified_name

    target: Any = node.target
    if node.op == "call_function" and (name := qualified_name(target)):
        target = _Named(name)
    args, kwargs = (map_arg(a, lambda n: _Place(place[n])) for a in (node.args, node.kwargs))
    return node.name, node.op, target, args, kwargs, node.type


def _rebuilt(
    rows: Iterable[tuple[Any, ...]], tracer_cls: type | None, codegen: CodeGen | None = None
) -> Graph:
    from ._map import map_aggregate
    from ._names import resolve

    graph = Graph(tracer_cls=tracer_cls)
    graph._codegen = codegen or graph._codegen
    nodes: list[Node] = []

    def there(value: Any) -> Any:
        return nodes[value.number] if isinstance(value, _Place) else value

    for name, op, target, args, kwargs, kind in rows:
        function = resolve(target.name) if isinstance(target, _Named) else target
        made = map_aggregate(args, there), dict(map_aggregate(kwargs, there))
        nodes.append(graph.create_node(op, function, *made, name, kind))
    return graph
