"""Running a graph node by node, and making a new one from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from taeda import nn

from ._map import map_aggregate
from .graph import Graph
from .graph_module import GraphModule
from .node import Argument, Node, Target
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a `GraphModule` (or a `graph` over a module) node by node; subclasses change what a node does.

    Values are dropped after their last use unless `garbage_collect_values` is False.

    Args:
        module: the module whose graph runs, and in which targets are looked up
        garbage_collect_values: whether values go after their last use (default: True)
        graph: another graph over `module` (default: None)

    >>> import taeda
    >>> from taeda.fx import symbolic_trace
    >>> class Loud(Interpreter):
    ...     def run_node(self, n):
    ...         print(n.op, n.name)
    ...         return super().run_node(n)
    >>> Loud(symbolic_trace(lambda x: x + 1)).run(taeda.ones(1))
    placeholder x
    call_function add
    output output
    tensor([2.])
    """

    def __init__(
        self, module: nn.Module, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.graph: Graph = graph if graph is not None else module.graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self._last: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            from ._codegen import _last_uses

            self._last = _last_uses(self.graph)

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """The result for these inputs. `initial_env` gives values of nodes, which are not computed then.

        With `enable_io_processing` the arguments are those of a call, and so is the result: both
        pass through the graph's codegen. Without, they are values of placeholders, and what the
        output node holds.
        """
        self.env = dict(initial_env or {})
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        result = self._run()
        return self.graph.process_outputs(result) if enable_io_processing else result

    def boxed_run(self, args_list: list[Any]) -> Any:
        """The same for a list, which is emptied, so that inputs can go as soon as they are used."""
        if not isinstance(args_list, list):
            raise AssertionError(f"boxed_run wants a list, got {type(args_list).__name__}")
        args = list(args_list)
        args_list.clear()
        self.env = {}
        self.args_iter = _emptying(args)
        return self._run()

    def _run(self) -> Any:
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self._guarded(node)
            if node.op == "output":
                result = self.env[node]
                if self.garbage_collect_values:
                    self.env.clear()
                return result
            for done in self._last.get(node, ()):
                self.env.pop(done, None)
        return None

    def _guarded(self, node: Node) -> Any:
        try:
            return self.run_node(node)
        except Exception as error:
            if self.extra_traceback:
                where = f"\nOriginal traceback:\n{node.stack_trace}" if node.stack_trace else ""
                error.add_note(f"While executing {node.format_node()}{where}")
            raise

    def run_node(self, n: Node) -> Any:
        """The value of one node; calls the method of its opcode."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """The next input, or the default. RuntimeError if there is neither."""
        name = str(target)
        if name.startswith("*") and not name.startswith("**"):
            return tuple(self.args_iter)
        for value in self.args_iter:
            return value
        if args:
            return args[0]
        raise RuntimeError(
            f"the program takes {target!r}, and there is no argument for it: pass one by position"
        )

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """What the module hierarchy has there."""
        return self.fetch_attr(str(target))

    def call_function(self, target: Any, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """The function's result."""
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """The method's result."""
        itself, *rest = args
        return getattr(itself, str(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """The module's result."""
        return self.fetch_attr(str(target))(*args, **kwargs)

    def output(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """What is returned."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """The attribute at a dotted path. RuntimeError, with how far the path goes, if there is none."""
        place: Any = self.module
        parts = target.split(".")
        for number, part in enumerate(parts):
            if not hasattr(place, part):
                raise RuntimeError(
                    f"a node reads {'.'.join(parts[: number + 1])!r}, which the module does not have"
                )
            place = getattr(place, part)
        return place

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The node's arguments with values in place of nodes."""
        return self.map_nodes_to_values(n.args, n), dict(self.map_nodes_to_values(n.kwargs, n))

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """`args` with values in place of nodes. RuntimeError for one that has not run."""

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"node {n} reads {node}, which has not run: Graph.lint() says what is out of order"
                )
            return self.env[node]

        return _filled(args, value)


def _emptying(args: list[Any]) -> Iterator[Any]:
    args.reverse()
    while args:
        yield args.pop()


def _filled(args: Any, value: Callable[[Node], Any]) -> Any:
    """Arguments with values in place of nodes, in lists and dicts that can be changed. What a value
    holds is not looked at: results with names stay what they are.
    """
    if isinstance(args, Node):
        return value(args)
    if isinstance(args, tuple):
        made = [_filled(entry, value) for entry in args]
        return type(args)(*made) if hasattr(args, "_fields") else tuple(made)
    if isinstance(args, list):
        return [_filled(entry, value) for entry in args]
    if isinstance(args, dict):
        return {key: _filled(entry, value) for key, entry in args.items()}
    if isinstance(args, slice):
        return slice(*(_filled(part, value) for part in (args.start, args.stop, args.step)))
    return args


class Transformer(Interpreter):
    """Makes a new `GraphModule`: the methods of a subclass get proxies, and what they do with them
    is recorded.

    Args:
        module: the module that is made anew

    >>> import taeda
    >>> from taeda.fx import symbolic_trace
    >>> class NegToAbs(Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         return super().call_function(taeda.abs if target is taeda.neg else target, args, kwargs)
    >>> NegToAbs(symbolic_trace(lambda x: taeda.neg(x))).transform()(taeda.tensor(-2.0))
    tensor(2.)
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        from ._symbolic_trace import Tracer

        self.new_graph = Graph(tracer_cls=module.graph._tracer_cls)
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module
        self._tracer_base = Tracer

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Proxy:
        """A placeholder of the new graph."""
        default = (args[0],) if args else ()
        return Proxy(self.tracer.create_node("placeholder", target, default, {}), self.tracer)

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Proxy:
        """A get_attr node of the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """A call_module node: modules stay whole."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Any, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """A call_function node."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target: Target, args: tuple[Argument, ...], kwargs: Any) -> Any:
        """A call_method node."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def run_node(self, n: Node) -> Any:
        """What a node becomes; a node takes over the type and `meta` of the one it stands for."""
        result = super().run_node(n)
        if isinstance(result, Proxy) and result.node.graph is self.new_graph:
            result.node.type = result.node.type or n.type
            for key, value in n.meta.items():
                result.node.meta.setdefault(key, value)
        return result

    def transform(self) -> GraphModule:
        """The new module."""
        result = super().run(enable_io_processing=False)

        def node(value: Any) -> Any:
            return value.node if isinstance(value, Proxy) else value

        types = [n.type for n in self.graph.nodes if n.op == "output"]
        self.new_graph.output(map_aggregate(result, node), types[0] if types else None)
        name = type(self.module).__name__
        return GraphModule(self.module, self.new_graph, name)


def _make_tracer() -> Callable[[Graph], Any]:
    from ._symbolic_trace import Tracer

    class TransformerTracer(Tracer):
        def __init__(self, graph: Graph) -> None:
            super().__init__()
            self.graph = graph
            self._attributes: dict[int, str] = {}
            self._kept: list[Any] = []

        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return True

    return TransformerTracer


_TransformerTracer = _make_tracer()
