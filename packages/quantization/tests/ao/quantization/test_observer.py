"""The names of all observers, those with arguments, and what they have seen apart from the model."""

from __future__ import annotations

import pickle

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.quantization import observer

X = taeda.tensor([[-1.0, 0.5], [2.0, 4.0]])


def test_what_was_seen_goes_from_model_to_model():
    def made():
        model = nn.Sequential(q.QuantStub(), nn.Linear(2, 2))
        model.qconfig = q.default_qconfig
        return q.prepare(model.eval())

    one, other = made(), made()
    one(X)
    state = q.get_observer_state_dict(one)
    q.load_observer_state_dict(other, state)
    assert taeda.equal(other[0].activation_post_process.max_val, taeda.tensor(4.0))
    with pytest.raises(RuntimeError, match="missing"):
        q.load_observer_state_dict(other, {})


@pytest.mark.parametrize("name", [n for n in observer.__all__ if n.endswith("Observer")])
def test_every_observer_is_known_by_the_name_of_this_module(name):
    kind = getattr(observer, name)
    assert kind is getattr(q, name) and kind.__module__ == "taeda.ao.quantization.observer"
    assert pickle.loads(pickle.dumps(kind)) is kind
