"""The context that counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Self

from taeda.utils._python_dispatch import TorchDispatchMode

from ._formulas import FORMULAS
from ._table import counts_as_text

__all__ = ["FlopCounterMode"]


class _Nowhere:
    """Where taeda-nn is not installed there are no modules."""

    parents = frozenset({"Global"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None: ...


class FlopCounterMode(TorchDispatchMode):
    """Counts, for the program and each module in it, what `register_flop_formula` knows the price
    of; other operators count as 0.

    `mods` needs not be given: modules are found as they run. `depth` is how deep the table goes,
    which is printed at the end unless `display` is False. `custom_mapping` holds formulas for this
    count alone, by packets of `taeda.ops`.

    >>> from taeda.utils.flop_counter import FlopCounterMode
    >>> with FlopCounterMode(display=False) as counter:
    ...     _ = taeda.ones(2, 3) @ taeda.ones(3, 4)
    >>> counter.get_total_flops()
    48
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: Mapping[Any, Callable[..., int]] | None = None,
    ) -> None:
        from ._formulas import _of_shapes

        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = {}
        self._formulas = dict(FORMULAS)
        for packet, formula in (custom_mapping or {}).items():
            raw = formula if getattr(formula, "_get_raw", False) else _shaped(_of_shapes, formula)
            self._formulas[packet] = raw

    def __enter__(self) -> Self:
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self._where = _tracker()
        self._where.__enter__()
        return super().__enter__()

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        self._where.__exit__(*raised)
        if self.display:
            print(self.get_table(self.depth))  # what `display` asks for

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        formula = self._formulas.get(func.overloadpacket)
        if formula is not None:
            given = {name: value for name, value in (kwargs or {}).items() if name != "out"}
            cost = formula(*args, **given, out_val=made)
            for place in self._where.parents:
                self.flop_counts[place][func.overloadpacket] += cost
        return made

    def get_total_flops(self) -> int:
        """All that was counted."""
        return sum(self.flop_counts.get("Global", {}).values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """For each module by its place, and for "Global": the count of each operator."""
        return {place: dict(counts) for place, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text: modules to this depth, their operators, shares of the whole."""
        return counts_as_text(self.get_flop_counts(), self.depth if depth is None else depth)


def _shaped(of_shapes: Callable[..., int], formula: Callable[..., int]) -> Callable[..., int]:
    def raw(*args: Any, **kwargs: Any) -> int:
        return of_shapes(formula, *args, **kwargs)

    return raw


def _tracker() -> Any:
    try:
        from taeda.utils.module_tracker import ModuleTracker  # upward; late: of modules
    except ModuleNotFoundError:
        return _Nowhere()
    return ModuleTracker()
