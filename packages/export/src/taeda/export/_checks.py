"""What must hold for the arguments and tensors of a call, so that a program is right for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from taeda import Tensor
from taeda._core_api.trees import TreeSpec, tree_flatten
from taeda.fx.experimental._expressions import Expression, symbol

from ._dims import read_from, solved
from .graph_signature import ConstantArgument, InputKind, InputSpec

if TYPE_CHECKING:
    from taeda.fx.node import Node

    from .exported_program import ExportedProgram

__all__ = ["Checks", "checked_leaves", "read_arguments"]

_KINDS = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer"}


def checked_leaves(program: ExportedProgram, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """The leaves of the arguments; AssertionError where the program is not right for them."""
    leaves = read_arguments(program._in_spec, args, kwargs)
    Checks(program).arguments(leaves)
    return leaves


def read_arguments(wanted: TreeSpec, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """The leaves; AssertionError for arguments that are another tree."""
    names = list(wanted.child(1).context or [])
    if len(names) == len(kwargs) and all(n in kwargs for n in names):
        kwargs = {n: kwargs[n] for n in names}  # in the order in which they were exported
    leaves: list[Any] = []
    if not _read(wanted, (args, kwargs), leaves):
        leaves, spec = tree_flatten((args, kwargs))
        if spec != wanted:
            _fail(
                f"the arguments are {spec}, and the program was exported for {wanted}",
                "pass as many arguments, by position and by name, and in the same lists and dicts, as "
                "in the call that was exported",
            )
    return leaves


def _read(spec: TreeSpec, value: Any, leaves: list[Any]) -> bool:
    """Put the leaves of a value behind the others; False for another tree, or one of another kind
    than tuples, lists and dicts.
    """
    kind = spec.type
    if kind is None:
        leaves.append(value)
        return True
    if type(value) is not kind or kind not in (tuple, list, dict):
        return False
    if len(value) != len(spec.children_specs) or (kind is dict and list(value) != spec.context):
        return False
    value = value.values() if kind is dict else value
    return all(_read(c, v, leaves) for c, v in zip(spec.children_specs, value, strict=True))


class _Place:
    """One tensor among the inputs of a program: what it has to be."""

    def __init__(self, spec: InputSpec, node: Node) -> None:
        named = _KINDS.get(spec.kind)
        self.name = str(spec.target) if named else spec.arg.name
        self.said = f"the {named} {spec.target}" if named else f"the argument {spec.arg.name}"
        value: Any = node.meta["val"]
        self.dtype = value.dtype
        self.shape: tuple[Expression, ...] = node.meta["shape"]
        self.numbers = [(k, e.number) for k, e in enumerate(self.shape) if e.number is not None]
        told = [(k, e, read_from(e)) for k, e in enumerate(self.shape) if e.number is None]
        self.plain = [(k, n) for k, e, n in told if n is not None and e == symbol(n)]
        self.formulas = [t for t in told if t[2] is None or t[1] != symbol(t[2])]

    def check(self, value: Any) -> None:
        """AssertionError for another dtype, rank, or number among the sizes."""
        if not isinstance(value, Tensor):
            self.fail(
                f"{self.name} is a tensor, got {type(value).__name__}",
                f"pass a tensor of {self.dtype} with {len(self.shape)} dimensions",
            )
        if value.dtype != self.dtype:
            self.fail(
                f"{self.name}.dtype == {self.dtype}, got {value.dtype}",
                f"convert it by .to({self.dtype}), or export the program with tensors of {value.dtype}",
            )
        shape = value.shape
        if len(shape) != len(self.shape):
            self.fail(
                f"{self.name}.dim() == {len(self.shape)}, got {len(shape)}",
                f"the program was exported for sizes {self.text()}; this one has {list(shape)}",
            )
        for k, number in self.numbers:
            if shape[k] != number:
                self.fail_size(
                    k, f"== {number}", shape[k], f"export it with a Dim for dimension {k}"
                )

    def fail_size(self, dim: int, wanted: str, found: int, advice: str) -> NoReturn:
        self.fail(f"{self.name}.size()[{dim}] {wanted}, got {found}", advice)

    def fail_formula(
        self, dim: int, expr: Expression, sizes: Mapping[str, int], found: int
    ) -> NoReturn:
        wanted = f"== {expr}{_where(expr, sizes)}"
        self.fail_size(dim, wanted, found, "sizes of one name are one size in a call")

    def fail(self, said: str, advice: str) -> NoReturn:
        _fail(said, f"{self.said} has sizes {self.text()} in the program; {advice}")

    def text(self) -> str:
        """The sizes as the program knows them."""
        return "[" + ", ".join(map(str, self.shape)) + "]"


class Checks:
    """What must hold for the inputs of a program, taken from it once."""

    def __init__(self, program: ExportedProgram) -> None:
        specs = program.graph_signature.input_specs
        inputs = list(program.graph.find_nodes(op="placeholder"))
        self.limits, self.guards = program.range_constraints, program._guards
        pairs = list(zip(specs, inputs[len(inputs) - len(specs) :], strict=True))
        mine = [(s, n) for s, n in pairs if s.kind is InputKind.USER_INPUT]
        self.state = [_Place(s, n) for s, n in pairs if s.kind is not InputKind.USER_INPUT]
        self.constants = [
            (k, s.arg) for k, (s, _) in enumerate(mine) if isinstance(s.arg, ConstantArgument)
        ]
        fixed = {k for k, _ in self.constants}
        self.numbers = [k for k in range(len(mine)) if k not in fixed]  # of tensors among leaves
        self.places = [_Place(*mine[k]) for k in self.numbers]
        self.formulas = any(place.formulas for place in self.places)

    def arguments(self, leaves: Sequence[Any]) -> None:
        """AssertionError for arguments for which the program is not right."""
        self.values(leaves)
        sizes: dict[str, int] = {}
        tensors = [leaves[k] for k in self.numbers]
        for place, value in zip(self.places, tensors, strict=True):
            place.check(value)
            for dim, name in place.plain:
                if sizes.setdefault(name, value.shape[dim]) != value.shape[dim]:
                    place.fail_formula(dim, symbol(name), sizes, value.shape[dim])
        if self.formulas:
            self._formulas(tensors, sizes)
        self._sizes(sizes)

    def _formulas(self, tensors: Sequence[Tensor], sizes: dict[str, int]) -> None:
        """Symbols that only formulas tell, then all formulas."""
        pairs = list(zip(self.places, tensors, strict=True))
        for place, value in pairs:
            for dim, expr, name in place.formulas:
                if name is not None and name not in sizes:
                    found = solved(expr, value.shape[dim])
                    if found is not None:
                        sizes[name] = found
        for place, value in pairs:
            for dim, expr, _ in place.formulas:
                size = value.shape[dim]
                if not expr.symbols() <= sizes.keys() or expr.value(sizes) != size:
                    place.fail_formula(dim, expr, sizes, size)

    def values(self, leaves: Sequence[Any]) -> None:
        """AssertionError for an argument that is no tensor and another one than was exported."""
        for k, arg in self.constants:
            if type(leaves[k]) is not type(arg.value) or leaves[k] != arg.value:
                _fail(
                    f"{arg.name} == {arg.value!r}, got {leaves[k]!r:.200}",
                    "what is no tensor is part of the program: export it again with this value, or make "
                    "the argument a tensor",
                )

    def tensors(self, state: Sequence[Any]) -> None:
        """AssertionError for parameters, buffers and constants that are not like those of the program."""
        for place, value in zip(self.state, state, strict=True):
            place.check(value)

    def _sizes(self, sizes: Mapping[str, int]) -> None:
        for name, size in sizes.items():
            limits = self.limits.get(name)
            if limits is not None and size not in limits:
                _fail(
                    f"{name} is from {limits.lower} to {limits.upper}, got {size}",
                    f"{name} is {self._shown(name)}: export the program again with a Dim of that range",
                )
        for guard in self.guards:
            if guard.symbols() <= sizes.keys() and not guard.value(sizes):
                places = ", ".join(f"{n} is {self._shown(n)}" for n in sorted(guard.symbols()))
                _fail(
                    f"{guard}, where {dict(sizes)}", f"{places}: the program is another one there"
                )

    def _shown(self, name: str) -> str:
        """The size of an argument that tells a symbol."""
        for place in self.places:
            read = [*place.plain, *((k, n) for k, _, n in place.formulas)]
            for dim, found in read:
                if found == name:
                    return f"read from {place.name}.size()[{dim}]"
        return "a size of the program"


def _where(expr: Expression, sizes: Mapping[str, int]) -> str:
    names = sorted(expr.symbols() & sizes.keys())
    return f" ({', '.join(f'{n} is {sizes[n]}' for n in names)})" if names else ""


def _fail(said: str, advice: str) -> NoReturn:
    raise AssertionError(f"Guard failed: {said}: {advice}")
