"""Models that are written the slow way."""

from __future__ import annotations

import weakref
from collections import Counter
from typing import Any

import taeda
from taeda import Tensor

from ._run import Call, Finding, Run, Waste

__all__ = ["GraphsInEvaluation", "HandwrittenAttention"]

_PRODUCTS = frozenset(("matmul", "bmm", "baddbmm"))
_BETWEEN = frozenset((
    "add", "clone", "contiguous", "div", "masked_fill", "mul", "reshape", "sub", "_to_copy", "unsqueeze",
    "view", "where", "dropout", "native_dropout",
))  # fmt: skip


class HandwrittenAttention(Waste):
    """softmax(q k) v as three operations and their table of weights in memory."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._kinds: dict[int, tuple[weakref.ref[Tensor], str, int]] = {}
        self._counts: Counter[str] = Counter()
        self._took: Counter[str] = Counter()

    def operation(self, call: Call) -> None:
        """Only what the program writes itself: layers of the library have their reasons."""
        made = call.made[0] if isinstance(call.made, (tuple, list)) and call.made else call.made
        if not isinstance(made, Tensor) or not call.own:
            return
        before = next((kind for kind in map(self._kind, call.args) if kind), None)
        name = call.name
        if name in _PRODUCTS and before and before[0] == "weights":
            self._counts[call.place] += 1
            self._took[call.place] += before[1] + call.took
        elif name in _PRODUCTS and made.ndim >= 3 and made.shape[-1] > 1:
            self._note(made, "scores", call.took)
        elif before and name in ("softmax", "_softmax") and before[0] == "scores":
            self._note(made, "weights", before[1] + call.took)
        elif before and name in _BETWEEN:
            self._note(made, before[0], before[1] + call.took)

    def _note(self, made: Tensor, kind: str, took: int) -> None:
        if len(self._kinds) > 256:
            self._kinds = {key: one for key, one in self._kinds.items() if one[0]() is not None}
        self._kinds[id(made)] = weakref.ref(made), kind, took

    def _kind(self, value: Any) -> tuple[str, int] | None:
        known = self._kinds.get(id(value))
        return (known[1], known[2]) if known is not None and known[0]() is value else None

    def found(self) -> list[Finding]:
        return [
            Finding(
                place,
                f"attention is written by hand, {count} times: the table of weights lies in memory, and is "
                "passed over for each operation. Where the weights themselves are not wanted, call "
                "nn.functional.scaled_dot_product_attention.",
                f"half or more of what these operations take, {self.run.share(self._took[place])}, and the "
                "memory of the table",
            )
            for place, count in self._counts.most_common(3)
        ]


class GraphsInEvaluation(Waste):
    """A model in eval mode that writes a graph, and no backward pass follows."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._counts: Counter[str] = Counter()
        self._open: str | None = None  # the last such call, for whose backward pass one waits

    def model(self, module: Any, args: tuple[Any, ...], place: str) -> None:
        self._settle()
        graph = taeda.is_grad_enabled() and any(p.requires_grad for p in module.parameters())
        if graph and not module.training:
            self._open = place

    def operation(self, call: Call) -> None:
        if call.backward:
            self._open = None  # the graph was wanted

    def _settle(self) -> None:
        if self._open is not None:
            self._counts[self._open] += 1
        self._open = None

    def found(self) -> list[Finding]:
        self._settle()
        return [
            Finding(
                place,
                f"a model in eval mode writes a graph, {count} times. Put the call into `with "
                "taeda.inference_mode():`.",
                "the memory of all results between the layers, and a few microseconds an operation",
            )
            for place, count in self._counts.items()
            if count >= 3
        ]
