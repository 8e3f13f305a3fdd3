"""The examples, unchanged but for the import, have the same curve of losses as torch."""

from __future__ import annotations

import numpy as np
import pytest
from both import FULL, copy_state, script

torch = pytest.importorskip("torch")
import taeda  # noqa: E402 - after the check: without torch there is nothing to compare


def curves(path, make, train):
    """Losses under torch and under taeda of models that begin with the same weights."""
    ours, theirs = script(path, "taeda"), script(path, "torch")
    torch.manual_seed(0)
    reference, model = make(theirs), make(ours)
    copy_state(reference, model, taeda.from_numpy)
    return train(theirs, reference), train(ours, model)


def test_char_gpt():
    steps = 200 if FULL else 40
    theirs, ours = curves(
        "examples/char_gpt/train.py",
        lambda module: module.GPT(module.Config()),
        lambda module, model: module.train(model, steps),
    )
    # Rounding differs and training amplifies it: tight at the start, near at the end.
    np.testing.assert_allclose(ours[:10], theirs[:10], rtol=1e-4)
    np.testing.assert_allclose(ours, theirs, rtol=3e-2)
    assert ours[-1] < 0.8 * ours[0]


def test_resnet18():
    width, pictures = (64, 1024) if FULL else (16, 512)
    theirs, ours = curves(
        "examples/resnet18/train.py",
        lambda module: module.ResNet18(width),
        lambda module, model: module.train(model, module.stripes(pictures, seed=1), lr=0.02),
    )
    np.testing.assert_allclose(ours[:3], theirs[:3], rtol=1e-3)
    np.testing.assert_allclose(ours, theirs, rtol=0.15, atol=0.05)
    assert ours[-1] < ours[0]


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_graph_conv(layout):
    theirs, ours = curves(
        "examples/graph_conv/train.py",
        lambda module: module.make(layout),
        lambda module, model: module.train(model, 40),
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)
    assert ours[-1] < 0.2 * ours[0]
