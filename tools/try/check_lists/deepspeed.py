"""deepspeed: an engine on one process."""

from __future__ import annotations

import deepspeed
import torch


def trains() -> None:
    net = torch.nn.Linear(2, 1)
    config = {"train_batch_size": 2, "optimizer": {"type": "Adam", "params": {"lr": 1e-2}}}
    engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
    loss = engine(torch.ones(2, 2)).square().mean()
    engine.backward(loss)
    engine.step()
