"""stable-baselines3: six kinds of agents learn, act, are saved and read, and log."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
import stable_baselines3 as sb

DISCRETE, CONTINUOUS = "CartPole-v1", "Pendulum-v1"


def _learns(kind: Any, world: str, **options: Any) -> None:
    model = kind(
        "MlpPolicy", world, device="cpu", seed=0, policy_kwargs={"net_arch": [8]}, **options
    )
    model.learn(200)
    seen = model.get_env().reset()
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/a")
        again = kind.load(f"{folder}/a")
    act, other = (m.predict(seen, deterministic=True)[0] for m in (model, again))
    assert np.array_equal(act, other)


def ppo() -> None:
    _learns(sb.PPO, DISCRETE, n_steps=64, n_epochs=2)


def a2c() -> None:
    _learns(sb.A2C, DISCRETE)


def dqn() -> None:
    _learns(sb.DQN, DISCRETE, learning_starts=50, buffer_size=500)


def sac() -> None:
    _learns(sb.SAC, CONTINUOUS, learning_starts=50, buffer_size=500)


def td3() -> None:
    _learns(sb.TD3, CONTINUOUS, learning_starts=50, buffer_size=500)


def ddpg() -> None:
    _learns(sb.DDPG, CONTINUOUS, learning_starts=50, buffer_size=500)


def logs_to_tensorboard() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sb.PPO("MlpPolicy", DISCRETE, n_steps=64, tensorboard_log=folder, device="cpu").learn(128)
        assert any(name.startswith("events") for name in os.listdir(f"{folder}/PPO_1"))
