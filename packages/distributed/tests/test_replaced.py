"""What holds parameters from before fully_shard says so, instead of stepping nothing."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
from taeda import nn
from taeda.distributed.fsdp import fully_shard

OPTIMIZERS = ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "NAdam", "RAdam", "Adamax"]

USES = {
    "zero_grad": lambda optimizer, params: optimizer.zero_grad(),
    "clip_grad_norm_": lambda optimizer, params: nn.utils.clip_grad_norm_(params, 1.0),
    "clip_grad_value_": lambda optimizer, params: nn.utils.clip_grad_value_(params, 1.0),
    "in place": lambda optimizer, params: params[0].detach_().mul_(2),
    "in place without gradients": lambda optimizer, params: taeda.no_grad()(params[0].mul_)(2),
    "set a gradient": lambda optimizer, params: setattr(params[0], "grad", taeda.ones(3, 4)),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_an_optimizer_made_before_refuses_its_step(kind):
    def work(rank):
        model = nn.Linear(4, 3)
        optimizer = getattr(taeda.optim, kind)(model.parameters(), lr=0.1)
        fully_shard(model)
        model(taeda.ones(2, 4)).sum().backward()
        with pytest.raises(RuntimeError, match="fully_shard has put a sharded one"):
            optimizer.step()

    on_threads(2, work)


@pytest.mark.parametrize("use", USES)
def test_other_uses_refuse_and_reading_does_not(use):
    def work(rank):
        model = nn.Linear(4, 3)
        params = list(model.parameters())
        optimizer = taeda.optim.SGD(params, lr=0.1)
        wanted = params[0].tolist()
        fully_shard(model)
        with pytest.raises(RuntimeError, match="fully_shard has put a sharded one"):
            USES[use](optimizer, params)
        assert params[0].tolist() == wanted

    on_threads(1, work)
