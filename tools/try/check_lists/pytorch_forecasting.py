"""pytorch-forecasting: series of a table, three networks that forecast."""

from __future__ import annotations

import logging
from typing import Any

import lightning.pytorch as pl
import numpy as np
import pandas as pd
from pytorch_forecasting import DeepAR, NBeats, TemporalFusionTransformer, TimeSeriesDataSet
from pytorch_forecasting.data import GroupNormalizer

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def _forecasts(kind: Any, fixed: bool = False, **options: Any) -> None:
    frame = pd.DataFrame(
        {"t": list(range(40)) * 2, "g": ["a"] * 40 + ["b"] * 40, "v": np.random.rand(80) + 1}
    )
    lengths = {"max_encoder_length": 8, "max_prediction_length": 4}
    if fixed:
        lengths |= {"min_encoder_length": 8, "min_prediction_length": 4}
    series = TimeSeriesDataSet(
        frame,
        time_idx="t",
        target="v",
        group_ids=["g"],
        **lengths,
        time_varying_unknown_reals=["v"],
        target_normalizer=GroupNormalizer(groups=["g"]),
    )
    data = series.to_dataloader(batch_size=8, num_workers=0)
    model = kind.from_dataset(series, log_interval=-1, **options)
    quiet = {"accelerator": "cpu", "logger": False}
    trainer = pl.Trainer(
        max_epochs=1,
        enable_checkpointing=False,
        enable_progress_bar=False,
        limit_train_batches=3,
        **quiet,
    )
    trainer.fit(model, data)
    assert model.predict(data, trainer_kwargs=quiet).shape[-1] == 4


def fusion_transformer() -> None:
    _forecasts(
        TemporalFusionTransformer, hidden_size=8, attention_head_size=1, hidden_continuous_size=4
    )


def nbeats() -> None:
    _forecasts(NBeats, True, widths=[8, 16], num_blocks=[1, 1], num_block_layers=[1, 1])


def deep_ar() -> None:
    _forecasts(DeepAR, hidden_size=8, rnn_layers=1)
