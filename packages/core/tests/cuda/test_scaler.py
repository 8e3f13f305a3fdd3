"""Scaled losses on the stand-in driver: steps of the processor, and none where gradients overflow."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda import nn
def trained(device, fused=False, waits=True):
    taeda.manual_seed(0)
    model = nn.Linear(4, 3).to(device)
    kind = taeda.optim.Adam if fused else taeda.optim.SGD
    optimizer = kind(model.parameters(), lr=0.1, fused=fused)
    scaler = taeda.amp.GradScaler(device, init_scale=1024.0)
    assert scaler.is_enabled() and scaler.get_scale() == 1024.0
    for step in range(3):
        optimizer.zero_grad()
        x = taeda.randn(5, 4).to(device)
        loss = (model(x) ** 2).mean() * (float("inf") if step == 1 else 1.0)
        before = model.weight.detach().clone()
        taeda.cuda.set_sync_debug_mode("default" if waits else "error")
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        taeda.cuda.set_sync_debug_mode("default")
        assert taeda.equal(before, model.weight) == (step == 1)
    assert scaler.get_scale() == 512.0, scaler.get_scale()
    return model.weight.detach().cpu()
a, b = trained("cpu"), trained("cuda")
assert taeda.allclose(a, b, atol=1e-6), (a - b).abs().max()
"""
FUSED = """
a, b = trained("cpu", fused=True), trained("cuda", fused=True, waits=False)
assert taeda.allclose(a, b, atol=1e-6), (a - b).abs().max()
model = nn.Linear(4, 3).cuda()
optimizer = taeda.optim.SGD(model.parameters(), lr=0.1, fused=False)
scaler = taeda.amp.GradScaler("cuda", init_scale=8.0, growth_interval=1)
scaler.scale(model(taeda.randn(5, 4).cuda()).sum()).backward()
import warnings
taeda.cuda.set_sync_debug_mode("warn")
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    scaler.step(optimizer)
    scaler.update()
taeda.cuda.set_sync_debug_mode("default")
assert len(heard) == 1, [str(w.message) for w in heard]
assert scaler.get_scale() == 16.0 and scaler.state_dict()["_growth_tracker"] == 0
"""


@pytest.mark.slow
def test_a_scaler_scales_on_a_device():
    standin.run(PROGRAM, TAEDA_CUDA_FALLBACK="")


@pytest.mark.slow
def test_a_scaler_waits_once_and_for_a_fused_step_not_at_all():
    standin.run(PROGRAM + FUSED, TAEDA_CUDA_FALLBACK="")
