"""Objects of the real torch in arguments of taeda end in a sentence that says so, also in operators."""

import pytest
import torch

import taeda
from taeda import nn, optim

X, T = taeda.ones(2, 2), torch.ones(2, 2)
CALLS = {
    "to a dtype": lambda: X.to(torch.float64),
    "to a device": lambda: X.to(torch.device("cpu")),
    "to a tensor": lambda: X.to(T),
    "left": lambda: X + T,
    "right": lambda: T + X,
    "subclass": lambda: T * nn.Parameter(X),
    "function": lambda: taeda.add(X, T),
    "equal": lambda: T == X,
    "matmul": lambda: T @ X,
    "list": lambda: taeda.cat([X, T]),
    "dtype": lambda: taeda.ones(2, dtype=torch.float32),
    "of the other": lambda: torch.add(T, X),
    "device": lambda: taeda.ones(2, device=torch.device("cpu")),
    "layer": lambda: nn.Linear(2, 2)(T),
    "loss": lambda: nn.functional.cross_entropy(X, torch.tensor([0, 1])),
    "parameter": lambda: nn.Parameter(T),
    "optimizer": lambda: optim.SGD([torch.nn.Parameter(T)], lr=1),
    "module": lambda: nn.Sequential(torch.nn.Linear(2, 2)),
    "module to": lambda: nn.Linear(2, 2).to(torch.float64),
    "buffer": lambda: nn.Module().register_buffer("b", T),
    "generator": lambda: taeda.rand(2, generator=torch.Generator()),
    "format": lambda: X.contiguous(memory_format=torch.channels_last),
    "copy": lambda: X.copy_(T),
    "backward": lambda: nn.Parameter(X).sum().backward(torch.ones(())),
    "where": lambda: taeda.where(X > 0, X, T),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_objects_of_the_real_torch_are_named(call):
    with pytest.raises(TypeError, match="PyTorch itself"):
        call()


def test_state_of_a_real_module():
    with pytest.raises(RuntimeError, match="PyTorch itself"):
        nn.Linear(2, 2).load_state_dict(torch.nn.Linear(2, 2).state_dict())


def test_memory_is_shared_as_the_sentence_says():
    there = torch.zeros(2)
    taeda.from_dlpack(there.detach()).add_(1)
    assert there.tolist() == [1, 1]
