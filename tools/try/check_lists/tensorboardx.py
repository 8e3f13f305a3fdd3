"""tensorboardX: a writer that takes tensors."""

from __future__ import annotations

import os
import tempfile

import torch
from tensorboardX import SummaryWriter

from .given import normal, uniform


def writes() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder) as writer:
            writer.add_scalar("a", torch.tensor(0.5), 1)
            writer.add_histogram("b", normal(50), 1)
            writer.add_image("c", uniform(3, 8, 8), 1)
            writer.add_embedding(normal(5, 3), list("abcde"))
            writer.add_pr_curve("d", torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.8, 0.6]), 1)
            writer.add_text("e", "words")
        assert any("events" in name for name in os.listdir(folder))
