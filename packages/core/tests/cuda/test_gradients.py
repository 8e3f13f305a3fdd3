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


WRITES = """
import itertools
import taeda
taeda.manual_seed(0)
VIEWS = {
    "narrow": lambda y: y.narrow(0, 1, 2), "select": lambda y: y[1], "turned": lambda y: y.t()[1:],
    "steps": lambda y: y[:, ::2], "diagonal": lambda y: y.diagonal(), "flat": lambda y: y.view(-1)[3:9],
    "chain": lambda y: y[1:].t()[::2].unsqueeze(0), "strided": lambda y: y.as_strided((2, 3), (5, 1), 1),
    "empty": lambda y: y[2:2],
}
WRITE = {
    "tanh_": lambda v: v.tanh_(), "mul_": lambda v: v.mul_(v.detach() + 2), "number": lambda v: v.mul_(3),
    "exp_": lambda v: v.exp_(), "clamp_": lambda v: v.clamp_(-0.5, 0.5), "zero_": lambda v: v.zero_(),
    "fill": lambda v: v.masked_fill_(v.detach() > 0, 2.0), "pow_": lambda v: v.pow_(2),
    "copy_": lambda v: v.copy_(v.detach().flip(-1) * 2), "sigmoid_": lambda v: v.sigmoid_(),
}
def gradients(x, view, write, ends, twice):
    x = x.detach().requires_grad_()
    y = x * 1.5
    v = view(y)
    write(v)
    out = (v if ends == "view" else y) * 2
    g, = taeda.autograd.grad(out.pow(2).sum(), x, create_graph=twice)
    return taeda.autograd.grad(g.pow(2).sum(), x)[0] if twice and g.requires_grad else g
x = taeda.randn(4, 5, dtype=taeda.float64)
near = x.cuda()
for view, write, ends, twice in itertools.product(VIEWS, WRITE, ("view", "base"), (False, True)):
    how = VIEWS[view], WRITE[write], ends, twice
    wanted = gradients(x, *how)
    gradients(near, *how)
    taeda.cuda.set_sync_debug_mode("error")  # no copy to the host and back
    made = gradients(near, *how)
    taeda.cuda.set_sync_debug_mode("default")
    assert made.device == near.device, (view, write, ends, twice)
    assert taeda.allclose(made.cpu(), wanted, rtol=1e-12, atol=1e-12), (view, write, ends, twice)
z = taeda.randn(4, 5, dtype=taeda.complex128)
def parts(z):
    z = z.detach().requires_grad_()
    y = z * 1
    taeda.view_as_real(y)[..., 0].sin_()
    y[1].conj().mul_(2j)
    y.imag.exp_()
    y.abs().sum().backward()
    return z.grad
assert taeda.allclose(parts(z.cuda()).cpu(), parts(z))
"""


@pytest.mark.slow
def test_writes_through_views_have_gradients_on_the_device():
    standin.run(WRITES, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")


def test_random_pruning_of_a_module_on_a_device():
    standin.run(
        """
import taeda
prune = taeda.nn.utils.prune
for name, options in (("random_unstructured", {}), ("random_structured", {"dim": 0})):
    masks = []
    for device in ("cpu", "cuda"):
        taeda.manual_seed(0)
        module = taeda.nn.Linear(4, 6).to(device)
        masks.append(getattr(prune, name)(module, "weight", amount=0.5, **options).weight_mask.cpu())
    assert taeda.equal(*masks) and masks[0].sum() == 12
""",
        TAEDA_CUDA_FALLBACK="",
    )
