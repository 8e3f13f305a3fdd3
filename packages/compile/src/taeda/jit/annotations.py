"""Types under the names by which annotations of TorchScript know them.

>>> BroadcastingList2[int]
int | list[int]
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035 - programs import them here

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List", "Optional",
    "Tuple", "Union",
]  # fmt: skip


class _Broadcasting:
    """A list of so many, or one entry that stands for all of them."""

    def __getitem__(self, item: Any) -> Any:
        return item | list[item]


BroadcastingList1 = _Broadcasting()
BroadcastingList2 = _Broadcasting()
BroadcastingList3 = _Broadcasting()
