"""What the node of a compiled program answers when a backward comes by it.

gradients of the results ─▶ the program for their choice, layout and sums ─▶ one gradient for each edge
                          └▶ none: the program itself is differentiated

The node has as many edges to an input as the program adds gradients for it. The engine adds what
comes over them one by one, in the order of the program. That is asked for where it has a gradient
from elsewhere already; otherwise the sum is made by the program and goes over the first edge.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime

from .ends import arrived
from .relinked import relinked

if TYPE_CHECKING:
    from .joint import Backward, Choice

__all__ = ["Context", "empty_like_result"]


class Context:
    """What the node of one run is asked by the engine."""

    node: Any
    saved: list[Any]
    layouts: list[Any]

    def __init__(
        self,
        backward: Backward,
        inputs: list[Any],
        results: list[Tensor],  # all of the program that want gradients
        again: Any,  # the program itself, or None
    ) -> None:
        self.backward, self.again = backward, again
        self.freed = False
        self.spent: set[int] = set()  # nodes of the program that a backward has used up
        self.walked: set[int] = set()  # those of the last one
        tensors = [t for t in inputs if isinstance(t, Tensor)] if again is not None else []
        self.versions = [(t, t._version) for t in tensors]
        self.wanted = [inputs[n] for n in backward.inputs]
        self.earlier = [_alias(results[n]) for n in backward.earlier] if again is not None else []

    def start(self, node: Any, results: list[Tensor], saved: list[Any]) -> None:
        """The results come from `node` from now on, which keeps what was saved."""
        self.node = weakref.ref(node)
        for number, result in enumerate(results):
            runtime.set_history(node, number, result)
        own = {id(r) for r in results}
        self.saved = [
            runtime.save_for_node(value, id(value) in own) if isinstance(value, Tensor) else value
            for value in saved
        ]
        self.layouts = [(r.shape, r.dtype, r.stride(), r.device) for r in results]

    def _name(self) -> str:
        return "CompiledBackward"

    def _release(self) -> None:
        """The engine is done with this backward. The other results may have one of their own, if it
        goes through none of the same nodes.
        """
        self.spent |= self.walked
        if not any(self.spent.isdisjoint(nodes) for nodes in self.backward.uses):
            self.saved, self.freed, self.again, self.versions = [], True, None, []
            self.earlier = []

    def _run_backward(self, *gradients: Any) -> tuple[Any, ...]:
        used = [n for n, g in zip(self.backward.uses, gradients, strict=True) if g is not None]
        self.walked = set().union(*used)
        if self.freed or not self.spent.isdisjoint(self.walked):
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved "
                "tensors after they have already "
                "been freed). Specify retain_graph=True if you need to backward through the graph "
                "a second time."
            )
        node = self.node()
        saved = [v if isinstance(v, float) else runtime.unpack_saved(node, v) for v in self.saved]
        chosen = tuple(g is not None for g in gradients)
        given = [g if taeda.is_grad_enabled() else g.detach() for g in gradients if g is not None]
        if taeda.is_grad_enabled():
            return self._over_edges(self._differentiable(chosen, given))
        apart = self._has_sums_begun(node)
        came = self.backward.found(saved, chosen, given, apart)
        if came is None:
            came = self._otherwise(saved, chosen, given, apart)
        return self._over_edges(came)

    def _has_sums_begun(self, node: Any) -> bool:
        """Whether what the program adds up is to be added to a gradient that is there."""
        shared = self.backward.shared
        if not shared:
            return False
        begun = runtime.sums_begun(node)
        return any(begun[edge] for edge in shared)

    def _over_edges(self, came: list[list[Tensor]]) -> tuple[Tensor | None, ...]:
        edges, counts = self.backward.edges, self.backward.counts
        rest = [
            iter(some if len(some) <= count else [sum(some[1:], some[0])])
            for some, count in zip(came, counts, strict=True)
        ]
        return tuple([next(rest[place], None) for place in edges])

    def _otherwise(
        self, saved: list[Any], chosen: Choice, tangents: list[Tensor], apart: bool
    ) -> list[list[Tensor]]:
        """What comes where no program is for these results, or for the layout of their gradients."""
        if self.again is not None and not self._is_written() and self.again.holds():
            with taeda.enable_grad():
                start, ends, _ = self._again(chosen)
            return arrived(start, ends, tangents, True)
        layouts = [layout for layout, one in zip(self.layouts, chosen, strict=True) if one]
        copied = [
            empty_like_result(*layout).copy_(t) for t, layout in zip(tangents, layouts, strict=True)
        ]
        known = (chosen, apart) in self.backward.programs
        found = self.backward.found(saved, chosen, copied, apart) if known else None
        came = found if known else self.backward.each(saved, chosen, copied)
        if came is None:
            raise RuntimeError("a saved value is no longer what it was when it was saved")
        return came

    def _is_written(self) -> bool:
        return any(t._version != version for t, version in self.versions)

    def _differentiable(self, chosen: Choice, gradients: list[Tensor]) -> list[list[Tensor]]:
        """With create_graph the program itself runs again, as Python."""
        if self.again is None:
            raise RuntimeError(
                "the gradient of a compiled program cannot be differentiated once more if the "
                "program draws numbers, writes to its "
                "inputs or calls operators that were defined at run time: call what "
                "taeda.compiler.disable gives for it"
            )
        if self._is_written():
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                "inplace operation since the compiled "
                "program read it"
            )
        if not self.again.holds():
            raise RuntimeError(
                "create_graph=True differentiates the program itself, and something that it reads has "
                "changed since the compiled program ran: a global, an attribute, a mode of a module. "
                "Take the gradient before that changes, or call what taeda.compiler.disable gives"
            )
        start, ends, behind = self._again(chosen)
        came = arrived(start, ends, gradients, True, create_graph=True)
        if not self.earlier:
            return came
        ends, behind = [*ends, *gradients], [*behind, *gradients]
        return [relinked(some, ends, behind) for some in came]

    def _again(self, chosen: Choice) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """The program once more: where a walk begins, where it ends, and the tensors of the caller
        in place of those ends.
        """
        program: Any = self.again  # not None: who calls this asked
        results = program()
        start = [r for r, one in zip(self.backward.own(results), chosen, strict=True) if one]
        ends = [*self.wanted, *(results[place] for place in self.backward.earlier)]
        return start, ends, [*self.wanted, *self.earlier]


def _alias(result: Tensor) -> Tensor:
    """A tensor with the history that a result has now, whatever is written to that later."""
    made = result.detach()
    runtime.set_history(*runtime.gradient_edge(result), made)
    return made


def empty_like_result(shape: Any, dtype: Any, strides: Any, device: Any) -> Tensor:
    """Memory for a gradient of a result with these strides; one number for each place, where the
    result is expanded.
    """
    if any(size > 1 and step == 0 for size, step in zip(shape, strides, strict=True)):
        return taeda.empty(shape, dtype=dtype, device=device)
    return taeda.empty_strided(shape, strides, dtype=dtype, device=device)
