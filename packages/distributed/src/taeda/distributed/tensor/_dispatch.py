"""An operator of DTensors: which parts every rank needs, the call on parts, and how the results lie.

A plan is made once for each row, way to lie and other arguments, and kept by the mesh. What has no
rule is computed on whole tensors by every rank, with one notice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api import warn
from taeda._core_api.operators import plan_calls, result_in_parts
from taeda._core_api.table import rows

from .._calls import purpose
from ..device_mesh import DeviceMesh, device_of
from . import _lists, _random_rows, _settings
from ._api import DTensor
from ._redistribute import redistributed
from ._rules import Call, Strategy
from ._rules._call import Made, Value
from ._rules.pointwise import find
from ._spec import Spec, contiguous_strides
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = ["run", "run_planned"]

R = Replicate()
#: views that may also copy where a plain tensor would: their results are nobody's memory by promise
MAY_COPY = frozenset("reshape reshape_as contiguous flatten ravel resolve_conj resolve_neg".split())
#: rows that take the shape of another tensor
BY_SHAPE = {"view_as": "view", "reshape_as": "reshape", "expand_as": "expand"}
#: arguments that are the shape of the result
SIZES = {
    "expand": "size", "broadcast_to": "size", "select_backward": "input_sizes",
    "slice_backward": "input_sizes", "diagonal_backward": "input_sizes",
    "unfold_backward": "input_sizes",
}  # fmt: skip
_told: set[str] = set()


@dataclass
class Plan:
    """How a call is computed: where its tensors lie then, and its results."""

    targets: list[Spec | None]
    outs: list[Spec | None] | None  # None: whole, in the shapes that come
    strides: list[tuple[int, ...] | None]
    dtypes: list[Any]  # of the results; none where a call writes
    fn: Any
    dims: tuple[int, ...]
    call: Call
    moves: bool  # a tensor does not lie so yet
    empty: bool = False  # this rank has no element of the results


#: a result and, if the same call may go its way alone from now on, how each result lies
Planned = tuple[Any, "tuple[Any, ...] | None"]


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute an operator of DTensors."""
    return run_planned(func, args, kwargs)[0]


def run_planned(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Planned:
    """Compute an operator of DTensors, and give the core its plan where no Python is needed."""
    text = str(func)
    _settings.tell(text)
    row = _row_of(text)
    name = row.partition(".")[0]
    if name in _lists.ROWS:
        return _lists.run(func, name, args, kwargs), None
    as_called = name not in BY_SHAPE
    if not as_called:
        shape = list(args[1].shape)
        row = name = BY_SHAPE[name]
        func = getattr(taeda.ops.aten, name).default
        args, kwargs = (args[0], shape), {}
    if _settings.replicates() or core.backward_task():
        # rules of gradients make indices of their own, which are the same on all ranks
        args, kwargs = _replicated(args, kwargs)
    if "out" in kwargs:
        return _into(func, args, dict(kwargs)), None
    in_place = name.endswith("_") and not name.startswith("_")
    base = _functional(row) if in_place else row
    if name == "copy_" and not isinstance(args[0], DTensor) and not args[0].ndim:
        source = args[1]  # a number leaves whole, such as whether a gradient is infinite
        return args[0].copy_(redistributed(source._local, source._spec, source._spec.whole())), None
    tensors = _tensors(args, kwargs)
    mesh = _check(name, tensors, args[0] if in_place else None)
    if in_place:
        _check_target(name, args[0])
    if _random_rows.draws(row):
        return _random_rows.run(func, name, args, kwargs, mesh), None
    plan = _planned(func, base, args, kwargs, tensors, mesh, in_place)
    made = _execute(func, plan, args, kwargs, tensors, mesh)
    if in_place:
        return args[0], _alone(plan, tensors, mesh)
    found = rows().get(row)
    if (found is not None and found.view) or name == "detach":
        _note_copies(name, args[0], made, plan)
        as_called = as_called and name not in MAY_COPY and name != "detach"
    return made, _alone(plan, tensors, mesh) if as_called else None


def _alone(plan: Plan, tensors: list[Tensor], mesh: DeviceMesh) -> tuple[Any, ...] | None:
    """How the results lie, of a call that is the same operator on the parts; else None."""
    if plan.moves or plan.fn is not None or plan.empty or plan.outs is None:
        return None
    if plan.call.name in SIZES or plan.call.name.startswith(("upsample", "_upsample")):
        return None
    if any(isinstance(value, DTensor) and value._spec.mesh is not mesh for value in tensors):
        return None  # an equal mesh may go while this one stays, and its specs with it
    found = []
    for spec, strides in zip(plan.outs, plan.strides, strict=True):
        if spec is None:
            return None
        lies = contiguous_strides(spec.shape) if strides is None else strides
        found.append(result_in_parts(spec, spec.local_shape, spec.shape, lies))
    return tuple(found)


def _row_of(text: str) -> str:
    """ "add.Tensor" of "aten.add.Tensor", and "mm" of "aten.mm.default"; others with their namespace."""
    space, _, rest = text.partition(".")
    row = rest.removesuffix(".default")
    return row if space == "aten" else f"{space}::{row}"


def _functional(row: str) -> str:
    name, dot, overload = row.partition(".")
    return f"{name[:-1]}{dot}{overload}"


def _replicated(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Plain tensors with dimensions as DTensors that every rank has whole."""
    first = next(v for v in _tensors(args, kwargs) if isinstance(v, DTensor))
    mesh = first._spec.mesh

    moved = tuple(_lifted(value, mesh) for value in args)
    return moved, {key: _lifted(value, mesh) for key, value in kwargs.items()}


def _lifted(value: Any, mesh: DeviceMesh) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, DTensor) and value.ndim:
        return DTensor(value, Spec.of(mesh, [R] * mesh.ndim, value.shape))
    if isinstance(value, (list, tuple)):
        return [_lifted(one, mesh) for one in value]
    return value


# ---- what came ----


def _tensors(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [one for one in value if isinstance(one, Tensor)]
    return found


def _check(name: str, tensors: Sequence[Tensor], target: Any) -> DeviceMesh:
    """The mesh of all. RuntimeError for several, for plain tensors among them, and stale copies."""
    mesh: DeviceMesh | None = None
    for value in tensors:
        if not isinstance(value, DTensor):
            continue
        if mesh is None:
            mesh = value._spec.mesh
        elif value._spec.mesh is not mesh and value._spec.mesh != mesh:
            raise RuntimeError(
                f"{name} of DTensors on different meshes: {mesh} and {value._spec.mesh}"
            )
        if value._copied_from is not None and value is not target:
            base, version = value._copied_from
            if base._version != version:
                lies: Any = base
                raise RuntimeError(
                    f"{name}: this view of shape {tuple(value.shape)} is a copy, as the parts of "
                    f"{lies._spec} could not be looked at in its shape, and what it was made of was "
                    "written since. Make the view again after the write"
                )
    if target is not None and not isinstance(target, DTensor):
        raise RuntimeError(f"{name} would write parts of a DTensor into a plain Tensor")
    assert mesh is not None
    for value in tensors:
        if not isinstance(value, DTensor) and value.ndim:
            raise RuntimeError(
                f"{name} got a DTensor and a plain Tensor of shape {tuple(value.shape)}: make the plain one "
                "a DTensor by distribute_tensor or DTensor.from_local (for a state dict: "
                "set_model_state_dict does it)"
            )
    return mesh


def _check_target(name: str, target: DTensor) -> None:
    if target._copied_from is not None:
        base: Any = target._copied_from[0]
        raise RuntimeError(
            f"{name}: this view of shape {tuple(target.shape)} is a copy, as the parts of {base._spec} could "
            "not be looked at in its shape; what is written would not reach the tensor. Write into that "
            "tensor, or redistribute it before the view"
        )
    found = rows().get(name)
    if found is not None and found.view:
        raise RuntimeError(
            f"{name} would change the shape of a DTensor in place: use {name[:-1]}(), which gives a view"
        )


# ---- plans ----


def _planned(
    func: Any,
    row: str,
    args: Any,
    kwargs: Any,
    tensors: list[Tensor],
    mesh: DeviceMesh,
    in_place: bool,
) -> Plan:
    key = _key(func, args, kwargs)
    plan: Plan | None = mesh._plans.get(key) if key is not None else None
    if plan is None:
        plan = _plan(func, row, args, kwargs, tensors, mesh, in_place)
        if key is not None:
            if len(mesh._plans) > 10_000:
                mesh._plans.clear()
            mesh._plans[key] = plan
    return plan


def _key(func: Any, args: Any, kwargs: Any) -> Any:
    """All that a plan depends on; None if some of it cannot be a key."""
    try:
        said = _settings.replicates(), _settings.registrations[0], taeda.get_default_dtype()
        key = (str(func), said, tuple(map(_part, args)), tuple(
            (name, _part(value)) for name, value in kwargs.items()))  # fmt: skip
        hash(key)
    except TypeError:
        return None
    return key


def _part(value: Any) -> Any:
    if isinstance(value, DTensor):
        return value._spec, value.dtype, value.stride()
    if isinstance(value, Tensor):
        return tuple(value.shape), value.dtype
    if isinstance(value, (list, tuple)):
        return tuple(map(_part, value))
    return type(value), value


def _plan(
    func: Any,
    row: str,
    args: Any,
    kwargs: Any,
    tensors: list[Tensor],
    mesh: DeviceMesh,
    in_place: bool,
) -> Plan:
    call = _call(func, row, args, kwargs)
    call.parts = mesh.size()
    metas = None if in_place else _on_meta(func, args, kwargs, call)
    if in_place:
        call.outs = [tuple(args[0].shape)]
        strides: list[Any] = [None]
    elif metas is not None:
        call.outs = [None if one is None else tuple(one.shape) for one in metas]
        strides = [None if one is None else one.stride() for one in metas]
    if metas is None and not in_place:
        found: list[Strategy] = []
    else:
        found = _strategies(func, row, call)
    order = _order(tensors)
    if not found and metas is None and not in_place:
        targets = [None if v.spec is None else v.spec.whole() for v in call.values]
        return Plan(targets, None, [], [], None, (), call, _differ(targets, tensors))
    whole = Strategy(
        tuple(None if value.spec is None else R for value in call.values),
        tuple(None if out is None else R for out in call.outs),
    )
    found.append(whole)
    chosen = [_cheapest(dim, found, call, mesh, in_place) for dim in range(mesh.ndim)]
    if any(one is None for one in chosen):
        raise RuntimeError(_no_place(row, call))
    picked = _of_one_function(
        [one for one in chosen if one is not None], whole, in_place, row, call
    )
    targets2: list[Spec | None] = []
    for at, value in enumerate(call.values):
        places = [one.ins[at] or R for one in picked]
        targets2.append(None if value.spec is None else Spec.of(mesh, places, value.shape, order))
    _check_written(row, call, targets2, in_place)
    outs: list[Spec | None] = []
    for at, shape in enumerate(call.outs):
        places = [one.outs[at] or R for one in picked]
        outs.append(None if shape is None else Spec.of(mesh, places, shape, order))
    fn = next((one.fn for one in picked if one.fn is not None), None)
    dims = tuple(dim for dim, one in enumerate(picked) if one.fn is not None)
    dtypes = [None if one is None else one.dtype for one in metas or ()]
    plan = Plan(targets2, outs, strides, dtypes, fn, dims, call, _differ(targets2, tensors))
    plan.empty = _has_none(plan)
    return plan


def _check_written(row: str, call: Call, targets: Sequence[Spec | None], in_place: bool) -> None:
    """What a row writes besides, such as running means, lies where it is written."""
    found = rows().get(row)
    for argument in () if found is None or in_place else found.schema.arguments:
        at = call.index.get(argument.name)
        if argument.mutated and isinstance(at, int) and call.values[at].spec is not targets[at]:
            raise RuntimeError(
                f"{row} writes {argument.name}, which lies as {call.values[at].spec}, and computes on "
                f"{targets[at]}: redistribute it so before"
            )


def _differ(targets: Sequence[Spec | None], tensors: Sequence[Tensor]) -> bool:
    return any(
        target is not None and isinstance(value, DTensor) and value._spec is not target
        for target, value in zip(targets, tensors, strict=True)
    )


def _order(tensors: Sequence[Tensor]) -> Sequence[int] | None:
    """The order of cuts of the first tensor that has one of its own."""
    for value in tensors:
        if isinstance(value, DTensor) and list(value._spec.order) != sorted(value._spec.order):
            return value._spec.order
    return None


def _strategies(func: Any, row: str, call: Call) -> list[Strategy]:
    registered = _settings.REGISTERED.get(str(func))
    if registered is not None:
        return list(registered(call, func))
    found: Any = find(row)
    if found is None:
        if row not in _told:
            _told.add(row)
            warn(
                f"DTensor: {row} has no rule for parts, so its tensors are gathered and every rank computes "
                "all of it. This is said once"
            )
        return []
    return list(found(call))


def _call(func: Any, row: str, args: Any, kwargs: Any) -> Call:
    """The arguments by name, with defaults, and tensors as what a rule sees of them."""
    call = Call(row, {}, len(args))
    declared = list(func._schema.arguments)
    for place, argument in enumerate(declared):
        if place < len(args):
            call.args[argument.name] = _seen(call, argument.name, args[place])
    for name, value in kwargs.items():
        call.args[name] = _seen(call, name, value)
    for argument in declared:
        if argument.name not in call.args:
            call.args[argument.name] = getattr(argument, "default_value", None)
    return call


def _seen(call: Call, name: str, value: Any) -> Any:
    if isinstance(value, Tensor):
        spec = value._spec if isinstance(value, DTensor) else None
        call.index[name] = len(call.values)
        call.values.append(Value(tuple(value.shape), value.dtype, spec))
        return call.values[-1]
    if isinstance(value, (list, tuple)) and any(isinstance(one, Tensor) for one in value):
        made, places = [], []
        for one in value:
            if isinstance(one, Tensor):
                places.append(len(call.values))
                spec = one._spec if isinstance(one, DTensor) else None
                call.values.append(Value(tuple(one.shape), one.dtype, spec))
                made.append(call.values[-1])
            else:
                made.append(one)
        call.index[name] = places
        return made
    return value


def _meta(value: Any) -> Any:
    if isinstance(value, Tensor):
        strides = value.stride() if isinstance(value, DTensor) else None
        if strides is None:
            return taeda.empty(value.shape, dtype=value.dtype, device="meta")
        return taeda.empty_strided(value.shape, strides, dtype=value.dtype, device="meta")
    if isinstance(value, (list, tuple)):
        return [_meta(one) for one in value]
    return value


def _on_meta(func: Any, args: Any, kwargs: Any, call: Call) -> list[Any] | None:
    """The results without values, from the whole's shapes; None where they depend on values."""

    row = rows().get(_row_of(str(func)))
    if row is not None and row.reads_value == "always":
        return None
    with taeda.no_grad():
        moved = {name: _meta(value) for name, value in kwargs.items()}
        if "device" in moved:
            moved["device"] = "meta"
        try:
            made = func(*map(_meta, args), **moved)
        except MemoryError:
            raise
        except RuntimeError:
            if row is None or not row.reads_value:
                raise
            return None  # the shape depends on values: on these arguments, or always
    call.listed = isinstance(made, (list, tuple))
    results = list(made) if call.listed else [made]
    return results if all(one is None or isinstance(one, Tensor) for one in results) else None


# ---- the cheapest strategy along one dimension of the mesh ----


def _cheapest(
    dim: int, found: Sequence[Strategy], call: Call, mesh: DeviceMesh, in_place: bool
) -> Strategy | None:
    best, least = None, None
    for one in found:
        cost = _cost(dim, one, call, mesh, in_place)
        if cost is not None and (least is None or cost < least):
            best, least = one, cost
    return best


def _cost(
    dim: int, one: Strategy, call: Call, mesh: DeviceMesh, in_place: bool
) -> tuple[float, int, int] | None:
    """Bytes that move, and how many tensors do not lie so; None for a strategy that may not be."""
    total, changed = 0.0, 0
    for at, (value, wanted) in enumerate(zip(call.values, one.ins, strict=True)):
        if value.spec is None:
            continue
        now = value.spec.placements[dim]
        if now == wanted:
            continue
        if one.keep or (in_place and at == 0):
            return None
        size = float(value.dtype.itemsize)
        for length in value.shape:
            size *= length
        total += size * _factor(now, wanted, mesh.size(dim))
        changed += 1
    target = call.values[0].spec
    if in_place and target is not None and one.outs[0] != target.placements[dim]:
        return None
    prefers = 0 if any(isinstance(place, Shard) for place in one.outs) else 1
    return total, changed, prefers if not changed else 1 - prefers


def _factor(now: Placement, wanted: Placement | None, parts: int) -> float:
    if isinstance(now, Replicate):
        return 0.0
    if isinstance(now, Partial):
        return 2.0  # to a shard as well, so that terms are not cut for one operator alone
    return 1.0 / parts if isinstance(wanted, Shard) else 2.0 if isinstance(wanted, Partial) else 1.0


def _of_one_function(
    chosen: list[Strategy], whole: Strategy, in_place: bool, row: str, call: Call
) -> list[Strategy]:
    """Several dimensions of the mesh may not want different functions: the later are whole then."""
    kinds = list(dict.fromkeys(one.fn for one in chosen if one.fn is not None))
    if len(kinds) <= 1:
        return chosen
    if in_place:
        raise RuntimeError(_no_place(row, call))
    return [one if one.fn in (None, kinds[0]) else whole for one in chosen]


def _no_place(row: str, call: Call) -> str:
    spec = call.values[0].spec
    return (
        f"{row} in place: parts of {spec} cannot be written by parts alone, and what is written stays where "
        f"it is. Use x = x.redistribute(placements=[Replicate()] * {len(spec.placements) if spec else 1}) "
        "before, or the form that is not in place"
    )


# ---- on parts ----


def _execute(
    func: Any, plan: Plan, args: Any, kwargs: Any, tensors: list[Tensor], mesh: DeviceMesh
) -> Any:
    parts = []
    for value, target in zip(tensors, plan.targets, strict=True):
        if not isinstance(value, DTensor) or target is None:
            parts.append(value)
            continue
        if value._spec is target:
            parts.append(value._local)
            continue
        _settings.check_gather(func, value, target)
        with purpose(f"{plan.call.row} of DTensors"):
            parts.append(redistributed(value._local, value._spec, target))
    left = iter(parts)
    moved = [_with_parts(value, left) for value in args]
    named = {key: _with_parts(value, left) for key, value in kwargs.items()}
    made = _compute(func, plan, moved, named, mesh)
    return _wrapped(made, plan, mesh)


def _with_parts(value: Any, left: Iterator[Tensor]) -> Any:
    """An argument with the next parts for its tensors. No closure: one that calls itself is a cycle, which
    would keep the parts until the next collection.
    """
    if isinstance(value, Tensor):
        return next(left)
    if isinstance(value, (list, tuple)):
        return [_with_parts(one, left) for one in value]
    return value


def _compute(
    func: Any, plan: Plan, moved: list[Any], named: dict[str, Any], mesh: DeviceMesh
) -> Any:
    call = plan.call
    if plan.fn is not None:
        by_name = dict(call.args)
        by_name.update(zip(call.args, moved, strict=False))
        by_name.update(named)
        assert plan.outs is not None
        return plan.fn(Made(func, by_name, call, plan.targets, plan.outs, plan.dims))
    if plan.empty:
        return _empty(plan, device_of(mesh))
    size = SIZES.get(call.name)
    if size is not None and plan.outs is not None and plan.outs[0] is not None:
        place = list(call.args).index(size)
        moved[place] = list(plan.outs[0].local_shape)
    elif call.name.lstrip("_").startswith("upsample") and call.name.endswith("_backward"):
        place = list(call.args).index("input_size")
        if plan.targets[0] is not None:
            moved[place] = [*plan.targets[0].local_shape[:2], *moved[place][2:]]
    return func(*moved, **named)


def _has_none(plan: Plan) -> bool:
    """Has this rank no element of the results, though the whole has some, nor a term of a sum?"""
    specs = [spec for spec in plan.outs or () if spec is not None]
    if not plan.dtypes or plan.fn is not None:
        return False
    return not any(s.is_partial or 0 not in s.local_shape or 0 in s.shape for s in specs)


def _empty(plan: Plan, device: taeda.device) -> Any:
    """Results without elements, which not every kernel makes."""
    made = [
        None if spec is None else taeda.empty(spec.local_shape, dtype=dtype, device=device)
        for spec, dtype in zip(plan.outs or (), plan.dtypes, strict=True)
    ]
    return made if plan.call.listed else made[0]


def _wrapped(made: Any, plan: Plan, mesh: DeviceMesh) -> Any:
    if isinstance(made, (list, tuple)):
        results = [_wrap(one, at, plan, mesh) for at, one in enumerate(made)]
        return results if isinstance(made, list) else tuple(results)
    return _wrap(made, 0, plan, mesh)


def _wrap(value: Any, at: int, plan: Plan, mesh: DeviceMesh) -> Any:
    if not isinstance(value, Tensor):
        return value
    if plan.outs is None:
        return DTensor(value, Spec.of(mesh, [R] * mesh.ndim, value.shape))
    spec = plan.outs[at]
    assert spec is not None
    if tuple(value.shape) != spec.local_shape:
        raise RuntimeError(
            f"{plan.call.row}: a part has the shape {tuple(value.shape)}, and the rule says "
            f"{spec.local_shape} of {spec}. Please report this"
        )
    return DTensor(value, spec, strides=plan.strides[at])


def _note_copies(name: str, base: Any, made: Any, plan: Plan) -> None:
    """Results that a plain tensor would share memory with, and that do not, know what they copied."""
    before = base._copied_from
    for one in made if isinstance(made, (list, tuple)) else (made,):
        if not isinstance(one, DTensor):
            continue
        if before is not None:
            one._copied_from = before
        elif name not in MAY_COPY and one._local.numel() and base._local.numel():
            if core.storage_address(one._local) != core.storage_address(base._local):
                one._copied_from = base, base._version
        elif name not in MAY_COPY and plan.moves:
            one._copied_from = base, base._version


# ---- out= ----


def _into(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute, and write into what `out` names, as it lies."""
    out = kwargs.pop("out")
    made = func(*args, **kwargs)
    pairs = [(out, made)] if isinstance(out, Tensor) else list(zip(out, made, strict=True))
    for target, value in pairs:
        if not isinstance(target, DTensor) or not isinstance(value, DTensor):
            raise RuntimeError("out= of DTensors is a DTensor, and of plain tensors a plain one")
        if tuple(target.shape) != tuple(value.shape):
            raise RuntimeError(
                f"out= has the shape {tuple(target.shape)}, and the result {tuple(value.shape)}: a DTensor "
                "is not resized"
            )
        if target._spec.is_partial:
            raise RuntimeError(f"out= cannot be terms of a sum: {target._spec}")
        target.copy_(value)
    return out


plan_calls(DTensor, run_planned)
