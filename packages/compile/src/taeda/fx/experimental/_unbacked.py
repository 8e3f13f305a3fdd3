"""Symbols that only data decide: where the results of a call bind them, and calls made again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taeda import Tensor
from taeda._core_api.trees import KeyPath, MappingKey, SequenceKey, key_get, keystr
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node

from ._expressions import Expression, Relation, constant, symbol
from ._reals import Real
from .sym_node import SymBool, SymFloat, SymInt

if TYPE_CHECKING:
    from .symbolic_shapes import ShapeEnv

__all__ = [
    "CallMethodKey", "ConvertIntKey", "DivideByKey", "InnerTensorKey",
    "PendingUnbackedSymbolNotFound", "PropagateUnbackedSymInts", "compute_unbacked_bindings",
    "rebind_unbacked", "resolve_unbacked_bindings",
]  # fmt: skip

Bindings = dict[Any, KeyPath]


class PendingUnbackedSymbolNotFound(RuntimeError):
    """A call made a symbol that only data decide, and none of its results tells what it is."""


# ---- steps on the way to a symbol ----


@dataclass(frozen=True)
class ConvertIntKey:
    """A bool as an integer.

    >>> ConvertIntKey().get(True), str(ConvertIntKey())
    (1, '.cast_bool_to_int()')
    """

    def __str__(self) -> str:
        return ".cast_bool_to_int()"

    def get(self, b: bool | SymBool) -> int | SymInt:
        """0 or 1; the symbol that is 1 where the bool holds, if it has one."""
        if isinstance(b, SymBool) and isinstance(b.relation, Relation):
            left, right = b.relation.left, b.relation.right
            if b.relation.sign == "==" and right == constant(1) and isinstance(left, Expression):
                return SymInt(left, b.env)
        return int(b)


@dataclass(frozen=True)
class CallMethodKey:
    """What a method without arguments gives.

    >>> CallMethodKey("size").get(taeda.ones(2, 3)), str(CallMethodKey("size"))
    (taeda.Size([2, 3]), '.size()')
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}()"

    def get(self, o: Any) -> Any:
        """The method's result for this object."""
        return getattr(o, self.name)()


@dataclass(frozen=True)
class InnerTensorKey:
    """A tensor that another one holds, by the attribute's name.

    >>> InnerTensorKey("real").get(2 + 1j), str(InnerTensorKey("real"))
    (2.0, '.real')
    """

    inner_name: str

    def __str__(self) -> str:
        return f".{self.inner_name}"

    def get(self, o: Any) -> Any:
        """That tensor."""
        return getattr(o, self.inner_name)


@dataclass(frozen=True)
class DivideByKey:
    """An integer, divided.

    >>> DivideByKey(4).get(12), str(DivideByKey(4))
    (3, '.__floordiv__(4)')
    """

    divisor: int

    def __str__(self) -> str:
        return f".__floordiv__({self.divisor})"

    def get(self, o: Any) -> Any:
        """The quotient, rounded down."""
        return o // self.divisor


# ---- where results bind them ----


def compute_unbacked_bindings(
    shape_env: ShapeEnv | None,
    example_value: Any,
    old_example_value: Any = None,
    peek: bool = False,
) -> Bindings | None:
    """For each symbol that a call made and that only data decide, the way to it in the call's
    result; None if there are none. Afterwards they are no longer new, unless `peek` says so.

    `old_example_value` is the result of the same call in an earlier trace, whose symbols keep their
    places: a new symbol at the place of an old one becomes the old one.
    PendingUnbackedSymbolNotFound if the result does not tell one.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> u = env.create_unbacked_symint()
    >>> bindings = compute_unbacked_bindings(env, [2, u])
    >>> {str(name): [str(key) for key in path] for name, path in bindings.items()}
    {'u0': ['[1]']}
    """
    if shape_env is None or not shape_env.pending_fresh_unbacked_symbols:
        return None
    wanted = list(shape_env.pending_fresh_unbacked_symbols)
    if not peek:
        shape_env.pending_fresh_unbacked_symbols.clear()
    found: Bindings = {}
    for value, path in _leaves(example_value, ()):
        made = _bound(value, path)
        if made is not None and made[0] in wanted:
            found.setdefault(*made)
    lost = [str(name) for name in wanted if name not in found]
    if lost:
        raise PendingUnbackedSymbolNotFound(
            f"{', '.join(lost)}: only data decide, and no size or number of the result tells what it "
            "is. A call that makes such a symbol returns it, or a tensor with that size"
        )
    if old_example_value is not None:
        _renamed(shape_env, found, old_example_value)
    return found


def _leaves(value: Any, path: KeyPath) -> Iterator[tuple[Any, KeyPath]]:
    if isinstance(value, tuple | list):
        for place, entry in enumerate(value):
            yield from _leaves(entry, (*path, SequenceKey(place)))
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _leaves(entry, (*path, MappingKey(key)))
    elif isinstance(value, Tensor):
        yield from _of_tensor(value, path)
    else:
        yield value, path


def _of_tensor(value: Any, path: KeyPath) -> Iterator[tuple[Any, KeyPath]]:
    for name in ("size", "stride", "storage_offset"):
        yield from _leaves(getattr(value, name)(), (*path, CallMethodKey(name)))
    flatten = getattr(value, "__tensor_flatten__", None)
    for name in flatten()[0] if flatten is not None else ():
        yield from _leaves(getattr(value, name), (*path, InnerTensorKey(name)))


def _bound(value: Any, path: KeyPath) -> tuple[Any, KeyPath] | None:
    """The symbol that a value tells, and the way to it."""
    if isinstance(value, SymFloat):
        return value.expr, path
    if isinstance(value, SymBool):
        inner = ConvertIntKey().get(value) if _is_flag(value) else None
        return (inner.expr, (*path, ConvertIntKey())) if isinstance(inner, SymInt) else None
    if not isinstance(value, SymInt):
        return None
    names = value.expr.symbols()
    if len(names) != 1:
        return None
    made = symbol(*names)
    factor = value.expr.terms.get(((*names, 1),))
    if factor is None or value.expr != constant(factor) * made:
        return None
    return made, path if factor == 1 else (*path, DivideByKey(factor))


def _is_flag(value: SymBool) -> bool:
    relation = value.relation
    return (
        isinstance(relation, Relation) and relation.sign == "==" and relation.right == constant(1)
    )


def _renamed(env: ShapeEnv, found: Bindings, old: Any) -> None:
    for made, path in list(found.items()):
        before = _bound(key_get(old, path), ())
        if before is not None and before[0] != made:
            _rename(env, made, before[0])
            found[before[0]] = found.pop(made)


def _rename(env: ShapeEnv, made: Any, before: Any) -> None:
    """The symbol `made` stands for `before` from now on."""
    if isinstance(made, Expression) and isinstance(before, Expression):
        env.var_to_range[str(before)] = env.bound_sympy(before) & env.bound_sympy(made)
    env.replacements[str(made)] = before
    env.unbacked_renamings[str(made)] = str(before)
    pending = env.pending_fresh_unbacked_symbols
    pending[:] = [name for name in pending if name != made]


def resolve_unbacked_bindings(
    shape_env: ShapeEnv | None, bindings: Bindings | None
) -> Bindings | None:
    """The same bindings of the symbols by the names that they have now.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> u = env.create_unbacked_symint()
    >>> bindings = compute_unbacked_bindings(env, (u,))
    >>> resolve_unbacked_bindings(env, bindings) == bindings
    True
    """
    if bindings is None or shape_env is None:
        return bindings
    return {shape_env.replace(name): path for name, path in bindings.items()}


# ---- calls made again ----


def rebind_unbacked(shape_env: ShapeEnv | None, n: Node, result: Any) -> None:
    """After a node has run again: the symbols in its new result become those that its
    "unbacked_bindings" in `meta` name, so that both traces speak of the same. Where the new result
    has a number, the old symbol is that number from now on.

    ValueError for bindings without an environment.

    >>> from taeda.fx import Graph
    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> u = env.create_unbacked_symint()
    >>> node = Graph().placeholder("x")
    >>> node.meta["unbacked_bindings"] = compute_unbacked_bindings(env, (u,))
    >>> rebind_unbacked(env, node, (3,))
    >>> bool(u == 3)
    True
    """
    bindings = resolve_unbacked_bindings(shape_env, n.meta.get("unbacked_bindings"))
    if not bindings:
        return
    if shape_env is None:
        raise ValueError(
            f"rebind_unbacked: {n.name} has unbacked_bindings, and there is no ShapeEnv"
        )
    for old, path in bindings.items():
        new = key_get(result, path)
        made = getattr(new, "expr", None)
        if made is None:
            made = constant(new) if isinstance(old, Expression) else Real("number", float(new))
        _unify(shape_env, old, shape_env.replace(made), f"{n.name}{keystr(path)}")


def _unify(env: ShapeEnv, old: Any, made: Any, place: str) -> None:
    """What is at a place now is `made`, and the graph calls it `old`: they are one from now on."""
    if made == old:
        return
    if made.number is None:
        _rename(env, made, old)
        return
    limits = env.bound_sympy(old)
    if made.number not in limits:
        raise ValueError(f"{place} is {made} now, and {old} is in {limits}")
    env.replacements[str(old)] = made


class PropagateUnbackedSymInts(Interpreter):
    """Runs a graph again, and gives the symbols that only data decide the names that the graph's
    nodes know them by (`rebind_unbacked`).

    >>> from taeda.fx import symbolic_trace
    >>> gm = symbolic_trace(lambda x: x + 1)
    >>> PropagateUnbackedSymInts(gm).run(taeda.ones(2))
    tensor([2., 2.])
    """

    def run_node(self, n: Node) -> Any:
        """The node's result, in which symbols have their names of before."""
        result = super().run_node(n)
        env = getattr(self.module, "shape_env", None) or _env_of(result)
        if env is not None:
            rebind_unbacked(env, n, result)
        return result


def _env_of(value: Any) -> Any:
    found = (getattr(leaf, "env", None) for leaf, _ in _leaves(value, ()))
    return next((env for env in found if env is not None), None)
