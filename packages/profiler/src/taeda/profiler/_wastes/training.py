"""Steps of training that are wrong or slow."""

from __future__ import annotations

from collections import Counter
from typing import Any

import taeda

from ._run import Call, Finding, Run, Waste

__all__ = ["FrozenParts", "KeptGradients", "PlainOptimizers"]

OPERATIONS = 12  # of a step that a fused form does in one
LITTLE = 0.02  # of the run: less is not worth a word


class KeptGradients(Waste):
    """`zero_grad` is missing."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._kept = 0
        self._cleared = True
        self._after: dict[int, Any] = {}
        self._place = ""

    def cleared(self) -> None:
        self._cleared = True

    def operation(self, call: Call) -> None:
        if call.name in ("zero_", "_foreach_zero"):
            self._cleared = True
        if call.name.endswith("backward"):
            self._place = call.place

    def before_step(self, optimizer: Any) -> None:
        held = [p for group in optimizer.param_groups for p in group["params"]]
        same = any(p.grad is not None and self._after.get(id(p)) is p.grad for p in held)
        self._kept += same and not self._cleared
        self._after = {id(p): p.grad for p in held}
        self._cleared = False

    def found(self) -> list[Finding]:
        if self.run.step < 3 or self._kept < self.run.step - 1:
            return []
        return [
            Finding(
                self._place or "the loop of training",
                "no step cleared the gradients, so each adds to those of all before it. Call "
                "optimizer.zero_grad() before backward().",
                "steps that follow the gradient of their own batch",
            )
        ]


class PlainOptimizers(Waste):
    """Optimizers that run operations one by one."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._within: str | None = None
        self._options: dict[str, Any] = {}  # of the last one of the name
        self._other: set[str] = set()  # no fused form of theirs could exist
        self._counts: Counter[str] = Counter()
        self._fused: set[str] = set()
        self._took: Counter[str] = Counter()
        self._places: dict[str, str] = {}
        self._steps: Counter[str] = Counter()

    def before_step(self, optimizer: Any) -> None:
        self._within = name = type(optimizer).__name__
        self._steps[name] += 1
        self._options[name] = optimizer.defaults
        if any(kind.__name__ == "LBFGS" for kind in type(optimizer).__mro__):
            self._other.add(name)

    def after_step(self) -> None:
        self._within = None

    def operation(self, call: Call) -> None:
        """What a closure runs is no work of the optimizer: it records, or is a backward pass."""
        name = self._within
        if name is not None and not call.backward and not taeda.is_grad_enabled():
            self._counts[name] += 1
            self._took[name] += call.took
            self._places[name] = call.place
            if call.name.startswith("_fused"):
                self._fused.add(name)

    def found(self) -> list[Finding]:
        made = []
        for name, count in self._counts.items():
            advice = (
                "Leave its foreach and fused unset: then it runs one."
                if "fused" in self._options[name]
                else "Where Adam, AdamW or SGD of taeda.optim trains as well, take it: it runs one."
            )
            each = count // self._steps[name]
            worth = self._took[name] >= LITTLE * self.run.total
            if each >= OPERATIONS and worth and name not in self._fused | self._other:
                made.append(
                    Finding(
                        self._places[name],
                        f"{name}.step runs {each} operations. {advice}",
                        f"most of what these operations take, {self.run.share(self._took[name])}",
                    )
                )
        return made


class FrozenParts(Waste):
    """Gradients of weights that no optimizer has."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._models: dict[int, tuple[Any, str]] = {}
        self._held: set[int] = set()
        self._idle: Counter[tuple[str, str]] = Counter()

    def model(self, module: Any, args: tuple[Any, ...], place: str) -> None:
        self._models[id(module)] = module, place

    def before_step(self, optimizer: Any) -> None:
        self._held.update(id(p) for group in optimizer.param_groups for p in group["params"])
        for module, place in self._models.values():
            for name, child in module.named_modules():
                own = [p for p in child.parameters(recurse=False) if p.grad is not None]
                if own and not any(id(p) in self._held for p in own):
                    self._idle[place, f"{type(module).__name__}.{name}".rstrip(".")] += 1

    def found(self) -> list[Finding]:
        often = [key for key, count in self._idle.items() if self.run.step >= 3 and count >= 3]
        by_place: dict[str, list[str]] = {}
        for place, name in often:
            by_place.setdefault(place, []).append(name)
        return [
            Finding(
                place,
                f"gradients are computed for {', '.join(names[:4])}{', others' if len(names) > 4 else ''}, "
                "which no optimizer changes. Call requires_grad_(False) on it, or give its parameters to "
                "the optimizer.",
                "the backward pass of these layers, up to two thirds of what they take, and the memory of "
                "their gradients",
            )
            for place, names in by_place.items()
        ]
