"""Modules whose activations are computed again, or kept elsewhere."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    ActivationWrapper,
    CheckpointImpl,
    CheckpointWrapper,
    apply_activation_checkpointing,
    checkpoint_wrapper,
    offload_wrapper,
)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.calls = nn.Linear(3, 3), 0

    def forward(self, x, *, by):
        self.calls += 1
        return self.layer(x).tanh() * by


@pytest.mark.parametrize("impl", CheckpointImpl)
def test_gradients_are_those_of_the_module_inside(impl):
    inside = Scaled()
    wrapped = checkpoint_wrapper(inside, impl)
    x = taeda.randn(2, 3, requires_grad=True)
    wrapped(x, by=taeda.tensor(2.0)).sum().backward()
    found = [x.grad, *(p.grad for p in inside.parameters())]
    assert inside.calls == 2
    x.grad = None
    inside.zero_grad()
    inside(x, by=taeda.tensor(2.0)).sum().backward()
    assert all(map(taeda.equal, found, [x.grad, *(p.grad for p in inside.parameters())]))


def test_names_and_attributes_are_those_of_the_module_inside():
    inside = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    model = nn.Sequential(checkpoint_wrapper(inside), nn.Linear(2, 1))
    assert list(model.state_dict()) == ["0.0.weight", "0.0.bias", "1.weight", "1.bias"]
    assert [name for name, _ in model[0].named_parameters()] == ["0.weight", "0.bias"]
    plain = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Linear(2, 1))
    model.load_state_dict(plain.state_dict())
    plain.load_state_dict(model.state_dict())
    x = taeda.randn(3, 2)
    assert taeda.equal(model(x), plain(x))
    assert model[0][0] is inside[0] and model[0].training


def test_saved_tensors_kept_elsewhere():
    inside = nn.Linear(3, 3)
    x = taeda.randn(2, 3, requires_grad=True)
    if not taeda.cuda.is_available():  # pinned memory is asked of a device
        with pytest.raises(RuntimeError, match="pin"):
            offload_wrapper(inside)(x).sum().backward()
        return
    offload_wrapper(inside)(x).sum().backward()
    assert x.grad is not None


def test_some_modules_of_a_model():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    apply_activation_checkpointing(model, check_fn=lambda m: isinstance(m, nn.Linear))
    assert isinstance(model[0], CheckpointWrapper) and isinstance(model[1][0], ActivationWrapper)
    assert not isinstance(model[1], ActivationWrapper)
    model(taeda.randn(1, 2)).sum().backward()
    with pytest.raises(NotImplementedError, match="check_fn"):
        apply_activation_checkpointing(model, auto_wrap_policy=lambda **_: True)
    with pytest.raises(ValueError, match="implement forward"):
        ActivationWrapper(nn.Linear(1, 1))(1)
