"""lightning: the Trainer with its defaults and its options, and Fabric."""

from __future__ import annotations

import logging
import tempfile
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from torch import nn

from .given import batches, filled, normal

logging.getLogger("lightning").setLevel(logging.ERROR)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Net(L.LightningModule):
    def __init__(self, rate: float = 0.05) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = filled(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))

    def training_step(self, batch: Any, number: int) -> Any:
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: Any, number: int) -> None:
        self.log("right", (self.net(batch[0]).argmax(1) == batch[1]).float().mean())

    test_step = validation_step

    def predict_step(self, batch: Any, number: int) -> Any:
        return self.net(batch[0])

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def _fit(double: bool = False, **options: Any) -> tuple[Any, Any, Any]:
    x = normal(32, 4)
    y = (x.sum(1) > 0).long()
    data = batches(x.double() if double else x, y)
    quiet = {"accelerator": "cpu", "enable_progress_bar": False, "enable_model_summary": False}
    net = Net()
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(
            max_epochs=4, default_root_dir=folder, log_every_n_steps=1, **{**quiet, **options}
        )
        trainer.fit(net, data, data)
        assert trainer.callback_metrics["right"] > 0.7
        return trainer, net, data


def fits() -> Any:
    trainer, net, data = _fit(logger=False, enable_checkpointing=False)
    loss = trainer.callback_metrics["loss"]
    return [loss, *trainer.predict(net, data)]


def fits_with_its_defaults() -> None:
    x = normal(32, 4)
    data = batches(x, (x.sum(1) > 0).long())
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(max_epochs=2, default_root_dir=folder)
        net = Net()
        trainer.fit(net, data, data)
        again = Net.load_from_checkpoint(trainer.checkpoint_callback.best_model_path)
        assert torch.equal(again.net[0].weight, net.net[0].weight)
        assert type(trainer.logger).__name__ in ("TensorBoardLogger", "CSVLogger")
        resumed = L.Trainer(max_epochs=3, default_root_dir=folder, logger=False)
        path = trainer.checkpoint_callback.best_model_path
        resumed.fit(Net(), data, data, ckpt_path=path)
        assert resumed.current_epoch == 3


def fits_in_bfloat16_and_in_float64() -> None:
    plain = {"logger": False, "enable_checkpointing": False}
    _fit(precision="bf16-mixed", **plain)
    trainer, net, _ = _fit(precision="64-true", **plain, double=True)
    assert net.net[0].weight.dtype == torch.float64 and trainer.callback_metrics["loss"] < 0.7


def accumulates_and_clips() -> Any:
    trainer, _, _ = _fit(
        accumulate_grad_batches=2, gradient_clip_val=0.5, logger=False, enable_checkpointing=False
    )
    return trainer.callback_metrics["loss"]


def callbacks() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        keep = ModelCheckpoint(folder, monitor="right", mode="max", save_top_k=2, save_last=True)
        stop = EarlyStopping("right", mode="max", patience=1)
        rates = LearningRateMonitor("step")
        logger = L.pytorch.loggers.CSVLogger(folder)
        trainer, _, data = _fit(callbacks=[keep, stop, rates], logger=logger)
        found = trainer.test(Net(), data, ckpt_path=keep.best_model_path, verbose=False)
        assert found[0]["right"] > 0.7
    return keep.best_model_score


def profiles_and_shows_progress() -> None:
    for profiler in ("simple", "advanced", "pytorch"):
        _fit(profiler=profiler, logger=False, enable_checkpointing=False, enable_progress_bar=True)


def fabric() -> Any:
    fabric = L.Fabric(accelerator="cpu", devices=1)
    net = filled(nn.Linear(4, 1))
    net, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.05))
    data = fabric.setup_dataloaders(batches(normal(16, 4), normal(16)))
    losses = []
    for x, y in data:
        loss = (net(x)[:, 0] - y).square().mean()
        optimizer.zero_grad()
        fabric.backward(loss)
        optimizer.step()
        losses.append(loss)
    with tempfile.TemporaryDirectory() as folder:
        fabric.save(f"{folder}/a.ckpt", {"net": net})
        fabric.load(f"{folder}/a.ckpt", {"net": net})
    return losses
