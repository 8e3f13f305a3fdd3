"""Observers that compute no range."""

from __future__ import annotations

import pytest

import taeda
from taeda.ao import quantization as q

X = taeda.tensor([[-1.0, 0.5], [2.0, 4.0]])


def test_others():
    fixed = q.FixedQParamsObserver(0.5, 3)
    assert [float(x) for x in fixed.calculate_qparams()] == [0.5, 3.0]
    recording = q.RecordingObserver()
    recording(X)
    assert taeda.equal(recording.get_tensor_value()[0], X)
    for watch in (q.NoopObserver(), q.PlaceholderObserver(), q.ReuseInputObserver(), recording):
        assert watch(X) is X
        with pytest.raises(RuntimeError):
            watch.calculate_qparams()
    assert q.default_dynamic_quant_observer().is_dynamic
