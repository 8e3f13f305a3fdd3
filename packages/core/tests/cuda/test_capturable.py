"""Optimizers with capturable=True on the stand-in driver: counts live on the device, and a step
waits for nothing.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

BEGIN = """
import taeda
optim = taeda.optim
SHAPES = ((3, 4), (5,), ())
ALGORITHMS = {
    "Adadelta": [{}, {"weight_decay": 0.1, "maximize": True}],
    "Adam": [{}, {"amsgrad": True, "weight_decay": 0.1}, {"foreach": True}, {"fused": True}],
    "AdamW": [{}, {"amsgrad": True}, {"foreach": True}, {"fused": True, "maximize": True}],
    "Adamax": [{}, {"weight_decay": 0.1}],
    "ASGD": [{}, {"t0": 2, "weight_decay": 0.1}],
    "NAdam": [{}, {"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "RAdam": [{}, {"betas": (0.9, 0.99)}],
    "RMSprop": [{}, {"momentum": 0.9, "centered": True}],
    "Rprop": [{}, {"etas": (0.4, 1.3)}],
}
def parameters(device, dtype=taeda.float32):
    taeda.manual_seed(0)
    return [taeda.rand(shape).to(dtype).to(device).requires_grad_() for shape in SHAPES]
def gradients(step, device, dtype):
    taeda.manual_seed(step + 1)
    return [taeda.randn(shape).to(dtype).to(device) for shape in SHAPES]
def trained(name, device, steps=8, dtype=taeda.float32, **options):
    params = parameters(device, dtype)
    made = getattr(optim, name)(params, **options)
    for step in range(steps):
        for p, g in zip(params, gradients(step, device, dtype), strict=True):
            p.grad = g
        taeda.cuda.set_sync_debug_mode("error")
        made.step()
        taeda.cuda.set_sync_debug_mode("default")
    return params, made
"""
ALL = """
for name, variants in ALGORITHMS.items():
    for options in variants:
        plain = {k: v for k, v in options.items() if k not in ("foreach", "fused")}
        host, _ = trained(name, "cpu", **plain)
        params, made = trained(name, "cuda", capturable=True, **options)
        for a, b in zip(host, params, strict=True):
            assert taeda.allclose(a, b.cpu(), rtol=1e-5, atol=1e-6), (name, options, a, b)
        for p in params:
            for key, value in made.state[p].items():
                assert value.device == p.device, (name, key, value.device)
            assert made.state[p]["step"].item() == 8, (name, made.state[p]["step"])
"""
WAITS = """
# the test above can fail: without capturable an average is read by the host
try:
    trained("ASGD", "cuda")
except RuntimeError as error:
    assert "wait" in str(error) or "synchroni" in str(error), error
else:
    raise AssertionError("nothing waited")
# numbers that live on the device are not read either
beta = [taeda.tensor(x, device="cuda") for x in (0.9, 0.999)]
for options in ({}, {"foreach": True}):
    rate = taeda.tensor(0.01, device="cuda")
    host, _ = trained("Adam", "cpu", lr=0.01)
    params, made = trained("Adam", "cuda", lr=rate, betas=tuple(beta), capturable=True, **options)
    for a, b in zip(host, params, strict=True):
        assert taeda.allclose(a, b.cpu(), rtol=1e-4, atol=1e-5), (options, a, b)
# a state goes out and comes back, and training goes on as if it had not
params, made = trained("NAdam", "cuda", capturable=True)
other = optim.NAdam(params, capturable=True)
other.load_state_dict(made.state_dict())
for p in params:
    assert all(value.device == p.device for value in other.state[p].values())
"""


SCALED = """
# a scaler's numbers stay on the device: the gradients are divided, and an infinity leaves a step out
for name in ("Adam", "AdamW"):
    results = []
    for device in ("cpu", "cuda"):
        params = parameters(device)
        made = getattr(optim, name)(params, fused=True, capturable=device == "cuda")
        for step, found in enumerate((0.0, 1.0, 0.0)):
            for p, g in zip(params, gradients(step, device, taeda.float32), strict=True):
                p.grad = g * 4
            made.grad_scale = taeda.tensor(4.0, device=device)
            made.found_inf = taeda.tensor(found, device=device)
            taeda.cuda.set_sync_debug_mode("error")
            made.step()
            taeda.cuda.set_sync_debug_mode("default")
        results.append([t for p in params for t in (p.detach().cpu(), made.state[p]["step"].cpu())])
    for a, b in zip(*results, strict=True):
        assert taeda.equal(a, b), (name, a, b)
# SGD and Adagrad take them, too
for step in (taeda._fused_sgd_, taeda._fused_adagrad_):
    options = dict(momentum=0.9, dampening=0, nesterov=False, is_first_step=False)
    if step is taeda._fused_adagrad_:
        options = dict(lr_decay=0.1, eps=1e-8)
    for found in (0.0, 1.0):
        results = []
        for device in ("cpu", "cuda"):
            taeda.manual_seed(0)
            lists = [[taeda.rand(5).to(device), taeda.rand(3, 2).to(device)] for _ in range(3)]
            more = () if "momentum" in options else ([taeda.tensor(3.0, device=device)] * 2,)
            scale = taeda.tensor(2.0, device=device)
            infinity = taeda.tensor(found, device=device)
            taeda.cuda.set_sync_debug_mode("error")
            step(*lists, *more, lr=0.1, weight_decay=0.01, maximize=False, **options,
                 grad_scale=scale, found_inf=infinity)
            taeda.cuda.set_sync_debug_mode("default")
            results.append([t.cpu() for part in lists for t in part])
        for a, b in zip(*results, strict=True):
            assert taeda.equal(a, b), (step.__name__, found, a, b)
"""


@pytest.mark.slow
def test_a_step_waits_for_nothing_and_counts_on_the_device():
    standin.run(BEGIN + ALL)


@pytest.mark.slow
def test_scales_and_infinities_stay_on_the_device():
    standin.run(BEGIN + SCALED)


@pytest.mark.slow
def test_rates_on_the_device_are_not_read():
    standin.run(BEGIN + WAITS)
