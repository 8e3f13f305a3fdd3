"""A graph of the format as one of fx."""

from __future__ import annotations

import operator
import re
from typing import Any

import taeda
from taeda._core_api.files import FormatError
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from ..._functions import CONDITION, LOOP, MAP, SCAN
from .._kinds import NUMBER_ARGUMENTS
from .._operators import item
from .._stacks import stack_of
from .targets import part_names, target_of
from .values import MOST_DIMS, dtype_of, formula_of_size, name_of, plain_value, union_of

__all__ = ["GraphReader", "describe", "shown"]

_FLOAT = re.compile(r"Symbol\('(\w{1,98})'[^()]{0,200}\)\Z")

MOST_NODES, DEEPEST = 200_000, 20
#: their arguments: values, functions, lists of values
_SHOWN = {CONDITION: "ngg[", LOOP: "gg[[", SCAN: "g[[[", MAP: "g[["}


class GraphReader:
    """The nodes of a graph: the program's, or that of a function in it."""

    def __init__(self, described: Any, depth: int = 0) -> None:
        if len(described["nodes"]) > MOST_NODES or depth > DEEPEST:
            raise FormatError(
                f"the program has more than {MOST_NODES} nodes, or functions in functions "
                f"{DEEPEST} deep"
            )
        self.described, self.depth = described, depth
        self.graph = Graph()
        self.nodes: dict[str, Node] = {}
        self.functions: dict[str, GraphModule] = {}
        self.stack: dict[str, tuple[str, str]] | None = None

    def function(self) -> GraphModule:
        """The graph as a function of tensors, which gives a tuple of them."""
        for entry in self.described["inputs"]:
            ((kind, value),) = union_of(entry)
            if kind != "as_tensor":
                raise FormatError(f"a function gets a {kind!r:.60}: tensors are read")
            name = name_of(value["name"])
            node = self._enter(name, self.graph.placeholder(name))
            node.target = node.name
            describe(node, *self._described(name))
        for entry in self.described["nodes"]:
            self._node(entry)
        self.graph.output(tuple(self._output(o) for o in self.described["outputs"]))
        made = GraphModule(self.functions, self.graph)
        made.graph.lint()
        return made

    def _enter(self, name: str, node: Node) -> Node:
        if name in self.nodes:
            raise FormatError(f"two values of the program are called {name!r:.80}")
        self.nodes[name] = node
        return node

    def _described(self, name: str) -> tuple[Any, Any, Any]:
        """Of a tensor: one without elements of its dtype and rank, formulas of sizes and strides."""
        meta = self.described["tensor_values"][name]
        shape, stride = (tuple(map(formula_of_size, meta[key])) for key in ("sizes", "strides"))
        if len(shape) > MOST_DIMS or len(shape) != len(stride):
            raise FormatError(f"{name!r:.80} has {len(shape)} sizes and {len(stride)} strides")
        value = taeda.empty([0] * len(shape), dtype=dtype_of(meta["dtype"]), device="meta")
        if meta["requires_grad"] and value.is_floating_point():
            value.requires_grad_()
        return value, shape, stride

    # ---- nodes ----

    def _output(self, entry: Any) -> Any:
        ((kind, value),) = union_of(entry)
        if kind in NUMBER_ARGUMENTS.values():
            return self._number(value)
        return self._known(value["name"]) if kind == "as_tensor" else plain_value(kind, value)

    def _known(self, name: Any) -> Node:
        if name not in self.nodes:
            raise FormatError(f"the program reads {name!r:.80} before it is there")
        return self.nodes[name]

    def _called(self, target: Any, args: Any, kwargs: Any = None, name: str | None = None) -> Node:
        """A call in the graph, in the modules that this entry names."""
        node = self.graph.call_function(target, args, kwargs, name=name)
        if self.stack is not None:
            node.meta["nn_module_stack"] = self.stack
        return node

    def _node(self, entry: Any) -> None:
        target = target_of(entry["target"])
        said = (entry.get("metadata") or {}).get("nn_module_stack")
        self.stack = None if said is None else stack_of(said)
        if target in _SHOWN:
            self._call_of_functions(target, entry)
            return
        args, kwargs = self._arguments(target, entry["inputs"])
        outputs = [next(iter(union_of(o))) for o in entry["outputs"]]
        if len(outputs) == 1 and outputs[0][0] in ("as_tensor", *NUMBER_ARGUMENTS.values()):
            value = outputs[0][1]
            name = name_of(value["name"] if outputs[0][0] == "as_tensor" else value["as_name"])
            node = self._enter(name, self._called(target, args, kwargs, name))
            self._note(node, name, outputs[0][0])
            return
        self._parts(self._called(target, args, kwargs), part_names(outputs))

    def _parts(self, node: Node, names: list[str]) -> None:
        """What a call gives that gives several tensors: a node for each."""
        facts = []
        for k, name in enumerate(names):
            part = self._called(operator.getitem, (node, k), name=name_of(name))
            facts.append(self._described(name))
            describe(self._enter(name, part), *facts[-1])
        describe(node, *([f[k] for f in facts] for k in range(3)))

    def _call_of_functions(self, target: Any, entry: Any) -> None:
        """A branch or a loop: what it gives is a node each."""
        args = [self._to_function(e["arg"]) for e in entry["inputs"]]
        if [shown(a) for a in args] != list(_SHOWN[target]):
            raise FormatError(f"{entry['target']!r:.60} has other arguments than it takes")
        given = [one for group in args if shown(group) == "[" for one in group]
        functions = [self.functions[a.target] for a in args if shown(a) == "g"]
        node = self._called(target, tuple(args))
        outputs = part_names([next(iter(union_of(o))) for o in entry["outputs"]])
        counts = [len(list(f.graph.output_node().args[0])) for f in functions]
        wanted = [1, len(args[2])] if target is LOOP else [len(outputs)] * len(functions)
        inputs = [len(list(f.graph.find_nodes(op="placeholder"))) for f in functions]
        several = () if target in (CONDITION, LOOP) else args[-2]
        least = len(args[1]) if target is SCAN else 0
        if target in (SCAN, MAP) and (not several or least > len(outputs)):
            raise FormatError(f"{node.name} slices no tensor, or gives fewer than it carries")
        if counts != wanted or inputs != [len(given)] * len(functions):
            raise FormatError(
                f"the functions of {node.name} take {inputs} tensors and give {counts}: "
                f"{len(given)} and {wanted} were wanted"
            )
        self._parts(node, outputs)

    def _to_function(self, entry: Any) -> Any:
        ((kind, value),) = union_of(entry)
        if kind == "as_tensors":
            return tuple(self._known(v["name"]) for v in value)
        if kind == "as_tensor":
            return self._known(value["name"])
        if kind == "as_ints" and value == []:  # an empty list has no kind
            return ()
        if kind != "as_graph":
            raise FormatError(f"a function gets a {kind!r:.60}: tensors are read")
        name = f"graph_{len(self.functions)}"
        self.functions[name] = GraphReader(value["graph"], self.depth + 1).function()
        return self.graph.get_attr(name)

    def _note(self, node: Node, name: str, kind: str) -> None:
        if kind == "as_tensor":
            describe(node, *self._described(name))
        elif kind == "as_sym_int":
            size = formula_of_size(self.described["sym_int_values"][name])
            describe(node, 0, size, size)
        elif kind == "as_sym_float":
            describe(node, 0.0, None, None)
            if node.target is item:
                node.meta["decided"] = self._symbol_of(name), None
        elif kind == "as_sym_bool":
            describe(node, True, None, None)

    def _symbol_of(self, name: str) -> str:
        """The symbol of a float that data decide."""
        said = self.described["sym_float_values"][name]["as_expr"]["expr_str"]
        found = _FLOAT.match(said) if isinstance(said, str) else None
        if found is None:
            raise FormatError(f"{name!r:.80} is a float in a tensor, and {said!r:.80} no symbol")
        return found[1]

    def _arguments(self, target: Any, entries: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        schema = getattr(target, "_schema", None)
        values = [(str(e["name"]), self._argument(e["arg"]), e.get("kind")) for e in entries]
        if schema is None:
            named = {n: v for n, v, kind in values if kind == 2}
            return tuple(v for _, v, kind in values if kind != 2), named
        order = [a.name for a in schema.arguments]
        only = {a.name for a in schema.arguments if a.kwarg_only}
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        taken: set[str] = set()
        for name, value, _ in values:
            if name in taken:
                raise FormatError(f"{target} has the argument {name} twice")
            taken.add(name)
            if name not in order:
                if value in (None, False):  # a switch that this row does not have, and that is off
                    continue
                raise FormatError(f"{target} has no argument {name!r:.60}")
            if (
                name not in only
                and len(args) < len(order)
                and order[len(args)] == name
                and not kwargs
            ):
                args.append(value)
            else:
                kwargs[name] = value
        return tuple(args), kwargs

    def _argument(self, entry: Any) -> Any:
        ((kind, value),) = union_of(entry)
        if kind == "as_tensor":
            return self._known(value["name"])
        if kind in NUMBER_ARGUMENTS.values():
            return self._number(value)
        if kind == "as_tensors":
            return [self._known(v["name"]) for v in value]
        if kind in ("as_optional_tensors",):
            return [self._optional(v) for v in value]
        if kind == "as_optional_tensor":
            return self._optional(value)
        if kind in ("as_sym_ints", "as_sym_floats"):
            return [self._number(v) for v in value]
        return plain_value(kind, value)

    def _optional(self, entry: Any) -> Any:
        ((kind, value),) = union_of(entry)
        return self._known(value["name"]) if kind == "as_tensor" else None

    def _number(self, entry: Any) -> Any:
        ((kind, value),) = union_of(entry)
        if kind == "as_name":
            return self._known(value)
        if kind not in ("as_int", "as_float", "as_bool"):
            raise FormatError(f"a number of the kind {kind!r:.60} is not read")
        return plain_value(kind, value)


def shown(value: Any) -> str:
    """A letter for the kind of an argument of a call of functions."""
    if isinstance(value, tuple):
        return "["
    return "g" if value.op == "get_attr" else "n"


def describe(node: Node, value: Any, shape: Any, stride: Any) -> None:
    """Note what a node gives."""
    node.meta.update(val=value, shape=shape, stride=stride)
