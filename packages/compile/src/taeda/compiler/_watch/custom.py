"""Calls of operators that were defined at run time, in a recorded run.

Of such an operator nothing is known but its schema. It is one step, which calls it as it is:

    its kernel           runs unseen: what it reads and keeps is its own affair
    its results          have memory of their own, or are what it writes; a fake kernel says their shapes
    its arguments        are written where the schema says so, and nowhere else
    what is registered   a guard asks whether anything was registered since
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import programs as _core

from .._arguments import tensors_in
from .._graph.bits import contents, same
from .._graph.recorder import Recorder, mutated_places, read_by

if TYPE_CHECKING:
    from .session import Run

__all__ = ["ProgramRecorder"]

_PLAIN = (Tensor, nn.Parameter, nn.Buffer)


class ProgramRecorder(Recorder):
    """The recorder of a run, which knows what guards are."""

    def __init__(self, run: Run) -> None:
        super().__init__(functools.partial(run.stop, quiet=True))
        self._run = run

    def refuses_custom(self, op: str) -> str:
        """Why its results are not known."""
        for result in _core.schema_of(op).returns:
            if result.base != "Tensor":
                return f"{op} gives a {result.declared}"
            if result.alias and (result.is_list or not result.mutated):
                return f"{op} gives a view of its argument"
        return ""

    def run_custom(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """The kernel, of which the run sees nothing but what it did to tensors."""
        with self._run.as_it_is():
            read, written = read_by(op, args), tuple(args[k] for k in mutated_places(op))
            before = contents(read)
            layouts = _layouts(written)
            age = _core.next_age()
            try:
                made = run()
            except Exception:
                self.fail(f"{op} raises")
                raise
            why = _unlike_results(op, made, written, age)
            if not why and not same(before, contents(read)):
                why = f"{op} writes to an argument of which its schema does not say so"
            if not why and layouts != _layouts(written):
                why = f"{op} changes the shape of an argument"
        self._run.behind_kernel()
        if why:
            self.fail(why)
        else:
            self._run.guards.expression(
                "$stamp($name) == $number",
                f"what is registered for {op}",
                stamp=_core.op_stamp,
                name=op,
                number=_core.op_stamp(op),
            )
        return made

    def shown(self, op: str, made: Any) -> Any:
        """Without the record of a derivative in C++, which a fake kernel makes none of."""
        several = isinstance(made, tuple | list)
        return made[1:] if several and _core.is_defined(f"{op}__record") else made

    def no_fixed_shape(self, op: str, args: tuple[Any, ...], made: Any) -> str:
        """As for rows of the table, by the fake kernel."""
        if op in _core_texts():
            return super().no_fixed_shape(op, args, made)
        if made is None or not any(True for _ in tensors_in(args)) or _is_derivative_in_cpp(op):
            return ""
        kernels = _core.op_kernels(op)
        if not any(kernels[_core.kernel_slots[slot]] for slot in ("meta", "any")):
            return (
                f"{op} has no fake kernel, which would say what its results are like: give one with "
                f'library.register_fake("{op}", function)'
            )
        with self._run.as_it_is():
            return super().no_fixed_shape(op, args, made)


@functools.cache
def _core_texts() -> frozenset[str]:
    return frozenset(row[0] for row in _core.op_rows())


def _is_derivative_in_cpp(op: str) -> bool:
    """Whether it gives gradients by what a function in C++ recorded: they are like its arguments."""
    function = op.removesuffix("__record")
    return function != op and _core.is_defined(function)


def _layouts(values: Any) -> list[Any]:
    return [(t.dtype, tuple(t.shape), t.stride()) for t in tensors_in(values)]


def _unlike_results(op: str, made: Any, written: tuple[Any, ...], age: int) -> str:
    """Why these results cannot be made again by another call."""
    own = {id(t) for t in tensors_in(written)}
    seen: set[int] = set()
    for result in made if isinstance(made, tuple | list) else [made] if made is not None else []:
        if result is None or id(result) in own:
            continue
        if type(result) not in _PLAIN or result.layout is not taeda.strided:
            return f"{op} gives a {type(result).__name__} that is no plain tensor"
        key = _core.storage_key(result)
        if _core.age_of(result) < age or key in seen:
            return f"{op} gives memory that was there before, or gives it twice"
        seen.add(key)
    return ""
