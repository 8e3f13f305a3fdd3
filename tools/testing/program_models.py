"""Models of the tests, their arguments by one size, and which sizes differ from call to call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.export import Dim


def normal(*shape: int) -> taeda.Tensor:
    return taeda.randn(*shape, generator=taeda.Generator().manual_seed(sum(shape)))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.pool(self.norm(self.conv(x)).relu()).mean((2, 3)))


class Block(nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, width), nn.Embedding(64, width)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, tokens):
        batch, length = tokens.shape
        x = self.tokens(tokens) + self.places(taeda.arange(length))
        qkv = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, -1))
        return x + self.down(F.gelu(self.up(self.after(x))))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(3, 5, num_layers=2, batch_first=True)

    def forward(self, x):
        return self.cells(x)[0]


class Compares(nn.Module):
    """Numbers in place of tensors, sizes in formulas, a constant, a tree of results."""

    def __init__(self):
        super().__init__()
        self.scale = taeda.arange(1.0, 5.0)

    def forward(self, x, options):
        rows = x.shape[0]
        y = taeda.where(x > 0.5, x**2, x % 3) * self.scale
        joined = taeda.cat([y, y.new_zeros(rows * 2 + 1, 4)])
        return {"all": joined.view(-1, 2), "first": (y[0], options["factor"])}


def _tokens(n: int) -> tuple[Any, ...]:
    return (taeda.arange(n * (n + 4)).remainder(11).view(n, n + 4),)


@dataclass
class Case:
    make: Callable[[], nn.Module]
    given: Callable[[int], tuple[Any, ...]]
    shapes: Any


def _cases() -> dict[str, Case]:
    batch, length = Dim("batch"), Dim("length", max=64)
    one = ({0: batch},)
    image = lambda n: (normal(n, 3, 10, 14),)  # noqa: E731
    return {
        "mlp": Case(
            lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)),
            lambda n: (normal(n, 4),), one,
        ),
        "convolutions": Case(lambda: Convolutions().eval(), image, one),
        "training": Case(Convolutions, image, one),
        "block": Case(Block, _tokens, ({0: batch, 1: length},)),
        "recurrent": Case(Recurrent, lambda n: (normal(n, 7, 3),), one),
        "compares": Case(
            Compares, lambda n: (normal(n, 4), {"factor": 3}), ({0: batch}, {"factor": None})
        ),
    }  # fmt: skip


CASES = _cases()
