"""The operations of one run as a graph: what a tracer below autograd sees, with the tensors they came from.

Every tensor that an operation reads is the result of an earlier one, or an input: an argument of
the function, a tensor that a guard keeps, the gradient of such a one. A tensor that shares the
memory of a known one is a view of it. Whatever else appears ends the recording, which never
disturbs the run itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core

from .._signals import let_through
from .risks import may_raise
from .scalars import Number
from .steps import (
    CONTROL,
    DATA,
    GRADIENT,
    PLAIN,
    VIEW,
    WRITES_OUT,
    WRITES_SELF,
    Graph,
    Input,
    Step,
    layout_of,
)

__all__ = ["Recorder", "control", "mutated_places", "read_by"]

_RANDOM, _INPLACE = (_core.row_flags[f] for f in ("RANDOM", "INPLACE"))
_flags = {text: flags for text, _, _, _, _, flags in _core.op_rows()}
_kinds = {text: kind for text, _, kind, _, _, _ in _core.op_rows()}


class _Control:
    """Calls of functions, recorded. `_control` fills this in: it has recorders of its own, so none
    of them can import it.
    """

    cond: Callable[..., Any]
    loop: Callable[..., Any]
    scan: Callable[..., Any]
    call: Callable[..., Any]


control = _Control()


class Recorder:
    """A tracer that writes a graph while the program runs. `fail` is told why there will be none."""

    records_programs = True
    # whether `scan` and `map` are one call each: only without values, where no gradient is taken
    keeps_scans = False

    def __init__(self, fail: Callable[[str], None]) -> None:
        self.graph = Graph()
        self.fail = fail
        self.active = False
        self.line: Callable[[], str] = lambda: ""
        self.is_caught: Callable[[], bool] = lambda: False
        self._slots: dict[int, int] = {}
        self._kept: list[Tensor] = []
        self.arguments = 0  # how many tensors the call was given
        self.draws: list[Number] = []  # from Python's generator
        self.tied: dict[int, Tensor] = {}  # arguments that a guard keeps as well, by number
        self._same: list[Tensor] = []  # known by `note_same`
        self._before_same: list[tuple[int, Tensor]] = []  # slots that such tensors had
        self._memory: dict[int, list[tuple[int, Tensor]]] = {}
        self._leaves: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.before: list[tuple[Tensor, Any, bool]] = []
        self._gradients: dict[int, Tensor | None] = {}  # of leaves, as they were last seen
        self._count = _core.gradient_count()
        self.exact = True  # a graph has the very gradients of the program
        self.walking = False  # from results back, for gradients of one layout
        self.unlike = ""  # why the steps of that walk do not hold for both branches of a cond
        self.strictly: Callable[[], AbstractContextManager[Any]] = nullcontext

    def __enter__(self) -> Recorder:
        _core.tracers.push(self)
        self.active = True
        return self

    def __exit__(self, *raised: object) -> None:
        self.active = False
        _core.tracers.pop()

    # ---- inputs ----

    def add_input(self, kind: str, source: Any, tensor: Tensor) -> int:
        """The slot of a tensor that was there before the run: below zero, `finished` moves inputs
        to the front.
        """
        known = self._slots.get(id(tensor))
        if known is not None:
            given = self.graph.inputs[-known - 1] if known < 0 else None
            if kind == "kept" and given is not None and given.kind == "argument":
                self.tied[given.source] = tensor
            return known
        self.arguments += kind == "argument"
        self.graph.inputs.append(Input(kind, source, tensor))
        self.before.append((tensor, tensor.grad_fn, tensor.requires_grad))
        slot = self._know(tensor, -len(self.graph.inputs))
        if tensor.is_leaf and tensor.requires_grad:
            self._leaves[id(tensor)] = (tensor, tensor.grad)
            self._gradients[id(tensor)] = tensor.grad
        return slot

    def _know(self, tensor: Tensor, slot: int) -> int:
        self._slots[id(tensor)] = slot
        self._kept.append(tensor)
        self._memory.setdefault(_core.storage_key(tensor), []).append((slot, tensor))
        self.graph.slots = max(self.graph.slots, slot + 1)
        return slot

    def note_made(self, tensor: Tensor) -> None:
        """A tensor that was made of numbers, which are guarded where they were read: every run gets
        a copy of its own.
        """
        if not self.active:
            return
        self.active = False
        try:
            copy = tensor.detach().clone()
        finally:
            self.active = True
        source = self.add_input("made", copy, copy)
        slot = self.graph.slots
        self._emit("clone", PLAIN, (None, None), ((0, -1, source),), (slot,), ())
        self._know(tensor, slot)

    def note_same(self, tensor: Tensor, value: Tensor) -> None:
        """From now on `tensor` is what `value` is: writes to it were recorded as operations that
        make it anew.
        """
        slot = self.slot_of(value) if self.active else None
        if slot is not None:
            if id(tensor) in self._slots and not any(tensor is t for t in self._same):
                self._before_same.append((self._slots[id(tensor)], tensor))
            self._slots[id(tensor)] = slot
            self._same.append(tensor)
            same = {id(t): self._slots[id(t)] for t in self._same}
            key = _core.storage_key(tensor)
            known = [(s, t) for s, t in self._memory.get(key, ()) if same.get(id(t)) == s]
            self._memory[key] = [*known, (slot, tensor)]

    def slot_of(self, tensor: Tensor) -> int | None:
        """The slot that holds this tensor; None, and the recording has failed, if nobody knows
        where it came from.
        """
        slot = self._slots.get(id(tensor))
        if slot is not None:
            return slot
        if type(tensor) not in (Tensor, taeda.nn.Parameter, taeda.nn.Buffer):
            self.fail(f"a tensor of the type {type(tensor).__name__}")
            return None
        for leaf, before in list(self._leaves.values()):
            if before is tensor:
                return self.add_input("grad", leaf, tensor)
        return self._view_of_known(tensor)

    def _view_of_known(self, tensor: Tensor) -> int | None:
        key = _core.storage_key(tensor)
        known = self._memory.get(key, ())
        inputs = {slot for slot, _ in known if slot < 0}
        plain = [(s, base) for s, base in known if _is_plain(base, tensor)]
        if plain and len(inputs) <= 1 and tensor.numel():
            version = _core.version_key(tensor)
            for slot, base in plain:
                if _core.version_key(base) == version:
                    return self._as_view(tensor, slot, base, VIEW)
            if version != key:
                return self._as_view(tensor, *plain[0], DATA)
        self.fail("a tensor that no operation made and nothing keeps")
        return None

    def _as_view(self, tensor: Tensor, slot: int, origin: Tensor, form: int) -> int:
        made = self.graph.slots
        offset = tensor.storage_offset() - origin.storage_offset()
        place = (None, tuple(tensor.shape), tuple(tensor.stride()), offset)
        self._emit("as_strided", form, place, ((0, -1, slot),), (made,), ())
        return self._know(tensor, made)

    def counts_alone(self, tensor: Tensor) -> bool:
        """Whether the run made the tensor and the version that it counts: each run counts the same."""
        if self._slots.get(id(tensor), -1) < 0:
            return False
        key = _core.version_key(tensor)
        known = (i.example for i in self.graph.inputs if isinstance(i.example, Tensor))
        return all(_core.version_key(t) != key for t in known)

    def add_cast(self, weight: Tensor, dtype: Any, make: Callable[[Tensor, Any], Tensor]) -> Tensor:
        """What `make` gives: a weight in the dtype of a region around the call, which keeps it for
        all uses in the region.
        """
        slot = self.slot_of(weight) if self.active else None
        if slot is None or slot >= 0:
            return make(weight, dtype)  # a leaf of this run is cast in it, too
        if self._is_written(weight):
            self.fail("a weight is written before it is cast")
            return make(weight, dtype)
        self.active = False
        made = make(weight, dtype)
        self.active = True
        self.add_input("cast", (-slot - 1, dtype), made)
        return made

    def add_scalar(self, number: Number, value: float, dtype: Any) -> Tensor:
        """A float that each run is given anew, as a tensor without dimensions."""
        self.active = False
        made = taeda.tensor(value, dtype=dtype, device="cpu")
        self.active = True
        self.add_input("scalar", (number, dtype), made)
        return made

    def _is_written(self, tensor: Tensor) -> bool:
        written = {s for step in self.graph.steps for s in step.writes}
        return any(s in written for s, _ in self._memory[_core.storage_key(tensor)])

    def memory(self) -> frozenset[int]:
        """Of all tensors that are known by now."""
        return frozenset(self._memory)

    def changes(self, first: int, memory: frozenset[int]) -> bool:
        """Whether steps from `first` on change such memory, or that of an input, or a gradient."""
        if not self.note_gradients():
            return True
        steps = self.graph.steps[first:]
        written = {slot for step in steps for slot in step.writes}
        of = {slot: key for key, held in self._memory.items() for slot, _ in held}
        inputs = {key for slot, key in of.items() if slot < 0}
        known = inputs | memory
        return any(step.form == GRADIENT for step in steps) or any(
            of.get(slot, -1) in known or slot not in of for slot in written
        )

    def is_kept_as_it_was(self, tensor: Tensor) -> bool:
        """Whether it is a tensor that a guard keeps, and the run wrote nothing to its memory."""
        slot = self._slots.get(id(tensor), 0)
        if slot >= 0 or self.graph.inputs[-slot - 1].kind != "kept":
            return False
        return not self._is_written(tensor)

    def note_gradients(self) -> bool:
        """Write down which gradients were assigned since it was asked last; False, and the
        recording has failed, if one is not known.
        """
        count = _core.gradient_count()
        if count == self._count:
            return True
        self._count = count
        for leaf, _ in list(self._leaves.values()):
            before = self._gradients[id(leaf)]
            now = leaf.grad if leaf.is_leaf else before
            if now is before:
                continue
            self._gradients[id(leaf)] = now
            targets = [self._slots[id(leaf)]]
            if now is not None:
                slot = self._slot_of_gradient(leaf, now)
                if slot is None:
                    return False
                targets.append(slot)
            self._emit("", GRADIENT, (), (), (), tuple(targets))
        return True

    def _slot_of_gradient(self, leaf: Tensor, gradient: Tensor) -> int | None:
        if leaf._hooks is not None:
            self.fail("a hook sees the gradient of a tensor")
        elif gradient.requires_grad:
            self.fail("a gradient takes part in a graph (create_graph)")
        else:
            return self.slot_of(gradient)
        return None

    def gives_gradient(self) -> bool:
        """Whether a gradient from before the run is an argument, or kept for itself, as well."""
        befores = [self._slots.get(id(before), 0) for _, before in self._leaves.values()]
        kinds = {self.graph.inputs[-slot - 1].kind for slot in befores if slot < 0}
        return bool(kinds - {"grad"})

    def add_rate(self, group: dict[str, Any], first: int) -> bool:
        """Read the rate of a group of parameters anew in each run, where steps from `first` on hand
        it to a fused row; whether any did.
        """
        mine = {self._slots.get(id(p)) for p in group["params"]}
        rate, slot = group["lr"], None
        for n in range(first, len(self.graph.steps)):
            step = self.graph.steps[n]
            place = _rate_place(step.op)
            if place is None or not any(k == 0 and s in mine for k, _, s in step.patches):
                continue
            if step.args[place] != rate:
                return False
            if slot is None:
                self.graph.inputs.append(Input("number", group, rate))
                slot = -len(self.graph.inputs)
            patches = tuple(sorted([*step.patches, (place, -1, slot)]))
            self.graph.steps[n] = replace(step, patches=patches)
        return slot is not None

    # ---- operations ----

    def _emit(self, op: str, form: int, args: Any, patches: Any, outs: Any, targets: Any) -> None:
        grad = _core.is_grad_enabled()
        caught = form < VIEW and may_raise(op) and self.is_caught()
        step = Step(op, form, args, patches, outs, targets, self.line(), grad, caught)
        if step.is_custom:
            step.mutated = mutated_places(op)
        self.graph.steps.append(step)

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """For a tracer that sits outside of this one."""
        return self.call_into(op, args, run, None)

    def call_into(
        self,
        op: str,
        args: tuple[Any, ...],
        run: Callable[[], Any],
        targets: tuple[Any, ...] | None,
    ) -> Any:
        """Run one kernel and write it down."""
        if not self.active:
            return run()
        custom = op not in _flags
        why = self.refuses_custom(op) if custom else ""
        if why:
            self.fail(why)
            return run()
        found = self._mapped(args)
        goals = tuple(self.slot_of(t) for t in targets or ())
        if found is None or None in goals:
            return run()
        made = self.run_custom(op, args, run) if custom else run()
        if self.active and self._has_fixed_shape(op, args, made):
            self._note(op, args, found, made, goals, targets)
        return made

    def refuses_custom(self, op: str) -> str:
        """Why an operator that was defined at run time can be no step; "" if it can."""
        return f"{op} was defined at run time"

    def run_custom(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """Run the kernel of such an operator."""
        return run()

    def _mapped(self, args: tuple[Any, ...]) -> Any:
        template: list[Any] = []
        patches: list[tuple[int, int, int]] = []
        for k, value in enumerate(args):
            if isinstance(value, Tensor):
                number = _core.number_in(value)  # one that the graph saved
                slot = None if number is not None else self.slot_of(value)
                if slot is not None:
                    patches.append((k, -1, slot))
                elif number is None:
                    return None
                template.append(number)
            elif isinstance(value, tuple | list) and _holds_tensors(value):
                for i, entry in enumerate(value):
                    if isinstance(entry, Tensor):
                        slot = self.slot_of(entry)
                        if slot is None:
                            return None
                        patches.append((k, i, slot))
                template.append(tuple(None if isinstance(v, Tensor) else v for v in value))
            else:
                template.append(value)
        return tuple(template), tuple(patches)

    def _has_fixed_shape(self, op: str, args: tuple[Any, ...], made: Any) -> bool:
        said = self.no_fixed_shape(op, args, made)
        if said:
            self.fail(said)
        return not said

    def no_fixed_shape(self, op: str, args: tuple[Any, ...], made: Any) -> str:
        """Why shapes do not follow from shapes; "" if the operation gives the same ones where there
        are no values.
        """
        if _flags.get(op, 0) & _RANDOM or not _holds_tensors(args, Tensor | tuple):
            return ""
        if _kinds.get(op) == "pointwise" or made is None or (type(made) is tuple and not made):
            return ""
        try:
            blank = _core.call_backend(op, tuple(_on_meta(a) for a in args))
        except Exception as error:  # noqa: BLE001 - whatever it raises there, its shape rule is not known
            let_through(error)
            return f"{op} reads values, or says nothing of shapes"
        if _shapes(self.shown(op, blank)) != _shapes(self.shown(op, made)):
            return f"the shape of what {op} gives depends on values"
        return ""

    def shown(self, op: str, made: Any) -> Any:
        """What of the results a rule of shapes says."""
        return made

    def _note(self, op: str, args: Any, found: Any, made: Any, goals: Any, targets: Any) -> None:
        if not self.note_gradients():
            return
        template, patches = found
        results = list(made) if isinstance(made, tuple | list) else [made]
        if not goals and not all(isinstance(r, Tensor) or r is None for r in results):
            self.fail(f"{op} gives a value that is no tensor")
            return
        form = PLAIN
        if goals:
            form = (
                WRITES_SELF
                if targets[0] is args[0] and _flags.get(op, 0) & _INPLACE
                else WRITES_OUT
            )
        outs: list[int | None] = []
        fresh: list[tuple[Tensor, int]] = []
        next_slot = self.graph.slots
        for result in results:
            if goals or result is None or id(result) in self._slots:
                outs.append(None)
            else:
                outs.append(next_slot)
                fresh.append((result, next_slot))
                next_slot += 1
        self._emit(op, form, template, patches, tuple(outs), goals)
        for result, slot in fresh:
            self._know(result, slot)

    # ---- calls of functions ----

    def branches(self, pred: Tensor, true_fn: Any, false_fn: Any, operands: Any) -> Any:
        """`cond` by a tensor."""
        if not self.active:
            return (true_fn if bool(pred) else false_fn)(*operands)
        return control.cond(self, pred, true_fn, false_fn, operands)

    def loop(self, cond_fn: Any, body_fn: Any, carried: tuple[Any, ...]) -> Any:
        """`while_loop`; None if it is not to be one call."""
        return control.loop(self, cond_fn, body_fn, carried) if self.active else None

    def scan(self, combine_fn: Any, init: Any, xs: Any, dim: int, reverse: bool) -> Any:
        """`scan` and `map`; None if it is not to be one call: its steps are recorded then."""
        if not (self.active and self.keeps_scans):
            return None
        return control.scan(self, combine_fn, init, xs, dim, reverse)

    def refuse(self, reason: str, cause: BaseException | None = None) -> None:
        """There is no graph of a call of functions."""
        self.fail(reason)

    def control(self, what: Any, functions: Any, tensors: tuple[Tensor, ...], below: Any) -> Any:
        """An operator that calls functions: each is recorded as a part of one step."""
        return control.call(self, what, functions, tensors, below)

    def note_control(self, what: Any, slots: Any, parts: Any, made: Any) -> None:
        """Write down such a call, which gave `made`."""
        first = self.graph.slots
        patches = tuple((k, -1, slot) for k, slot in enumerate(slots))
        outs = tuple(range(first, first + len(made)))
        args = (*(None for _ in slots), *what.counts)
        step = Step(
            what.name,
            CONTROL,
            args,
            patches,
            outs,
            (),
            self.line(),
            what.grad,
            mode=what.mode,
            parts=parts,
        )
        step.caught = step.may_fail and self.is_caught()
        self.graph.steps.append(step)
        for tensor, slot in zip(made, outs, strict=True):
            self._know(tensor, slot)

    def note_untraced(self, what: str) -> None:
        """Something that is no operation touched a tensor."""
        if self.active:
            self.fail(what)

    # ---- the end ----

    def gradients(self) -> list[tuple[Tensor, Tensor | None, Tensor | None]]:
        """(leaf, its gradient before the run, its gradient now) of all leaves that were met."""
        return [(leaf, before, leaf.grad) for leaf, before in self._leaves.values()]

    def numbered(self, slot: int) -> int:
        """The final number of a slot: inputs first."""
        return -slot - 1 if slot < 0 else slot + len(self.graph.inputs)

    def finished(self) -> Graph:
        """The graph with its inputs in front."""
        graph, number = self.graph, self.numbered
        graph.slots += len(graph.inputs)
        moved = {id(t) for t in self._same}
        held = [(self._slots[id(t)], t) for t in self._kept if id(t) not in moved]
        held += self._before_same
        graph.layouts = {number(slot): layout_of(t) for slot, t in held}
        graph.examples = {number(slot): t.detach() for slot, t in held}
        for step in graph.steps:
            step.patches = tuple((k, i, number(s)) for k, i, s in step.patches)
            step.outs = tuple(None if s is None else number(s) for s in step.outs)
            step.targets = tuple(number(s) for s in step.targets)
        return graph


def read_by(op: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments that an operator only reads, by its schema."""
    places = mutated_places(op)
    return tuple(a for k, a in enumerate(args) if k not in places)


def mutated_places(op: str) -> tuple[int, ...]:
    """The arguments that an operator writes, by its schema."""
    return tuple(k for k, a in enumerate(_core.schema_of(op).arguments) if a.mutated)


def _holds_tensors(values: Any, kinds: Any = Tensor) -> bool:
    """Whether one of the values is of these kinds; no generator, whose end may lose an interrupt."""
    for value in values:  # noqa: SIM110 - see above
        if isinstance(value, kinds):
            return True
    return False


def _is_plain(base: Tensor, tensor: Tensor) -> bool:
    """Whether one may be a view of the other that sizes and strides describe."""
    bits = base.is_conj() or base.is_neg() or tensor.is_conj() or tensor.is_neg()
    return base.dtype == tensor.dtype and not bits


@functools.cache
def _rate_place(op: str) -> int | None:
    """Which argument of a fused optimizer is the learning rate."""
    if op not in ("_fused_sgd_", "_fused_adam_", "_fused_adamw_"):
        return None
    return [name for name, _ in _core.op_parameters(op)].index("lr")


def _on_meta(value: Any) -> Any:
    if isinstance(value, Tensor):
        return taeda.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, tuple | list) and _holds_tensors(value):
        return tuple(_on_meta(v) for v in value)
    return taeda.device("meta") if isinstance(value, taeda.device) else value


def _shapes(made: Any) -> Any:
    if isinstance(made, Tensor):
        return made.dtype, tuple(made.shape)
    if isinstance(made, tuple | list):
        return [_shapes(m) for m in made]
    return made
