"""Types under names of TorchScript."""

from __future__ import annotations

import typing

from taeda.jit import annotations


def test_lists_that_one_entry_stands_for():
    for name in ("BroadcastingList1", "BroadcastingList2", "BroadcastingList3"):
        assert getattr(annotations, name)[int] == int | list[int]
    assert annotations.Optional is typing.Optional and annotations.List is typing.List  # noqa: UP006
