"""fastai: learners of pictures and tables, augmentation, files."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import pandas as pd
import torch
from fastai.data.block import CategoryBlock
from fastai.tabular.all import (
    Categorify,
    FillMissing,
    Normalize,
    TabularDataLoaders,
    tabular_learner,
)
from fastai.vision.all import (
    CrossEntropyLossFlat,
    DataLoader,
    DataLoaders,
    EarlyStoppingCallback,
    Learner,
    MixUp,
    TensorImage,
    accuracy,
    aug_transforms,
    nn,
)

from .given import normal


def _learner(folder: str, **options: Any) -> Any:
    data = [(normal(3, 8, 8) + n % 2, torch.tensor(n % 2)) for n in range(32)]
    loaders = DataLoaders(DataLoader(data, bs=8), DataLoader(data, bs=8))
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
    return Learner(
        loaders, net, loss_func=CrossEntropyLossFlat(), metrics=accuracy, path=folder, **options
    )


def pictures() -> None:
    with tempfile.TemporaryDirectory() as folder:
        learner = _learner(folder, cbs=[EarlyStoppingCallback(patience=3)])
        with learner.no_bar(), learner.no_logging():
            learner.fit_one_cycle(2, 1e-2)
            learner.lr_find(show_plot=False, num_it=5)
            guess, _ = learner.get_preds()
        assert guess.shape == (32, 2)
        learner.save("m")
        learner.load("m")
        mixed = _learner(folder, cbs=[MixUp()]).to_fp32()
        with mixed.no_bar(), mixed.no_logging():
            mixed.fit(1)


def augmentation() -> None:
    image = TensorImage(torch.rand(3, 4, 4))
    assert type(image + 1) is TensorImage
    batch = TensorImage(torch.rand(2, 3, 16, 16))
    for change in aug_transforms():
        batch = change(batch, split_idx=0)
    assert type(batch) is TensorImage and batch.shape == (2, 3, 16, 16)


def tables() -> None:
    frame = pd.DataFrame({"a": list("xyxy") * 8, "b": np.random.randn(32), "y": [0, 1] * 16})
    loaders = TabularDataLoaders.from_df(
        frame,
        procs=[Categorify, FillMissing, Normalize],
        cat_names=["a"],
        cont_names=["b"],
        y_names="y",
        y_block=CategoryBlock(),
        bs=8,
    )
    learner = tabular_learner(loaders, metrics=accuracy)
    with learner.no_bar(), learner.no_logging():
        learner.fit(2)
        assert len(learner.predict(frame.iloc[0])) == 3
