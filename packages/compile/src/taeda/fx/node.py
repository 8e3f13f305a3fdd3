"""Node: one value of a graph, and the operation that makes it."""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import taeda
from taeda._core_api.names import shown_name

from ._map import map_aggregate, map_arg

if TYPE_CHECKING:
    from .graph import Graph
    from .operator_schemas import ArgsKwargsPair

__all__ = ["OPCODES", "Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

Target = Callable[..., Any] | str
Argument = Any

OPCODES = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output")

_side_effects: set[Any] = {taeda._assert}
_INPLACE_OPERATORS = {
    getattr(operator, name)
    for name in (
        *("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul"),
        *("iand", "ior", "ixor", "ilshift", "irshift", "setitem", "delitem"),
    )
}


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Say that calls of `fn` matter even where nobody uses the result: dead code elimination keeps
    them. A decorator.

    Args:
        fn: a function

    >>> from taeda.fx import Graph
    >>> @has_side_effect
    ... def log(x):
    ...     pass
    >>> graph = Graph()
    >>> node = graph.call_function(log, (graph.placeholder("x"),))
    >>> node.is_impure()
    True
    """
    _side_effects.add(fn)
    return fn


def _writes(name: str) -> bool:
    """Whether an operation of this name writes into an argument: relu_, but not __add__."""
    return name.endswith("_") and not name.endswith("__")


class Node:
    """One operation in a graph. `op` says how `target` is used, with `args` and `kwargs`, which may
    hold other nodes.

    | op | target | runs |
    |---|---|---|
    | placeholder | name of the parameter | an input; `args` may hold its default |
    | get_attr | dotted path | an attribute of the module hierarchy |
    | call_function | a function | `target(*args, **kwargs)` |
    | call_module | dotted path | `module(*args, **kwargs)` |
    | call_method | name | `getattr(args[0], target)(*args[1:], **kwargs)` |
    | output | "output" | returns `args[0]` |

    `users` and `all_input_nodes` follow every assignment to `args` and `kwargs`. `meta` is a dict
    for passes, which may set attributes of their own as well.

    Args:
        graph: the graph that it is in
        name: its name, which no other node of the graph has
        op: how `target` is used: one of the six words above
        target: a function, a name or a path
        args: what it gets by position
        kwargs: what it gets by name
        return_type: the type of its value, if somebody noted one (default: None)

    >>> graph = taeda.fx.symbolic_trace(lambda x: x + 1).graph
    >>> [(node.op, node.name) for node in graph.nodes]
    [('placeholder', 'x'), ('call_function', 'add'), ('output', 'output')]
    """

    __slots__ = (
        *("graph", "name", "op", "target", "type", "meta", "users"),
        *("_args", "_kwargs", "_inputs", "_prev", "_next", "_erased", "__weakref__", "__dict__"),
    )

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op not in OPCODES and op != "root":
            raise AssertionError(f"unknown op {op!r} of node {name}: wanted one of {OPCODES}")
        _check_target(op, target)
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self.type = return_type
        self.meta: dict[str, Any] = {}
        self.users: dict[Node, None] = {}
        self._inputs: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._args: tuple[Argument, ...] = ()
        self._kwargs: dict[str, Argument] = {}
        self._set_arguments(args, kwargs)

    # ---- arguments ----

    def _set_arguments(self, args: Any, kwargs: Any) -> None:
        for node in self._inputs:
            node.users.pop(self, None)
        self._inputs = {}

        def use(node: Node) -> Node:
            self._inputs[node] = None
            node.users[self] = None
            return node

        self._args = map_arg(tuple(args), use)
        self._kwargs = map_arg(dict(kwargs), use)

    @property
    def args(self) -> tuple[Argument, ...]:
        """Positional arguments; nodes in them are inputs. Assign a tuple to replace them."""
        return self._args

    @args.setter
    def args(self, args: tuple[Argument, ...]) -> None:
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """Keyword arguments. Assign a dict to replace them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Argument]) -> None:
        self._set_arguments(self._args, kwargs)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once, in order."""
        return list(self._inputs)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replace the positional argument number `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Put an argument before the one at `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(
                f"insert_args index must be between 0 and len(self.args) = {len(self.args)}, got {idx}"
            )
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Replace the keyword argument `key`, or add it."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use `new_input` wherever `old_input` is among the arguments."""

        def replaced(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self.args, replaced), map_arg(self.kwargs, replaced))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let every user of this node use `replace_with`; returns those changed.
        `delete_user_cb(user)` False leaves one alone.

        With `propagate_meta` the empty `meta` of `replace_with` takes over this node's.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but "
                    "replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # ---- place in the list ----

    @property
    def next(self) -> Node:
        """The node after this one; after the last comes the graph's root, whose op is "root"."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move `x` (of the same graph) to the place before this node."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x: Node) -> None:
        """Move `x` to the place after this node."""
        if x is not self:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    # ---- facts ----

    @property
    def stack_trace(self) -> str | None:
        """Where in the user's program the node was recorded, if the tracer noted it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self) -> bool:
        """Whether the node matters even without users: inputs, the output, what writes in place,
        what said so, random modules' state.

        A module is taken as pure unless it is in training mode with buffers, which its call may change.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_method":
            return _writes(str(self.target)) or self.target == "__setitem__"
        if self.op == "call_function":
            if self.target in _side_effects or self.target in _INPLACE_OPERATORS:
                return True
            # of an overload: add_.Tensor
            name = getattr(self.target, "__name__", "").partition(".")[0]
            schema = getattr(self.target, "_schema", None)
            return (
                _writes(name)
                or getattr(schema, "is_mutable", False)
                or (self.kwargs.get("out") is not None or self.kwargs.get("inplace") is True)
            )
        return self.op == "call_module" and self._module_is_impure()

    def _module_is_impure(self) -> bool:
        owner = self.graph.owning_module
        if owner is None:
            return False
        module = owner.get_submodule(str(self.target))
        if getattr(module, "is_impure", False) or getattr(module, "inplace", False):
            return True
        return module.training and next(module.buffers(), None) is not None

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> ArgsKwargsPair | None:
        """The arguments as the signature of the target names them, defaults filled in; None if the
        target has no signature, or one with positional-only or variable arguments, and for other
        nodes than call_function and call_module, whose module is looked up in `root`.

        `arg_types` and `kwarg_types` tell the overloads of an operator apart.
        """
        from .operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            types = arg_types, kwarg_types
            return normalize_function(
                self.target, self.args, self.kwargs, *types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return normalize_module(
                root, str(self.target), self.args, self.kwargs, normalize_to_only_use_kwargs
            )
        return None

    def format_node(self, placeholder_names: list[str] | None = None) -> str | None:
        """The line of this node in the text of its graph; None for the output, or a placeholder
        whose name is collected.
        """
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            if placeholder_names is not None:
                placeholder_names.append(f"{self.target}{_type_text(self.type)}{default}")
            return f"{self._head()}[target={self.target}]{default}"
        if self.op == "output":
            return f"return {self.args[0] if self.args else None}"
        if self.op == "get_attr":
            return f"{self._head()}[target={self.target}]"
        args, kwargs = _text(self.args), _text(self.kwargs)
        called = f"target={target_text(self.target)}"
        return f"{self._head()}[{called}](args = {args}, kwargs = {kwargs})"

    def _head(self) -> str:
        """How the line of a node begins: its name, its type if it has one, its users, its kind."""
        kind = "" if self.type is None else f"{type_name(self.type)} "
        return f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}"

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: Node) -> bool:
        """Whether this node comes first in their graph."""
        if not isinstance(other, Node) or other.graph is not self.graph:
            return NotImplemented
        order = {node: place for place, node in enumerate(self.graph.nodes)}
        return order[self] < order[other]


def _check_target(op: str, target: Any) -> None:
    if op == "call_function":
        if not callable(target):
            raise ValueError(
                f"Node target {target!r} has type {type(target).__name__} but a Callable is expected"
            )
    elif not isinstance(target, str):
        raise ValueError(
            f"Node target {target!r} has type {type(target).__name__} but a str is expected"
        )


def _type_text(kind: Any) -> str:
    return "" if kind is None else f" : {type_name(kind)}"


def _text(value: Any) -> str:
    """Arguments as text: nodes with a percent sign, keys without quotes."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_text(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, tuple):
        inner = ", ".join(map(_text, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, slice):
        return f"slice({_text(value.start)}, {_text(value.stop)}, {_text(value.step)})"
    return repr(value)


def type_name(kind: Any) -> str:
    """A type as it is written: taeda.Tensor, int, list[int]."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, type) and not isinstance(kind, types.GenericAlias):
        module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
        return f"{module}{kind.__qualname__}"
    return repr(kind)


def target_text(target: Any) -> str:
    """A function by its public name, a path as it is."""
    if isinstance(target, str):
        return target
    from ._names import qualified_name

    name = qualified_name(target)
    return shown_name(name) if name else repr(target)


def is_builtin(name: str) -> bool:
    """Whether Python itself knows the name."""
    return hasattr(builtins, name)
