"""Dimensions in the order of names."""

from __future__ import annotations

import pytest

import taeda


def test_align_to():
    x = taeda.arange(6).reshape(2, 3).rename("N", "C")
    made = x.align_to("C", "H", "N")
    assert made.names == ("C", "H", "N")
    assert made.rename(None).tolist() == x.rename(None).t().unsqueeze(1).tolist()
    assert made.data_ptr() == x.data_ptr()
    many = taeda.ones(2, 3, 4, 5, 6, 7, names=tuple("ABCDEF"))
    assert many.align_to("F", "E", ...).names == tuple("FEABCD")
    assert many.align_to("F", ..., "A").shape == (7, 3, 4, 5, 6, 2)


def test_broadcasting_by_names():
    scale = taeda.tensor([1.0, 2.0, 3.0]).refine_names("C")
    for names, shape in (
        ("NHWC", (2, 4, 5, 3)),
        ("NCHW", (2, 3, 4, 5)),
        ("NCHWD", (2, 3, 4, 5, 6)),
    ):
        x = taeda.ones(shape, names=tuple(names))
        made = x * scale.align_as(x)
        assert made.names == tuple(names)
        assert made.select("C", 2).rename(None).flatten().unique().tolist() == [3.0]
    a, b = taeda.align_tensors(scale, x)
    assert a.names == b.names == tuple("NCHWD")
    assert taeda.align_tensors() == ()


def test_a_mask_by_names():
    mask = taeda.tensor([[True, False, True]] * 2).refine_names("W", "H")
    x = taeda.ones(1, 3, 2, 4, names=("N", "H", "W", "C"))
    x.masked_fill_(mask.align_as(x), 0)
    assert x.names == ("N", "H", "W", "C")
    assert x.rename(None)[0, :, 0, 0].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.align_to("C"),
        lambda x: x.align_to("N", None, "C"),
        lambda x: x.align_to("N", "C", "N"),
        lambda x: x.align_to(..., "N", ...),
        lambda x: x.align_as(taeda.ones(2, 3)),
        lambda x: taeda.ones(2, 3).align_to("N", "C"),
    ],
)
def test_refusals(call):
    with pytest.raises(RuntimeError, match=r"align|twice"):
        call(taeda.ones(2, 3, names=("N", "C")))
