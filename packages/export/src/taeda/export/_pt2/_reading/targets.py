"""Which function a node calls, and what its results are called."""

from __future__ import annotations

import re
from typing import Any

import taeda
from taeda._core_api.files import FormatError

from ..._functions import NAMES
from .._kinds import NUMBERS, TENSORS
from .._operators import FUNCTIONS

__all__ = ["part_names", "target_of"]

_FUNCTIONS = {f"torch.ops.higher_order.{name}": target for target, name in NAMES.items()}
_TARGET = re.compile(r"torch\.ops\.(aten|taeda)\.([A-Za-z_]\w{0,80})\.([A-Za-z_]\w{0,80})\Z")


def target_of(text: Any) -> Any:
    """The function of a name in the tables; FormatError for others."""
    for table in (NUMBERS, FUNCTIONS):
        if text in table:
            return table[text]
    found = _TARGET.match(text) if isinstance(text, str) else None
    if text in _FUNCTIONS:
        return _FUNCTIONS[text]
    if text == "torch.ops.aten.sym_size.int":
        return taeda.ops.aten.sym_size.int
    if found:
        row = f"{found[2]}.{found[3]}"
        name, overload = TENSORS.get(row, row).split(".")
        if name in dir(taeda.ops.aten):
            packet = getattr(taeda.ops.aten, name)
            if overload in packet.overloads():
                return getattr(packet, overload)
    raise FormatError(
        f"the program calls {text!r:.100}, which is no operator of taeda {taeda.__version__}"
    )


def part_names(outputs: list[tuple[str, Any]]) -> list[str]:
    """The names of the results of a node with several."""
    if len(outputs) == 1 and outputs[0][0] == "as_tensors":
        return [entry["name"] for entry in outputs[0][1]]
    made: list[str] = []
    for kind, value in outputs:
        if kind != "as_tensor":
            raise FormatError(f"a result of the kind {kind!r:.60} is not read")
        made.append(value["name"])
    return made
