"""`export`: a module and the arguments of one call as a program of operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import taeda
from taeda import SymBool, SymFloat, SymInt, Tensor, nn
from taeda._core_api.trees import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten
from taeda.compiler._errors import UserError
from taeda.func import functional_call
from taeda.fx.experimental._distinct import distinct
from taeda.fx.experimental._expressions import Expression, constant
from taeda.fx.experimental._ranges import ValueRanges
from taeda.fx.graph_module import GraphModule

from ._arguments import bound_arguments, spread_demands
from ._dims import Symbols, planned
from ._kept_calls import KeptCalls
from ._lifting import constants_lifted, placeholder_after
from ._module_stack import ModuleStack, note_modules
from ._names import renamed, without_modes
from ._outputs import argument_of, flat_results
from ._shapes import note_shapes
from ._suggested import check_guards, check_ties, elsewhere, fixes, settle_ranges
from ._ties import Ties, most_of, ties_of
from ._tracing import Captured, captured_for, runs_at, sizes_to_trace
from .dynamic_shapes import AdditionalInputs, ShapesCollection
from .exported_program import ExportedProgram
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)

__all__ = ["export"]

_PLAIN = (int, float, bool, str, type(None))


def export(
    mod: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Mapping[str, Any]
    | tuple[Any, ...]
    | list[Any]
    | ShapesCollection
    | AdditionalInputs
    | None = None,
    strict: bool = False,
    preserve_module_call_signature: tuple[str, ...] = (),
) -> ExportedProgram:
    """The program that `mod(*args, **kwargs)` runs, for all sizes that `dynamic_shapes` allows.

    The module is called several times on tensors without values, so no kernel runs and nothing is
    written. Sizes are numbers unless `dynamic_shapes` says otherwise: it has an entry for each
    argument, by name or in order, shaped like the argument, with a `Dim` (or `Dim.AUTO`,
    `Dim.DYNAMIC`) for each dimension that differs from call to call. A `ShapesCollection` or
    `AdditionalInputs` makes such entries. Numbers, texts and None among the arguments are as they
    are in every call; a size among the results is the int of each call. `strict` changes nothing:
    there is no second way.

    `unflatten` gives modules that take the tensors that they read, one by one; those that
    `preserve_module_call_signature` names take the arguments that they had here, by position and by
    name, and give what they gave. `module_call_graph` has an entry for each of their calls.

    TypeError for a `mod` that is no module and `args` that are no tuple; UserError for sizes that the
    program fixes or relates although `dynamic_shapes` says that they vary, which names them and what
    would be right; RuntimeError for a program that reads values.

    Args:
        mod: the module
        args: its arguments by position, a tuple
        kwargs: its arguments by name (default: None)
        dynamic_shapes: which sizes vary: an entry for each argument (default: None)
        strict: changes nothing (default: False)
        preserve_module_call_signature: names of modules inside whose calls are kept as they were, for
            `unflatten` (default: ())

    >>> import taeda
    >>> from taeda import nn
    >>> from taeda.export import Dim
    >>> ep = export(nn.Linear(3, 2), (taeda.ones(4, 3),), dynamic_shapes=({0: Dim("batch")},))
    >>> ep.module()(taeda.ones(7, 3)).shape
    taeda.Size([7, 2])
    """
    if not isinstance(mod, nn.Module):
        raise TypeError(f"export: mod must be a taeda.nn.Module, got {type(mod).__name__}")
    if not isinstance(args, tuple):
        raise TypeError(f"export: args must be a tuple, got {type(args).__name__}: write (x,)")
    named = dict(kwargs or {})
    shapes: Any = dynamic_shapes
    # The tensors are known by identity, so this comes before repeated ones are cloned.
    if isinstance(shapes, ShapesCollection | AdditionalInputs):
        shapes = shapes.dynamic_shapes(mod, args, named)
    kept = KeptCalls(mod, preserve_module_call_signature)
    program = _Exporting(mod, distinct(args), distinct(named), shapes, kept).program()
    if isinstance(dynamic_shapes, AdditionalInputs):
        dynamic_shapes.verify(program)
    return program


class _Exporting:
    """One call of `export`."""

    def __init__(
        self, mod: nn.Module, args: Any, kwargs: Any, shapes: Any, kept: KeptCalls
    ) -> None:
        self.mod, self.args, self.kwargs, self.kept = mod, args, kwargs, kept
        self.stack = ModuleStack(mod)
        bound = bound_arguments(mod, args, kwargs)
        self.leaves, self.spec = tree_flatten((args, kwargs))
        demands = _demands(bound, spread_demands(mod, args, kwargs, shapes))
        self.names, self.demands = [], []
        for name, value in bound.items():
            for path, _ in tree_flatten_with_path(value)[0]:
                self.names.append(_identifier(name + keystr(path)))
                self.demands.append(_at(demands.get(name), path, name))
        self.names = _unique(self.names)
        self._check_leaves()
        persistent = set(mod.state_dict())
        self.state = [
            *(("p", InputKind.PARAMETER, n, t, None) for n, t in mod.named_parameters()),
            *(("b", InputKind.BUFFER, n, t, n in persistent) for n, t in mod.named_buffers()),
        ]
        self._check_state()
        self.out_spec: Any = None
        self.most: dict[str, int] = {}  # the largest sizes of symbols at which the program runs

    def _check_state(self) -> None:
        for _, _, name, tensor, _ in self.state:
            if why := getattr(type(tensor), "_not_exported", ""):
                raise UserError(f"{name} {why}")

    def _check_leaves(self) -> None:
        for name, leaf, demand in zip(self.names, self.leaves, self.demands, strict=True):
            if not isinstance(leaf, (Tensor, *_PLAIN)):
                raise UserError(
                    f"{name} is a {type(leaf).__name__}: arguments of an exported program are "
                    "tensors, numbers, texts, None, and trees of them"
                )
            if not isinstance(leaf, Tensor) and demand is not None:
                raise UserError(f"dynamic_shapes has {demand!r} for {name}, which is no tensor")

    # ---- capture ----

    def program(self) -> ExportedProgram:
        """The program, after sizes that fall were tried at others."""
        fixed: set[str] = set()
        related: dict[str, Expression] = {}
        near: frozenset[str] = frozenset()
        turn = 0
        while True:
            plan, symbols = self._plan(fixed, related)
            try:
                made = self._captured(plan, symbols, turn, near)
            except (UserError, MemoryError):
                raise
            except Exception as error:
                if related or fixed:
                    raise
                ties = self._ties(plan, symbols, error, turn)
                check_ties(ties, symbols)
                fixed, related = ties.numbers, ties.formulas
                continue
            if made.fixed:
                if turn > 0 or made.fixed <= near:
                    fixed |= self._fallen(made.fixed, plan, symbols)
                turn = 1
                continue
            beside = elsewhere(made.guards, symbols) - near
            if not beside:
                settle_ranges(made, symbols)
                check_guards(made.guards, symbols)
                if limited := sorted(self.most.keys() & symbols.strict):
                    raise UserError(fixes(symbols, limited, self.most))
                return self._finished(made, plan, symbols)
            near |= beside  # the example is on the other side of a branch

    def _captured(self, plan: Any, symbols: Symbols, turn: int, near: frozenset[str]) -> Captured:
        tensors, names = self._tensors(), self._inputs()
        return captured_for(
            self.run, tensors, names, plan, symbols, turn, self.stack.text, near, self.seen
        )

    def seen(self) -> tuple[str, Any]:
        """What the last call gave beside tensors: trees of results, and calls inside."""
        specs = [self.out_spec, *((c.name, c.in_spec, c.out_spec) for c in self.kept.calls)]
        return repr(specs), (self.out_spec, self.kept.calls)

    def _fallen(self, names: set[str], plan: Any, symbols: Symbols) -> set[str]:
        """Which of the symbols that fell at two sizes are numbers; others get a largest size."""
        runs = self._runs(plan, symbols)
        largest = {
            name: most
            for name in sorted(names - self.most.keys())
            if (most := most_of(runs, symbols, name)) is not None
        }
        strict = sorted((names - largest.keys()) & symbols.strict)
        if strict:
            raise UserError(fixes(symbols, strict, {}))
        self.most.update(largest)
        return names - largest.keys()

    def _runs(self, plan: Any, symbols: Symbols) -> Callable[[dict[str, int]], Exception | None]:
        tensors, names = self._tensors(), self._inputs()
        return lambda sizes: runs_at(self.run, tensors, names, plan, symbols, sizes)

    def _ties(self, plan: Any, symbols: Symbols, error: Exception, turn: int) -> Ties:
        """Which sizes the program ties, if it runs at those of the example."""
        hints = sizes_to_trace(self._tensors(), plan, symbols, turn, frozenset())
        return ties_of(self._runs(plan, symbols), symbols, hints, error)

    def _tensors(self) -> list[Tensor]:
        return [t for *_, t, _ in self.state] + [t for t in self.leaves if isinstance(t, Tensor)]

    def _inputs(self) -> list[str]:
        names = [f"{kind}_{_identifier(name)}" for kind, _, name, _, _ in self.state]
        mine = [n for n, t in zip(self.names, self.leaves, strict=True) if isinstance(t, Tensor)]
        return _unique([*names, *mine])

    def _plan(
        self, fixed: set[str], related: dict[str, Expression]
    ) -> tuple[list[tuple[Expression, ...]], Symbols]:
        entries = zip(self.names, self.leaves, self.demands, strict=True)
        given = [(n, t, d) for n, t, d in entries if isinstance(t, Tensor)]
        plan, symbols = planned(given, fixed, related)
        for name in self.most.keys() & symbols.ranges.keys():  # a number has no range
            symbols.ranges[name] &= ValueRanges(0, self.most[name])
        return [tuple(map(constant, t.shape)) for *_, t, _ in self.state] + plan, symbols

    def run(self, *flat: Any) -> list[Any]:
        """The call with these tensors in place of the module's and the arguments'."""
        count = len(self.state)
        state = {name: t for (_, _, name, _, _), t in zip(self.state, flat, strict=False)}
        rest = iter(flat[count:])
        leaves = [next(rest) if isinstance(v, Tensor) else v for v in self.leaves]
        args, kwargs = tree_unflatten(leaves, self.spec)
        # Without recording a detach would be none.
        with taeda.enable_grad(), self.stack.watched(), self.kept.watched():
            result = functional_call(self.mod, state, args, kwargs)
        made, self.out_spec = flat_results(result)
        for value in made:
            if not isinstance(value, (Tensor, SymInt, SymFloat, SymBool, *_PLAIN)):
                raise UserError(
                    f"the program gives a {type(value).__name__}: results of an exported program "
                    "are tensors, sizes, numbers, texts, None, and trees of them"
                )
        return [*made, *self.kept.values()]

    # ---- the program ----

    def _finished(self, made: Captured, plan: Any, symbols: Symbols) -> ExportedProgram:
        self.out_spec, self.kept.calls = made.seen  # of the trace, and of no size tried after it
        gm = GraphModule(made.module, made.module.graph)
        note_modules(gm)
        inputs = list(gm.graph.find_nodes(op="placeholder"))
        for node, exprs, tensor in zip(inputs, plan, self._tensors(), strict=True):
            node.meta["val"] = tensor
            node.meta["shape"] = exprs
        signature = ExportGraphSignature()
        for (_, kind, name, _, persistent), node in zip(self.state, inputs, strict=False):
            argument = TensorArgument(node.name)
            signature.input_specs.append(InputSpec(kind, argument, name, persistent))
        constants = constants_lifted(gm, inputs[len(self.state) :], signature)
        self._user_inputs(gm, inputs[len(self.state) :], signature)
        gm = renamed(gm)
        note_shapes(gm, made.hints, made.ranges, made.guards)
        if any(n.target is taeda.set_grad_enabled for n in gm.graph.nodes):
            note_shapes(without_modes(gm), made.hints, made.ranges)
        kept = _user_outputs(gm, signature, self.out_spec.num_leaves)  # by their last names
        state = dict(self.mod.state_dict(keep_vars=True))
        lost = {n: t for _, kind, n, t, kept in self.state if kept is False}
        return ExportedProgram(
            gm,
            signature,
            state,
            {**constants, **lost},
            dict(made.ranges),
            list(made.guards),
            (self.spec, self.out_spec),
            example_inputs=(self.args, self.kwargs),
            module_calls=self.kept.entries(kept),
        )

    def _user_inputs(self, gm: GraphModule, nodes: list[Any], made: ExportGraphSignature) -> None:
        """Specs of the arguments, and placeholders for those that are no tensors."""
        rest = iter(nodes)
        after = gm.graph.find_nodes(op="placeholder")
        place = list(after)[-1] if len(list(after)) else None
        for name, leaf in zip(self.names, self.leaves, strict=True):
            if isinstance(leaf, Tensor):
                place = next(rest)
                spec: Any = TensorArgument(place.name)
            else:
                place = placeholder_after(gm.graph, place, name)
                spec = ConstantArgument(place.name, leaf)
            made.input_specs.append(InputSpec(InputKind.USER_INPUT, spec, None))


def _user_outputs(gm: GraphModule, signature: ExportGraphSignature, count: int) -> list[Any]:
    """Specs of the first `count` results; the nodes of the others, which are results no more."""
    output = gm.graph.output_node()
    every = tuple(output.args[0])
    values, others = every[:count], every[count:]
    output.args = (values,)
    gm.recompile()
    for value in values:
        signature.output_specs.append(OutputSpec(OutputKind.USER_OUTPUT, argument_of(value)))
    return list(others)


# ---- arguments and demands ----


def _demands(bound: dict[str, Any], shapes: Any) -> dict[str, Any]:
    if shapes is None:
        return {}
    if isinstance(shapes, Mapping):
        unknown = sorted(set(shapes) - set(bound))
        if unknown:
            raise UserError(f"dynamic_shapes names {unknown}, and the arguments are {list(bound)}")
        return dict(shapes)
    if not isinstance(shapes, tuple | list) or len(shapes) != len(bound):
        raise UserError(
            f"dynamic_shapes has an entry for each of the {len(bound)} arguments ({', '.join(bound)}), "
            f"got {shapes!r:.200}"
        )
    return dict(zip(bound, shapes, strict=True))


def _at(demand: Any, path: Any, name: str) -> Any:
    """What a tree of demands says of one leaf; None for a whole branch is None for each leaf."""
    for step in path:
        if demand is None:
            return None
        key = getattr(step, "key", getattr(step, "idx", getattr(step, "name", None)))
        try:
            mapped = isinstance(demand, Mapping) or not hasattr(step, "name")
            demand = demand[key] if mapped else getattr(demand, str(key))
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise UserError(f"dynamic_shapes of {name} has no entry {keystr(path)}") from error
    return demand


def _identifier(text: str) -> str:
    made = "".join(c if c.isalnum() else "_" for c in text).rstrip("_")
    while "__" in made:
        made = made.replace("__", "_")
    return made


def _unique(names: list[str]) -> list[str]:
    taken: set[str] = set()
    for k, name in enumerate(names):
        number = 0
        while names[k] in taken:
            number += 1
            names[k] = f"{name}_{number}"
        taken.add(names[k])
    return names
