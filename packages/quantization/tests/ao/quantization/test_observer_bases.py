"""What observers have in common."""

from __future__ import annotations

import pytest

import taeda
from taeda.ao import quantization as q

X = taeda.tensor([[-1.0, 0.5], [2.0, 4.0]])


def test_what_is_refused():
    for make in (
        lambda: q.MinMaxObserver(qscheme=taeda.per_channel_affine),
        lambda: q.PerChannelMinMaxObserver(qscheme=taeda.per_tensor_affine),
        lambda: q.PerChannelMinMaxObserver(is_dynamic=True),
        lambda: q.HistogramObserver(is_dynamic=True),
        lambda: q.MovingAverageMinMaxObserver(is_dynamic=True),
        lambda: q.MinMaxObserver(qscheme="affine"),
    ):
        with pytest.raises(NotImplementedError):
            make()


def test_a_frame_for_others():
    class Mine(q.AffineQuantizedObserverBase):
        def forward(self, input):
            return input

        def calculate_qparams(self):
            return taeda.ones(1), taeda.zeros(1)

    made = Mine.with_args(
        mapping_type=q.MappingType.SYMMETRIC, target_dtype=taeda.int8, granularity=q.PerTensor()
    )()
    assert made(X) is X
    with pytest.raises(ValueError, match="zero_point_domain"):
        Mine(q.MappingType.SYMMETRIC, taeda.int8, q.PerTensor(), zero_point_domain=None)
