"""torchrl: policies, rollouts, losses, buffers."""

from __future__ import annotations

from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torchrl.data import (
    LazyMemmapStorage,
    LazyTensorStorage,
    ReplayBuffer,
)
from torchrl.envs import GymEnv, RewardSum, StepCounter, TransformedEnv
from torchrl.modules import (
    MLP,
    NormalParamExtractor,
    ProbabilisticActor,
    QValueActor,
    TanhNormal,
    ValueOperator,
)
from torchrl.objectives import ClipPPOLoss, DQNLoss
from torchrl.objectives.value import GAE

from .given import filled, normal


def _policy() -> Any:
    net = torch.nn.Sequential(
        MLP(in_features=3, out_features=2, num_cells=[8]), NormalParamExtractor()
    )
    part = TensorDictModule(filled(net), ["observation"], ["loc", "scale"])
    return ProbabilisticActor(
        part, in_keys=["loc", "scale"], distribution_class=TanhNormal, return_log_prob=True
    )


def policies_and_rollouts() -> None:
    world = TransformedEnv(GymEnv("Pendulum-v1"), StepCounter(max_steps=5))
    world.append_transform(RewardSum())
    with torch.no_grad():
        seen = world.rollout(8, _policy(), break_when_any_done=False)
    assert seen.shape == (8,) and seen["step_count"].max() <= 5


def policy_loss_and_advantage() -> None:
    policy = _policy()
    with torch.no_grad():
        seen = GymEnv("Pendulum-v1").rollout(6, policy)
    value = ValueOperator(
        filled(MLP(in_features=3, out_features=1, num_cells=[8])), in_keys=["observation"]
    )
    GAE(gamma=0.9, lmbda=0.9, value_network=value)(seen)
    found = ClipPPOLoss(policy, value)(seen)
    (found["loss_objective"] + found["loss_critic"]).backward()
    assert all(bool(p.grad.isfinite().all()) for p in value.parameters() if p.grad is not None)


def values_of_actions() -> None:
    actor = QValueActor(
        filled(MLP(in_features=4, out_features=2, num_cells=[8])),
        spec=GymEnv("CartPole-v1").action_spec,
        in_keys=["observation"],
    )
    with torch.no_grad():
        seen = GymEnv("CartPole-v1").rollout(5, actor)
    loss = DQNLoss(actor, action_space="one_hot")(seen)["loss"]
    loss.backward()
    assert loss.isfinite()


def buffers() -> None:
    from tensordict import TensorDict

    rows = TensorDict({"a": normal(12, 3)}, [12])
    for kept in (LazyTensorStorage(100), LazyMemmapStorage(100)):
        buffer = ReplayBuffer(storage=kept, batch_size=4)
        buffer.extend(rows)
        assert buffer.sample().shape == (4,)
