"""Weight norm the older way, by a hook."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import nn


def test_weight_norm_by_hook():
    layer, x = nn.Linear(3, 2), taeda.randn(4, 3)
    before = layer(x)
    with pytest.warns(FutureWarning, match="parametrizations"):
        nn.utils.weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    assert taeda.allclose(layer(x), before, atol=1e-6)
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="two weight_norm hooks"):
        nn.utils.weight_norm(layer)
    nn.utils.remove_weight_norm(layer)
    assert set(layer.state_dict()) == {"weight", "bias"}
    assert taeda.allclose(layer(x), before, atol=1e-6)
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        nn.utils.remove_weight_norm(layer)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("kind", ["weight_norm", "spectral_norm", "prune"])
def test_what_a_hook_computes_does_not_hinder_copies(kind, called):
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2))
    for layer in (model[0], model[2]):
        if kind == "prune":
            nn.utils.prune.l1_unstructured(layer, "weight", 0.5)
        else:
            getattr(nn.utils, kind)(layer)
    model.eval()
    x = taeda.randn(4, 3)
    if called:
        model(x).sum().backward()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert taeda.equal(other(x), model(x))
        assert all(a is not b for a, b in zip(other.parameters(), model.parameters(), strict=True))
        with taeda.no_grad():
            for param in other.parameters():
                param.mul_(3)
        assert not taeda.equal(other(x), model(x))
        other(x).sum().backward()
        assert all(p.grad is not None for p in other.parameters())
