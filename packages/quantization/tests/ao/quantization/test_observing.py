"""Who is observed, and by what."""

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q


def test_a_leaf_with_a_qconfig_is_wrapped():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)).eval()
    model[1].qconfig = q.default_qconfig
    made = q.add_quant_dequant(model)
    assert type(made[1]) is q.QuantWrapper


def test_what_is_refused_and_warned():
    with pytest.warns(UserWarning, match="no module has a qconfig"):
        q.prepare(nn.Sequential(nn.Linear(2, 2)))
    model = nn.Sequential(nn.Linear(2, 2))
    model.qconfig = "x86"
    with pytest.raises(RuntimeError, match="is a str"):
        q.prepare(model)


def test_a_qconfig_goes_down_to_what_has_none_of_its_own():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    own = model[1].qconfig = q.default_dynamic_qconfig
    q.propagate_qconfig_(model, {"": q.default_qconfig, "1.1": q.float16_dynamic_qconfig})
    assert [m.qconfig for m in (model[0], *model[1])] == [
        q.default_qconfig,
        own,
        q.float16_dynamic_qconfig,
    ]
    with pytest.raises(RuntimeError, match="no modules of the names"):
        q.propagate_qconfig_(model, {"nine": None})


def test_observers_see_results_once(ready):
    _, watched = ready()
    seen = [m for m in watched.modules() if hasattr(m, "min_val")]
    assert seen and not any(m.min_val.isfinite().any() for m in seen if m.min_val.numel())
    watched(taeda.rand(2, 1, 8, 8))
    assert all(m.min_val.numel() for m in seen if m.dtype is taeda.quint8)
