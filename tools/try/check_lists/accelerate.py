"""accelerate: one process, its states, precisions and big models."""

from __future__ import annotations

import tempfile
from typing import Any

import accelerate
import torch
from torch import nn

from .given import batches, filled, normal


def _net() -> Any:
    return filled(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))


def _run(**options: Any) -> tuple[Any, Any, list[float]]:
    accelerate.state.AcceleratorState._reset_state(True)
    accelerator = accelerate.Accelerator(cpu=True, **options)
    model, x = _net(), normal(32, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 8)
    data = batches(x, (x.sum(1) > 0).long())
    model, optimizer, data, schedule = accelerator.prepare(model, optimizer, data, schedule)
    losses = []
    for _ in range(4):
        for one, label in data:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(one), label)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()).mean().item())
    assert losses[-1] < losses[0]
    return accelerator, model, losses


def trains() -> Any:
    return _run()[2]


def accumulates() -> Any:
    return _run(gradient_accumulation_steps=2)[2]


def trains_in_bfloat16() -> None:
    _run(mixed_precision="bf16")


def states_and_big_models() -> Any:
    accelerator, model, _ = _run()
    with tempfile.TemporaryDirectory() as folder:
        before = {name: value.clone() for name, value in model.state_dict().items()}
        accelerator.save_state(folder)
        with torch.no_grad():
            model[0].weight.zero_()
        accelerator.load_state(folder)
        assert torch.equal(model[0].weight, before["0.weight"])
        accelerator.save_model(model, f"{folder}/model")
        with accelerate.init_empty_weights():
            empty = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        assert empty[0].weight.is_meta
        full = accelerate.load_checkpoint_and_dispatch(
            empty, f"{folder}/model", device_map={"": "cpu"}
        )
        x = torch.ones(2, 4)
        assert torch.equal(full(x), model(x))
        return full(x)
