"""Whole modules that torch saved are ours after loading and compute the same; layers that we saved
are torch's.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

import taeda

CASES = {
    "Linear": lambda m: (m.nn.Linear(4, 3), (2, 4)),
    "Conv2d": lambda m: (m.nn.Conv2d(2, 3, 3, padding=1), (1, 2, 5, 5)),
    "norms": lambda m: (m.nn.Sequential(m.nn.BatchNorm1d(4), m.nn.LayerNorm(4)), (3, 4)),
    "activations": lambda m: (m.nn.Sequential(m.nn.PReLU(), m.nn.Softmax(1), m.nn.GELU()), (3, 4)),
    "LSTM": lambda m: (m.nn.LSTM(4, 5, 2, bidirectional=True), (3, 2, 4)),
    "GRU": lambda m: (m.nn.GRU(4, 5, batch_first=True), (3, 2, 4)),
    "attention": lambda m: (m.nn.TransformerEncoderLayer(4, 2, activation="gelu"), (3, 2, 4)),
    "encoder": lambda m: (
        m.nn.TransformerEncoder(m.nn.TransformerEncoderLayer(4, 2, batch_first=True), 2,
            enable_nested_tensor=False), (3, 2, 4)
    ),
    "containers": lambda m: (m.nn.Sequential(m.nn.ModuleList([m.nn.Linear(4, 4)])[0],
        m.nn.Dropout(0.5)), (2, 4)),
    "pooling": lambda m: (m.nn.Sequential(m.nn.MaxPool2d(2), m.nn.Upsample(scale_factor=2)), (1, 2, 4, 4)),
}  # fmt: skip


def output(module, x):
    made = module(x)
    return (made[0] if isinstance(made, tuple) else made).detach().numpy()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_torch_s_modules_load_and_compute_the_same(case, tmp_path):
    torch.manual_seed(0)
    theirs, shape = case(torch)
    theirs.eval()
    torch.save(theirs, tmp_path / "theirs.pt")
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    with pytest.warns(UserWarning, match=r"theirs.pt"):
        ours = taeda.load(tmp_path / "theirs.pt", weights_only=False)
    assert type(ours).__module__.startswith("taeda.nn")
    wanted = output(theirs, torch.from_numpy(x))
    assert np.allclose(output(ours, taeda.from_numpy(x)), wanted, atol=1e-5)
    with taeda.serialization.safe_globals([taeda.nn.Module]):
        again = taeda.load(tmp_path / "theirs.pt")
    assert np.allclose(output(again, taeda.from_numpy(x)), wanted, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["Linear", "Conv2d", "norms", "activations", "containers", "pooling"]
)
def test_layers_that_we_saved_are_torch_s(name, tmp_path):
    taeda.manual_seed(0)
    ours, shape = CASES[name](taeda)
    ours.eval()
    taeda.save(ours, tmp_path / "ours.pt")
    theirs = torch.load(tmp_path / "ours.pt", weights_only=False)
    assert type(theirs).__module__.startswith("torch.nn")
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    assert np.allclose(
        output(theirs, torch.from_numpy(x)), output(ours, taeda.from_numpy(x)), atol=1e-5
    )


def test_what_taeda_has_not_is_named(tmp_path):
    torch.save(
        torch.nn.Sequential(torch.ao.nn.quantized.Quantize(1.0, 0, torch.quint8)), tmp_path / "q.pt"
    )
    with (
        pytest.warns(UserWarning, match=r"q\.pt"),
        pytest.raises(RuntimeError, match=r"torch\.ao|quantized"),
    ):
        taeda.load(tmp_path / "q.pt", weights_only=False)
