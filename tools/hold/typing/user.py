"""A program as a user writes it; mypy and pyright accept it as it stands, with every rule
(tools/hold/typing_user.py).
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import Tensor, nn, optim
from taeda.autograd import Function
from taeda.nn import Conv2d, Linear, ModuleList, ReLU, Sequential
from taeda.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    TensorDataset,
    WeightedRandomSampler,
)


class Net(nn.Module):
    def __init__(self, hidden: int = 8) -> None:
        super().__init__()
        self.body = Sequential(Conv2d(1, hidden, 3), ReLU(), nn.Flatten())
        self.heads = ModuleList([Linear(hidden, 2) for _ in range(2)])
        self.scale = nn.Parameter(taeda.ones(1))
        self.register_buffer("mean", taeda.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.body(x) * self.scale
        return F.relu(self.heads[0](x)) + np.float32(2)


class Rows(Dataset[tuple[Tensor, int]]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return taeda.ones(2), index


class Stream(IterableDataset[Tensor]):
    def __iter__(self) -> Any:
        return iter([taeda.ones(1)])


class Double(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * 2


class Marked(Tensor):
    @property
    def twice(self) -> Tensor:
        return self * 2


def train() -> float:
    net = Net()
    optimizer = optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    loader = DataLoader(Rows(), batch_size=2, shuffle=True)
    loss = taeda.zeros(())
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    taeda.save(net.state_dict(), "w.safetensors")
    net.load_state_dict(taeda.load("w.safetensors"))
    return float(loss.item())


def arrays() -> list[Tensor]:
    array: np.ndarray[Any, Any] = taeda.ones(2).numpy()
    both = taeda.from_numpy(array) + array
    scaled = taeda.tensor(3.0) * np.float64(2)
    with taeda.no_grad():
        joined = taeda.cat([both, scaled]).to("cpu", taeda.float64)
    joined[0] = 1
    joined[1:] += 2
    some: bool = bool((joined > 1).all())
    count: int = joined.shape[0]
    values, indices = taeda.max(joined, dim=0)
    best = joined.max(0).values
    return [values, indices, best, joined * count if some else joined]


def further() -> None:
    device = taeda.device("cuda" if taeda.cuda.is_available() else "cpu")
    Net(4).to(device).train().eval()
    taeda.distributions.Normal(0.0, 1.0).sample((3,))
    u, s, vh = taeda.linalg.svd(taeda.ones(2, 2))
    taeda.fft.rfft(taeda.einsum("ij,jk->ik", u, vh) * s)
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        Double.apply(taeda.ones(2, requires_grad=True))
    DataLoader(
        TensorDataset(taeda.ones(3, 2), taeda.zeros(3)),
        sampler=WeightedRandomSampler(taeda.ones(3), 3),
    )
    DataLoader(Stream(), batch_size=2)
    DataLoader(range(5), batch_size=2)
    taeda.lstm_cell(u, [u, u], taeda.ones(8, 2), taeda.ones(8, 2))
    taeda.compile(Net())
    taeda.manual_seed(0)
    taeda.nn.init.xavier_uniform_(taeda.ones(2, 2))
    print(taeda.tensor([1.0]).as_subclass(Marked).twice, taeda.get_device(taeda.ones(1)))


@taeda.no_grad()
def counted(x: taeda.Tensor) -> int:
    return x.numel()


@taeda.no_grad
def bare(x: taeda.Tensor) -> int:
    return x.numel()


@taeda.inference_mode()
def served(x: taeda.Tensor) -> int:
    return x.numel()


@taeda.inference_mode
def served_bare(x: taeda.Tensor) -> int:
    return x.numel()


@taeda.enable_grad()
def recorded(x: taeda.Tensor) -> int:
    return x.numel()


@taeda.set_grad_enabled(True)
def switched(x: taeda.Tensor) -> int:
    return x.numel()


def decorated() -> None:
    x = taeda.ones(2)
    assert_type(counted(x) + bare(x), int)
    assert_type(served(x) + served_bare(x), int)
    assert_type(recorded(x) + switched(x), int)
