"""Operators of one's own, without derivatives (those are in autograd's tests)."""

from __future__ import annotations

import pytest

from taeda import library


@pytest.mark.parametrize(
    "refused",
    [
        lambda: library.triton_op("tlib::kernel", mutates_args=()),
        lambda: library.triton_op("tlib::kernel", abs, mutates_args={"out"}),
        lambda: library.wrap_triton(abs),
        lambda: library.capture_triton(abs),
    ],
)
def test_triton_is_refused_with_what_serves_instead(refused):
    with pytest.raises(NotImplementedError, match=r"no tensors on one yet.*custom_op"):
        refused()
