"""A program of operators as a model: node by node, each by the rule of its row."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

import taeda
from taeda import Tensor
from taeda.export import ExportedProgram
from taeda.export._functions import (
    CONDITION,
    LOOP,
    calls_functions,
    functions_of,
    given_to,
    sliced_in,
)
from taeda.export._pt2._operators import numel
from taeda.export.graph_signature import InputKind, OutputKind, TensorArgument
from taeda.fx.experimental._data_sizes import assert_scalar, item
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node, map_arg

from ._context import Context, Value, numbers
from ._model import Inner, Model, Port
from ._model import Node as ModelNode
from ._numbers import KINDS, kind_of
from ._rules import RULES
from ._writes import Groups, in_place

__all__ = ["translated"]

_BOTH = {
    operator.add: "Add", operator.sub: "Sub", operator.mul: "Mul", operator.neg: "Neg", max: "Max",
    min: "Min", taeda.sym_max: "Max", taeda.sym_min: "Min",
}  # fmt: skip
#: what is computed with sizes, and with floats that follow from sizes or that data decide
_NUMBERS: dict[type, dict[Any, str]] = {
    int: {**_BOTH, operator.mod: "Mod"},
    float: {**_BOTH, operator.truediv: "Div", operator.pow: "Pow", taeda.sym_float: "Identity"},
    bool: {
        operator.eq: "Equal", operator.ne: "Equal", operator.lt: "Less", operator.le: "LessOrEqual",
        operator.gt: "Greater", operator.ge: "GreaterOrEqual", operator.and_: "And", operator.or_: "Or",
    },
}  # fmt: skip


def translated(
    program: ExportedProgram,
    opset: int,
    rules: Mapping[Any, Callable[..., Any]],
    input_names: list[str],
    output_names: list[str],
    domains: Mapping[str, int],
) -> Model:
    """The model of a program. `rules` are the user's, by operator or by its name."""
    ctx = Context(opset)
    own = {str(target): made for target, made in rules.items()}
    _inputs(ctx, program, input_names)
    results = _result_names(ctx, program, output_names)
    _Writer(ctx, own).nodes(program.graph_module)
    ctx.node = None
    _outputs(ctx, program, results)
    ctx.model.domains.update(domains)
    return ctx.model


class _Writer:
    """Translates the nodes of a graph, and those of functions that they call."""

    def __init__(self, ctx: Context, own: Mapping[str, Callable[..., Any]]) -> None:
        self.ctx, self.own = ctx, own

    def nodes(self, gm: GraphModule) -> None:
        """Every node of a graph whose inputs are known."""
        ctx, groups = self.ctx, Groups()
        for node in gm.graph.nodes:
            if node.op != "call_function":
                continue
            ctx.node = node
            groups.before(ctx, node)
            calls = calls_functions(node)
            ctx.values[node] = self._functions(gm, node) if calls else _call(ctx, node, self.own)
            ctx.node = node
            groups.after(ctx, node)
            if isinstance(ctx.values[node], Value):
                ctx.model.values[node.name] = ctx.values[node].name

    def _functions(self, gm: GraphModule, node: Node) -> list[Value]:
        given = [self.ctx.values[v] for v in given_to(node)]
        made = {CONDITION: self._if, LOOP: self._loop}.get(node.target, self._scan)
        return made(node, functions_of(gm, node), given)

    def _if(self, node: Node, functions: list[GraphModule], given: list[Value]) -> list[Value]:
        """Branches have no inputs: they see the values around them."""
        names = ("then_branch", "else_branch")
        parts: dict[str, Any] = {}
        for name, function in zip(names, functions, strict=True):
            nodes, results = self._inner(function, given)
            parts[name] = Inner(name, nodes, [], [_output(node, k, v) for k, v in results])
        pred: Any = node.args[0]
        truth = self.ctx.cast(self.ctx.values[pred], taeda.bool)
        truth = self.ctx.reshape(truth, [])
        return self._results(node, "If", [truth], parts)

    def _loop(self, node: Node, functions: list[GraphModule], given: list[Value]) -> list[Value]:
        """`Loop` asks before its first step, and after each one what the step gave."""
        ctx, carried = self.ctx, len(node.args[2])
        first, results = self._inner(functions[0], given)
        ctx.model.nodes += first
        start = ctx.reshape(ctx.cast(results[0][1], taeda.bool), [])
        inputs = [Port(ctx.name("step"), taeda.int64, []), Port(ctx.name("on"), taeda.bool, [])]
        inner = [Value(ctx.name(f"carried_{k}"), v.dtype, v.sizes) for k, v in enumerate(given)]
        now = [*inner[:carried], *given[carried:]]
        inputs += [Port(v.name, v.dtype, _sizes(node, k)) for k, v in enumerate(inner[:carried])]
        nodes, made = self._inner(functions[1], now)
        asked, goes_on = self._inner(functions[0], [*(v for _, v in made), *given[carried:]])
        truth, extra = self._apart(lambda: ctx.reshape(ctx.cast(goes_on[0][1], taeda.bool), []))
        outputs = [Port(truth.name, taeda.bool, []), *(_output(node, k, v) for k, v in made)]
        body = Inner("body", [*nodes, *asked, *extra], inputs, outputs)
        return self._results(node, "Loop", [None, start, *given[:carried]], {"body": body})

    def _scan(self, node: Node, functions: list[GraphModule], given: list[Value]) -> list[Value]:
        """`Scan` has a body of what is carried and of slices; it sees the values around."""
        ctx, function, sliced = self.ctx, functions[0], sliced_in(node)
        places = list(function.graph.find_nodes(op="placeholder"))[: sliced.stop]
        ports = [
            Port(ctx.name(f"part_{k}"), given[k].dtype, _said(place.meta["shape"]))
            for k, place in enumerate(places)
        ]
        now = [
            Value(port.name, port.dtype, numbers(place.meta["shape"]))
            for port, place in zip(ports, places, strict=True)
        ]
        nodes, made = self._inner(function, [*now, *given[sliced.stop :]])
        outputs = [
            Port(v.name, v.dtype, _sizes(node, k)[0 if k < sliced.start else 1 :]) for k, v in made
        ]
        parts = {"body": Inner("body", nodes, ports, outputs), "num_scan_inputs": len(sliced)}
        return self._results(node, "Scan", list(given[: sliced.stop]), parts)

    def _inner(
        self, function: GraphModule, given: list[Value]
    ) -> tuple[list[ModelNode], list[tuple[int, Value]]]:
        """The operators of a function, and its results. One that it got, or gives twice, is copied:
        each output of a graph is made in it.
        """
        ctx = self.ctx
        for place, value in zip(function.graph.find_nodes(op="placeholder"), given, strict=True):
            ctx.values[place] = value

        def write() -> list[tuple[int, Value]]:
            self.nodes(function)
            output: Any = function.graph.output_node().args[0]
            made = []
            for k, entry in enumerate(output):
                value = ctx.values[entry]
                copy = ctx.op("Identity", value)
                made.append((k, Value(copy.name, value.dtype, value.sizes)))
            return made

        results, nodes = self._apart(write)
        return nodes, results

    def _apart(self, write: Callable[[], Any]) -> tuple[Any, list[ModelNode]]:
        """What a function gives, and the operators that it writes, which are not the model's."""
        model = self.ctx.model
        before, model.nodes = model.nodes, []
        try:
            made = write()
            return made, model.nodes
        finally:
            model.nodes = before

    def _results(
        self, node: Node, kind: str, inputs: list[Value | None], parts: dict[str, Any]
    ) -> list[Value]:
        ctx = self.ctx
        ctx.node = node
        count = len(node.meta["val"])
        made = ctx.ops(kind, count, *inputs, **parts)
        return [Value(v.name, ctx.result(k).dtype, ctx.sizes(k)) for k, v in enumerate(made)]


def _sizes(node: Node, k: int) -> list[int | str]:
    return _said(node.meta["shape"][k])


def _said(shape: Any) -> list[int | str]:
    return [str(e) if e.number is None else e.number for e in shape]


def _output(node: Node, k: int, value: Value) -> Port:
    return Port(value.name, value.dtype, _sizes(node, k))


def _call(ctx: Context, node: Node, own: Mapping[str, Callable[..., Any]]) -> Any:
    target: Any = node.target
    if target is assert_scalar or _is_asserted(node):
        return None  # no model asserts
    args = map_arg(node.args, ctx.values.__getitem__)
    kwargs = map_arg(dict(node.kwargs), ctx.values.__getitem__)
    if target is operator.getitem and isinstance(args[0], list):
        part = args[0][args[1]]
        if part is None:
            raise ctx.refuse("ONNX has no such part of this result")
        return part
    name = str(target).removeprefix("aten.")
    if name == "sym_size.int":
        return ctx.size(*args)
    if type(node.meta.get("val")) in KINDS and not isinstance(args[0], list):
        return _number(ctx, node, args)
    found = own.get(str(target)) or own.get(str(getattr(target, "overloadpacket", "")))
    if found is None:
        found = RULES.get(name) or (RULES.get(_functional(name)) if in_place(target) else None)
    if found is None:
        raise ctx.no_rule(_unknown(name))
    if _asks_scalars(node, args):
        made = _applied(ctx, found, *(_as_vectors(ctx, given) for given in (args, kwargs)))
        parts = made if isinstance(made, list) else [made]
        whole = [part and ctx.reshape(part, []) for part in parts]
        made = whole if isinstance(made, list) else whole[0]
        return _with_sizes(ctx, node, made)
    return _with_sizes(ctx, node, _applied(ctx, found, args, kwargs))


def _number(ctx: Context, node: Node, args: tuple[Any, ...]) -> Value:
    """A size, or a number that follows from sizes or that data decide; floats are Python's, of 64 bits."""
    kind = type(node.meta["val"])
    dtype = KINDS[kind]
    if node.target is item:
        return ctx.reshape(ctx.cast(args[0], dtype), [])
    if node.target is numel:
        return ctx.op("Size", args[0], dtype=dtype, rank=0)
    if node.target is operator.floordiv and kind is int:
        return _floor_div(ctx, *(ctx.tensor(a, dtype) for a in args))
    found = _NUMBERS[kind].get(node.target)
    if found is None:
        raise ctx.no_rule(f"a {kind.__name__} by {node.target} has no translation")
    if kind is bool:
        return _answer(ctx, node, found, args)
    return ctx.op(found, *(ctx.tensor(a, dtype) for a in args), rank=0)


def _answer(ctx: Context, node: Node, operator_of: str, args: tuple[Any, ...]) -> Value:
    """A comparison of sizes and numbers, in 64 bits, or answers joined by "and" or "or"."""
    kinds = [kind_of(value) for value in node.args]
    dtype = KINDS[float if float in kinds else int] if bool not in kinds else taeda.bool
    sides = [ctx.tensor(a, dtype) for a in args]
    made = ctx.op(operator_of, *sides, dtype=taeda.bool, rank=0)
    if node.target is operator.ne:
        made = ctx.op("Not", made, dtype=taeda.bool, rank=0)
    return made


def _is_asserted(node: Node) -> bool:
    """Whether a node is an answer for assertions alone."""
    whole = type(node.meta.get("val")) is bool
    return whole and all(user.target is assert_scalar or _is_asserted(user) for user in node.users)


_ALONG = ("dim", "dims", "dim0", "dim1", "source", "destination")  # what rows call dimensions


def _asks_scalars(node: Node, args: tuple[Any, ...]) -> bool:
    """Whether a row goes along a dimension of a tensor without any, which ONNX has not."""
    schema = getattr(node.target, "_schema", None)
    made = node.meta.get("val")
    parts = made if isinstance(made, tuple | list) else (made,)
    if schema is None or not args or not all(isinstance(p, Tensor) and p.dim() == 0 for p in parts):
        return False
    first = args[0]
    known = {a.name: a.default_value for a in schema.arguments}
    known |= dict(zip(known, args, strict=False)) | node.kwargs
    dims = [known[name] for name in _ALONG if name in known]
    along = [d for d in dims if type(d) is int or (isinstance(d, tuple | list) and len(d) > 0)]
    return isinstance(first, Value) and first.rank == 0 and bool(along)


def _as_vectors(ctx: Context, given: Any) -> Any:
    """Arguments with vectors of one number in place of scalars."""
    if isinstance(given, Value):
        if given.rank:
            return given
        return Value(ctx.reshape(given, [1]).name, given.dtype, (1,))
    if isinstance(given, tuple | list):
        return type(given)(_as_vectors(ctx, one) for one in given)
    if isinstance(given, dict):
        return {name: _as_vectors(ctx, one) for name, one in given.items()}
    return given


def _floor_div(ctx: Context, a: Value, b: Value) -> Value:
    """`Div` of integers goes towards zero, so what is left is taken away before."""
    whole = ctx.op("Sub", a, ctx.op("Mod", a, b, rank=0), rank=0)
    return ctx.op("Div", whole, b, rank=0)


def _applied(ctx: Context, rule: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    try:
        inspect.signature(rule).bind(ctx, *args, **kwargs)
    except TypeError as error:
        raise ctx.refuse(f"the rule of this row takes other arguments: {error}") from error
    try:
        return rule(ctx, *args, **kwargs)
    except TypeError as error:
        if not _has_numbers(ctx):
            raise
        raise ctx.refuse(
            "the rule of this row takes a number that is the same in every call, and here one follows "
            "from sizes or data"
        ) from error


def _has_numbers(ctx: Context) -> bool:
    """Whether an argument of the node is a number of the graph, and no tensor."""
    assert ctx.node is not None
    return any(type(n.meta.get("val")) in KINDS for n in ctx.node.all_input_nodes)


def _with_sizes(ctx: Context, node: Node, made: Any) -> Any:
    """Results with the sizes that are known of them."""
    if isinstance(made, Value):
        wanted = node.meta["val"]
        if in_place(node.target):  # what a row writes keeps its dtype
            made = ctx.cast(made, wanted.dtype)
        if made.dtype != wanted.dtype:
            raise ctx.refuse(f"the rule gives {made.dtype}, and the row {wanted.dtype}")
        return Value(made.name, made.dtype, ctx.sizes())
    return [
        part and Value(part.name, ctx.result(k).dtype, ctx.sizes(k)) for k, part in enumerate(made)
    ]


def _functional(name: str) -> str:
    """The row that gives what a row in place writes: `relu_.default` is `relu.default`."""
    stem, _, overload = name.partition(".")
    return f"{stem[:-1]}.{overload}"


def _unknown(name: str) -> str:
    stem = name.partition(".")[0]
    near = sorted(r for r in RULES if r.partition(".")[0].startswith(stem[:4]))[:6]
    beside = f"; rows nearby that have one: {', '.join(near)}" if near else ""
    return (
        "this row has no rule for ONNX. Write the model by other functions, or give a rule by "
        f"custom_translation_table{beside}"
    )


# ---- inputs and outputs ----


def _inputs(ctx: Context, program: ExportedProgram, names: list[str]) -> None:
    given = iter(names)
    nodes = program.graph.find_nodes(op="placeholder")
    for node, spec in zip(nodes, program.graph_signature.input_specs, strict=True):
        if not isinstance(spec.arg, TensorArgument):
            continue  # a value of Python is in the graph where it is used
        if spec.kind is InputKind.USER_INPUT:
            name = ctx.name(next(given, node.name))
            shape = node.meta["shape"]
            sizes = _said(shape)
            ctx.model.inputs.append(Port(name, node.meta["val"].dtype, sizes))
            ctx.values[node] = Value(name, node.meta["val"].dtype, numbers(shape))
            continue
        tensor = _tensor(program, str(spec.target))
        name = str(spec.target) if spec.kind is not InputKind.CONSTANT_TENSOR else "constant"
        ctx.values[node] = ctx.weight(tensor, name)
    if (left := next(given, None)) is not None:
        raise ValueError(f"input_names: {left!r} and what follows are names of no input")


def _tensor(program: ExportedProgram, name: str) -> Tensor:
    found = program.state_dict.get(name)
    return program.constants[name] if found is None else found


def _results(program: ExportedProgram) -> list[tuple[Node, str | None]]:
    """The tensors and sizes that the program gives, then new values of what it writes, with the name of that:
    who calls the model has the constants of Python.
    """
    output: Any = program.graph.output_node().args[0]
    specs = program.graph_signature.output_specs
    made = [(node, spec.target) for node, spec in zip(output, specs, strict=True)]
    mine = [k for k, spec in enumerate(specs) if spec.kind is OutputKind.USER_OUTPUT]
    order = [*mine, *(k for k in range(len(specs)) if k not in mine)]
    return [made[k] for k in order if isinstance(made[k][0], Node)]


def _result_names(ctx: Context, program: ExportedProgram, names: list[str]) -> list[str]:
    """Names of the outputs, taken before operators take theirs."""
    nodes = _results(program)
    if len(names) > len(nodes):
        raise ValueError(f"output_names: {len(names)} names for {len(nodes)} outputs")
    if len(set(names)) < len(names):
        raise ValueError(f"output_names: a name is there twice: {names}")
    rest = [f"new_{of}" if of else node.name for node, of in nodes[len(names) :]]
    return [ctx.name(name) for name in (*names, *rest)]


def _outputs(ctx: Context, program: ExportedProgram, names: list[str]) -> None:
    for name, (node, _) in zip(names, _results(program), strict=True):
        value = ctx.values[node]
        value = value if isinstance(value, Value) else ctx.number(value, KINDS[type(value)])
        sizes = [] if kind_of(node) in KINDS else _said(node.meta["shape"])
        made = ctx.op("Identity", value)
        ctx.model.nodes[-1].outputs = [name]
        ctx.model.outputs.append(Port(name, made.dtype, sizes))
