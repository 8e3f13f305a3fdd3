"""State dicts: what is in them, and all rules of loading."""

from __future__ import annotations

import io
import re
from collections import OrderedDict

import pytest
from every_kind import KINDS

import taeda
from taeda import nn


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))


KEYS = [
    "0.weight",
    "0.bias",
    "1.weight",
    "1.bias",
    "1.running_mean",
    "1.running_var",
    "1.num_batches_tracked",
]


# ---- write ----


def test_keys_memory_and_metadata():
    model = net()
    state = model.state_dict()
    assert list(state) == KEYS
    assert not state["0.weight"].requires_grad
    assert state["0.weight"].data_ptr() == model[0].weight.data_ptr()
    assert state._metadata == {"": {"version": 1}, "0": {"version": 1}, "1": {"version": 2}}
    assert model.state_dict(keep_vars=True)["0.weight"] is model[0].weight


def test_prefix_and_destination():
    target = OrderedDict()
    assert net().state_dict(destination=target, prefix="p.") is target
    assert list(target) == [f"p.{key}" for key in KEYS]
    with pytest.warns(FutureWarning, match="Positional args"):
        assert list(net().state_dict({}, "q.", False)) == [f"q.{key}" for key in KEYS]


def test_empty_places_are_left_out():
    layer = nn.Linear(2, 3, bias=False)
    assert list(layer.state_dict()) == ["weight"]


# ---- read ----


def test_values_are_copied_and_cast():
    model, other = net(), net().double()
    before = model[0].weight
    keys = model.load_state_dict(other.state_dict())
    assert repr(keys) == "<All keys matched successfully>"
    assert model[0].weight is before
    assert before.dtype is taeda.float32
    assert taeda.allclose(before.double(), other[0].weight)


def test_assign_takes_the_tensors_themselves():
    model, other = net(), net().double()
    state = other.state_dict()
    model[0].weight.requires_grad_(False)
    model.load_state_dict(state, assign=True)
    assert model[0].weight.dtype is taeda.float64
    assert isinstance(model[0].weight, nn.Parameter)
    assert not model[0].weight.requires_grad
    assert model[1].running_mean is state["1.running_mean"]


def test_all_problems_in_one_error_and_the_rest_is_loaded():
    model = net()
    state = model.state_dict()
    del state["0.bias"], state["1.running_var"]
    state["extra.key"] = taeda.ones(1)
    state["0.weight"] = taeda.ones(5)
    state["1.weight"] = taeda.full((3,), 7.0)
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict(state)
    message = str(caught.value)
    for fact in (
        '"0.bias", "1.running_var"',
        '"extra.key"',
        "size mismatch for 0.weight",
        "[5]",
        "[3, 2]",
    ):
        assert fact in message
    assert model[1].weight.tolist() == [7, 7, 7]


def test_not_strict_reports_keys_but_refuses_shapes():
    model = net()
    state = model.state_dict()
    del state["0.bias"]
    state["extra"] = taeda.ones(1)
    keys = model.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["0.bias"]
    assert keys.unexpected_keys == ["extra"]
    state["0.weight"] = taeda.ones(1)
    with pytest.raises(RuntimeError, match="size mismatch"):
        model.load_state_dict(state, strict=False)


def test_one_element_fits_a_scalar():
    model = net()
    state = model.state_dict()
    state["1.num_batches_tracked"] = taeda.tensor([7])
    model.load_state_dict(state)
    assert model[1].num_batches_tracked.item() == 7


def test_refusals():
    with pytest.raises(TypeError, match="dict-like"):
        net().load_state_dict([1])
    with pytest.raises(RuntimeError, match=r"expected taeda\.Tensor"):
        net().load_state_dict({**net().state_dict(), "0.weight": 3})
    with pytest.raises(RuntimeError, match=r'Unexpected.*"bias"'):
        nn.Linear(2, 3, bias=False).load_state_dict(nn.Linear(2, 3).state_dict())


def test_a_meta_module_warns_that_nothing_happens():
    with pytest.warns(UserWarning, match="no-op"):
        nn.Linear(2, 3, device="meta").load_state_dict(nn.Linear(2, 3).state_dict())


def test_tied_weights_are_in_it_twice_and_stay_tied():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    model.load_state_dict(model.state_dict())
    assert model[1].weight is model[0].weight


def test_old_batch_norms_get_a_count():
    model = net()
    state = dict(model.state_dict())  # no metadata: nobody knows the version
    del state["1.num_batches_tracked"]
    model.load_state_dict(state)
    assert model[1].num_batches_tracked.item() == 0


def test_through_a_file():
    model, other = net(), net()
    file = io.BytesIO()
    taeda.save(model.state_dict(), file)
    file.seek(0)
    other.load_state_dict(taeda.load(file))
    x = taeda.randn(4, 2)
    assert taeda.equal(model(x), other(x))


# ---- extra state and hooks ----


class Extra(nn.Module):
    def __init__(self, value=0):
        super().__init__()
        self.value = value

    def get_extra_state(self):
        return {"value": self.value}

    def set_extra_state(self, state):
        self.value = state["value"]


def test_extra_state():
    state = nn.Sequential(Extra(5)).state_dict()
    assert list(state) == ["0._extra_state"]
    model = nn.Sequential(Extra())
    model.load_state_dict(state)
    assert model[0].value == 5
    with pytest.raises(RuntimeError, match="Missing"):
        model.load_state_dict({})
    with pytest.raises(RuntimeError, match="Unexpected"):
        nn.Sequential(nn.ReLU()).load_state_dict(state)


def test_hooks_of_state_dict():
    log = []
    model = net()
    model.register_state_dict_pre_hook(lambda m, prefix, keep: log.append((prefix, keep)))
    model[0].register_state_dict_post_hook(
        lambda m, state, prefix, meta: state.pop(f"{prefix}bias")
    )
    with pytest.raises(RuntimeError, match="must return None"):
        model.state_dict()
    assert log == [("", False)]


def test_hooks_of_load_state_dict():
    model = net()
    model[0].register_load_state_dict_pre_hook(
        lambda m, state, prefix, *_: state.update({f"{prefix}bias": state.pop(f"{prefix}old")})
    )
    model.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    state = model.state_dict()
    state["0.old"] = state.pop("0.bias") + 1
    before = model[0].bias.detach().clone()
    del state["1.weight"]
    assert model.load_state_dict(state).missing_keys == []
    assert taeda.allclose(model[0].bias.detach(), before + 1)


@pytest.mark.parametrize("cloned", [False, True])
@pytest.mark.parametrize("meta", [False, True])
def test_assigned_values_keep_weights_tied(meta, cloned):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)
            self.b.weight = self.a.weight

    state = {k: v.clone() if cloned else v for k, v in Tied().state_dict().items()}
    with taeda.device("meta" if meta else "cpu"):
        model = Tied()
    model.load_state_dict(state, assign=True)
    assert model.a.weight is model.b.weight
    assert model.c.weight is not model.a.weight
    assert len(list(model.parameters())) == 5
    assert all(taeda.equal(v, state[k]) for k, v in model.state_dict().items())
    state["b.weight"] = state["b.weight"] + 1  # the checkpoint says that they differ
    model.load_state_dict(state, assign=True)
    assert model.a.weight is not model.b.weight
    assert taeda.equal(model.b.weight, state["b.weight"])


def _with_buffer(x):
    model = nn.Module()
    model.register_buffer("x", x)
    return model


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_buffers_of_every_kind(kind, assign):
    """They are loaded, or a sentence says that `assign=True` loads them."""
    file = io.BytesIO()
    taeda.save(_with_buffer(KINDS[kind]()).state_dict(), file, format="pt")
    file.seek(0)
    model = _with_buffer(KINDS[kind]())
    if assign or kind not in ("jagged", "nested", "masked"):
        model.load_state_dict(taeda.load(file), assign=assign)
        assert re.sub(r"j\d+", "j", repr(model.x)) == re.sub(r"j\d+", "j", repr(KINDS[kind]()))
        return
    with pytest.raises(RuntimeError, match=r"assign=True|no kernel for a MaskedTensor"):
        model.load_state_dict(taeda.load(file))


def test_a_nested_buffer_is_no_plain_one():
    state = _with_buffer(KINDS["jagged"]()).state_dict()
    with pytest.raises(RuntimeError, match="into a module with a nested one"):
        _with_buffer(taeda.ones(2)).load_state_dict(state, assign=True)
