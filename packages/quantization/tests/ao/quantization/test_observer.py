"""Observers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q

X = taeda.tensor([[-1.0, 0.5], [2.0, 4.0]])


def test_ranges():
    watch = q.MinMaxObserver()
    assert watch(X) is X
    watch(X * 2)
    assert (float(watch.min_val), float(watch.max_val)) == (-2.0, 8.0)
    moving = q.MovingAverageMinMaxObserver(averaging_constant=0.5)
    moving(X)
    moving(X * 2)
    assert (float(moving.min_val), float(moving.max_val)) == (-1.5, 6.0)
    channels = q.PerChannelMinMaxObserver(ch_axis=1)
    channels(X)
    assert (channels.min_val.tolist(), channels.max_val.tolist()) == ([-1.0, 0.5], [2.0, 4.0])
    slow = q.MovingAveragePerChannelMinMaxObserver(averaging_constant=0.5)
    slow(X)
    slow(X * 2)
    assert slow.max_val.tolist() == [0.75, 6.0]


@pytest.mark.parametrize(
    "kind", [q.MinMaxObserver, q.HistogramObserver, q.PerChannelMinMaxObserver]
)
def test_reset(kind):
    watch = kind()
    assert not watch.has_seen()
    watch(X)
    assert watch.has_seen()
    watch.reset_min_max_vals()
    assert not watch.has_seen()
    with pytest.warns(UserWarning, match="seen nothing"):
        scale, zero = watch.calculate_qparams()
    assert (float(scale), int(zero)) == (1.0, 0)


@pytest.mark.parametrize("kind", [q.MinMaxObserver, q.PerChannelMinMaxObserver])
def test_nan_has_no_scale(kind):
    watch = kind()
    watch(X * float("nan"))
    with pytest.raises(RuntimeError, match="NaN"):
        watch.calculate_qparams()
    with pytest.raises(RuntimeError, match="NaN"):
        q.HistogramObserver()(X * float("nan"))


def test_histograms_leave_infinite_numbers_out():
    watch = q.HistogramObserver(bins=16)
    with pytest.warns(UserWarning, match="infinite"):
        watch(taeda.tensor([1.0, float("inf"), -1.0]))
    assert float(watch.histogram.sum()) == 2.0
    watch(taeda.empty(0))
    assert float(watch.max_val) == 1.0


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


def test_what_was_seen_goes_from_model_to_model():
    def made():
        model = nn.Sequential(q.QuantStub(), nn.Linear(2, 2))
        model.qconfig = q.default_qconfig
        return q.prepare(model.eval())

    one, other = made(), made()
    one(X)
    state = q.get_observer_state_dict(one)
    q.load_observer_state_dict(other, state)
    assert taeda.equal(other[0].activation_post_process.max_val, taeda.tensor(4.0))
    with pytest.raises(RuntimeError, match="missing"):
        q.load_observer_state_dict(other, {})


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
