"""Scaled losses on the stand-in driver: steps of the processor, and none where gradients overflow."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda import nn
def trained(device):
    taeda.manual_seed(0)
    model = nn.Linear(4, 3).to(device)
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.1)
    scaler = taeda.amp.GradScaler(device, init_scale=1024.0)
    assert scaler.is_enabled() and scaler.get_scale() == 1024.0
    for step in range(3):
        optimizer.zero_grad()
        x = taeda.randn(5, 4).to(device)
        loss = (model(x) ** 2).mean() * (float("inf") if step == 1 else 1.0)
        before = model.weight.detach().clone()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert taeda.equal(before, model.weight) == (step == 1)
    assert scaler.get_scale() == 512.0, scaler.get_scale()
    return model.weight.detach().cpu()
a, b = trained("cpu"), trained("cuda")
assert taeda.allclose(a, b, atol=1e-6), (a - b).abs().max()
"""


@pytest.mark.slow
def test_a_scaler_scales_on_a_device():
    standin.run(PROGRAM, TAEDA_CUDA_FALLBACK="")
