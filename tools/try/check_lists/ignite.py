"""pytorch-ignite: an engine with handlers, metrics and checkpoints."""

from __future__ import annotations

import tempfile
from typing import Any

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import (
    Checkpoint,
    DiskSaver,
    EarlyStopping,
    EMAHandler,
    PiecewiseLinear,
    ProgressBar,
)
from ignite.metrics import Accuracy, ConfusionMatrix, Fbeta, Loss, RunningAverage

from .given import batches, filled, normal


def trains_and_evaluates() -> Any:
    nn = torch.nn
    model = filled(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    optimizer, loss = torch.optim.Adam(model.parameters(), lr=0.05), nn.CrossEntropyLoss()
    x = normal(32, 4)
    data = batches(x, (x.sum(1) > 0).long())
    trainer = create_supervised_trainer(model, optimizer, loss)
    RunningAverage(output_transform=lambda out: out).attach(trainer, "loss")
    metrics = {
        "right": Accuracy(),
        "loss": Loss(loss),
        "f": Fbeta(1.0),
        "table": ConfusionMatrix(2),
    }
    judge = create_supervised_evaluator(model, metrics)
    trainer.add_event_handler(
        Events.ITERATION_STARTED, PiecewiseLinear(optimizer, "lr", [(0, 0.01), (8, 0.05)])
    )
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda engine: judge.run(data))
    judge.add_event_handler(
        Events.COMPLETED, EarlyStopping(5, lambda e: -e.state.metrics["loss"], trainer)
    )
    EMAHandler(model, momentum=0.1).attach(trainer)
    ProgressBar().attach(trainer, ["loss"])
    with tempfile.TemporaryDirectory() as folder:
        kept = {"model": model, "optimizer": optimizer, "trainer": trainer}
        saver = Checkpoint(kept, DiskSaver(folder, require_empty=False), n_saved=1)
        trainer.add_event_handler(Events.EPOCH_COMPLETED, saver)
        trainer.run(data, max_epochs=5)
        Checkpoint.load_objects(kept, torch.load(saver.last_checkpoint))
    assert judge.state.metrics["right"] > 0.8
    return [judge.state.metrics["loss"], judge.state.metrics["table"]]
