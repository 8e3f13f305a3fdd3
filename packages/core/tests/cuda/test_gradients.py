"""Gradients cross devices on the stand-in driver: each arrives where its tensor is."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
x = taeda.tensor([1.0, 2.0, 3.0], requires_grad=True)
for _ in range(2):  # the second time there is a gradient already
    (x.to("cuda") * 2).sum().backward()
assert x.grad.device.type == "cpu" and x.grad.tolist() == [4.0, 4.0, 4.0]
y = taeda.tensor([1.0, 2.0], device="cuda", requires_grad=True)
(y.cpu() * taeda.tensor([3.0, 4.0])).sum().backward()
assert y.grad.device.type == "cuda" and y.grad.tolist() == [3.0, 4.0]
scale = taeda.tensor(2.0, requires_grad=True)  # a number of the cpu beside a tensor of the device
(y * scale).sum().backward()
assert scale.grad.device.type == "cpu" and scale.grad.item() == 3.0, scale.grad
x = taeda.tensor([2.0], requires_grad=True)
(first,) = taeda.autograd.grad((x.cuda() ** 3).sum(), x, create_graph=True)
(second,) = taeda.autograd.grad(first.sum(), x)
assert first.device.type == second.device.type == "cpu" and (first.item(), second.item()) == (12.0, 12.0)
narrow = taeda.tensor([2.0], requires_grad=True)
narrow.to("cuda", taeda.float64).sum().backward()
assert narrow.grad.dtype == taeda.float32 and narrow.grad.device.type == "cpu"
model = taeda.nn.Linear(3, 2)
model(taeda.ones(1, 3)).sum().backward()
kept = model.weight
model.cuda()(taeda.ones(1, 3, device="cuda")).sum().backward()
assert (
    kept is model.weight
    and kept.grad.device.type == "cuda"
    and kept.grad.tolist() == [[2.0] * 3] * 2
), kept.grad
"""


@pytest.mark.slow
def test_gradients_arrive_on_the_device_of_their_tensor():
    standin.run(PROGRAM, TAEDA_CUDA_FALLBACK="")
