"""datasets: tables of tensors, mapped, filtered, in batches of a loader, on disk."""

from __future__ import annotations

import tempfile
from typing import Any

import datasets
import numpy as np
import pandas as pd
import torch

from .given import normal

datasets.disable_progress_bars()


def _table() -> Any:
    return datasets.Dataset.from_dict(
        {"x": normal(6, 3).tolist(), "y": [0, 1] * 3, "text": list("abcdef")}
    )


def gives_tensors() -> Any:
    table = _table().with_format("torch", columns=["x", "y"])
    assert isinstance(table[0]["x"], torch.Tensor) and table[:]["y"].dtype == torch.int64
    return [table[1]["x"], *(batch["x"] for batch in torch.utils.data.DataLoader(table, 4))]


def maps_and_filters() -> Any:
    table = _table().map(lambda row: {"z": torch.tensor(row["x"]).sum().item()})
    kept = table.filter(lambda row: row["y"] == 1).train_test_split(0.5, seed=0, shuffle=False)
    many = table.map(lambda rows: {"w": torch.tensor(rows["x"]).mean(1)}, batched=True)
    return [kept["train"]["z"][:], many["w"][:]]


def goes_to_disk() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _table().save_to_disk(folder)
        assert datasets.load_from_disk(folder)["text"][:] == list("abcdef")


def streams_and_pandas() -> Any:
    stream = _table().to_iterable_dataset(num_shards=2).with_format("torch")
    loader = torch.utils.data.DataLoader(stream, batch_size=2)
    frame = pd.DataFrame({"a": normal(4).numpy(), "b": [1, 2, 3, 4]})
    again = torch.tensor(frame.to_numpy())
    assert np.allclose(pd.Series(again[:, 0]), frame["a"])
    return [again, *(batch["y"] for batch in loader)]
