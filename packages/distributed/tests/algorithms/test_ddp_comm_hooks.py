"""Hooks of this package by their names."""

from __future__ import annotations

import pytest

from taeda.distributed.algorithms import ddp_comm_hooks
from taeda.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    debugging_hooks,
    default_hooks,
    powerSGD_hook,
    register_ddp_comm_hook,
)

HOOKS = {
    "ALLREDUCE": default_hooks.allreduce_hook,
    "FP16_COMPRESS": default_hooks.fp16_compress_hook,
    "BF16_COMPRESS": default_hooks.bf16_compress_hook,
    "POWER_SGD": powerSGD_hook.powerSGD_hook,
    "BATCHED_POWER_SGD": powerSGD_hook.batched_powerSGD_hook,
    "NOOP": debugging_hooks.noop_hook,
}


@pytest.mark.parametrize("name", DDPCommHookType.__members__)
def test_each_registers_its_own_function(name):
    class Model:
        def register_comm_hook(self, state, hook):
            self.given = state, hook

    model = Model()
    register_ddp_comm_hook(DDPCommHookType[name], model, state="mine")
    assert model.given == ("mine", HOOKS[name])


def test_what_is_listed_is_there():
    assert {getattr(ddp_comm_hooks, name) for name in ddp_comm_hooks.__all__} == {
        DDPCommHookType,
        register_ddp_comm_hook,
    }
