"""What batch and instance normalisation share: parameters, statistics, old states, sizes from the
first input.
"""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.modules._normbase import _NormBase, check_rank

TENSORS = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]


@pytest.mark.parametrize(
    ("options", "there"),
    [({}, TENSORS), ({"affine": False}, TENSORS[2:]), ({"bias": False}, [TENSORS[0], *TENSORS[2:]]),
     ({"track_running_stats": False}, TENSORS[:2]), ({"affine": False, "track_running_stats": False}, [])],
)  # fmt: skip
def test_which_tensors_there_are(options, there):
    layer = _NormBase(3, **options)
    assert list(layer.state_dict()) == there
    assert all(getattr(layer, name) is None for name in set(TENSORS) - set(there))
    assert _NormBase(3, dtype=taeda.float64, **options).extra_repr() == layer.extra_repr()


def test_reset_brings_the_first_values_back():
    layer = nn.BatchNorm1d(2)
    with taeda.no_grad():
        for tensor in (*layer.parameters(), layer.running_mean, layer.running_var):
            tensor.fill_(9)
        layer.num_batches_tracked.fill_(4)
    layer.reset_running_stats()
    assert [layer.running_mean.tolist(), layer.running_var.tolist()] == [[0, 0], [1, 1]]
    assert layer.num_batches_tracked.item() == 0 and layer.weight.tolist() == [9, 9]
    layer.reset_parameters()
    assert layer.weight.tolist() == [1, 1] and layer.bias.tolist() == [0, 0]


@pytest.mark.parametrize("version", [None, 1])
def test_states_of_old_versions_get_a_count(version):
    layer = nn.BatchNorm1d(2)
    layer.num_batches_tracked.fill_(5)
    state = layer.state_dict()
    del state["num_batches_tracked"]
    state._metadata[""]["version"] = version
    layer.load_state_dict(state)
    assert layer.num_batches_tracked.item() == 5
    state = nn.BatchNorm1d(2).state_dict()
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match=r"Missing key.*num_batches_tracked"):
        layer.load_state_dict(state)


def test_ranks():
    check_rank(taeda.ones(1, 2), 2, 3)
    with pytest.raises(ValueError, match=r"expected 2D or 3D input \(got 1D input\)"):
        check_rank(taeda.ones(1), 2, 3)


def test_the_base_does_not_say_which_inputs_it_takes():
    with pytest.raises(NotImplementedError, match="_NormBase does not say"):
        _NormBase(2)._check_input_dim(taeda.ones(1, 2))


@pytest.mark.parametrize(
    "options", [{}, {"affine": False}, {"bias": False}, {"track_running_stats": False}]
)
def test_a_lazy_one_becomes_what_was_asked_for(options):
    lazy, plain = nn.LazyBatchNorm1d(eps=0.1, **options), nn.BatchNorm1d(3, eps=0.1, **options)
    x = taeda.randn(5, 3)
    assert taeda.equal(lazy(x), plain(x))
    assert type(lazy) is nn.BatchNorm1d and lazy.num_features == 3
    assert repr(lazy) == repr(plain)
    assert list(lazy.state_dict()) == list(plain.state_dict())
    with pytest.raises(RuntimeError, match=r"[34]"):
        lazy(taeda.randn(5, 4))
