"""What a newcomer writes in the first week, as mypy (strict) and pyright see it: subclasses of
every base, numpy's scalars, both with annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import Tensor, nn
from taeda.autograd import Function
from taeda.distributions import Categorical, Distribution, Normal, kl_divergence
from taeda.distributions.transforms import Transform
from taeda.func import grad, vmap
from taeda.optim import Optimizer
from taeda.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau
from taeda.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    Sampler,
    Subset,
    random_split,
)


class Block(nn.Module):
    mean: Tensor

    def __init__(self, width: int, act: Callable[[Tensor], Tensor] = F.relu) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.act = act
        self.gate = nn.Parameter(taeda.zeros(width))
        self.layers = nn.ModuleDict({"norm": nn.LayerNorm(width), "drop": nn.Dropout(0.1)})
        self.register_buffer("mean", taeda.zeros(width), persistent=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        y: Tensor = self.layers["norm"](self.linear(x) - self.mean)
        if mask is not None:
            y = y.masked_fill(~mask, float("-inf"))
        z: Tensor = x + self.act(y) * self.gate.sigmoid()
        return z


class Squares(Dataset[tuple[Tensor, Tensor]]):
    def __init__(self, count: int, transform: Callable[[Tensor], Tensor] | None = None) -> None:
        self.x = taeda.linspace(0, 1, count)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        x = self.x[index]
        return (x if self.transform is None else self.transform(x)), x**2


class Lines(IterableDataset[str]):
    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[str]:
        with self.path.open() as file:
            yield from file


class EveryOther(Sampler[int]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(0, self.count, 2))

    def __len__(self) -> int:
        return (self.count + 1) // 2


class Sign(Optimizer):
    def __init__(self, params: Any, lr: float = 1e-3) -> None:
        super().__init__(params, {"lr": lr})

    def step(self, closure: Any = None) -> Any:
        with taeda.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.add_(p.grad.sign(), alpha=-group["lr"])
        return None


class Halves(LRScheduler):
    def get_lr(self) -> list[float | Tensor]:
        return [base * 0.5**self.last_epoch for base in self.base_lrs]


class Clip(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, limit: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.clamp(-limit, limit)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return grads[0] * (x.abs() <= ctx.limit), None


class Doubled(Transform):
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        return 2 * x

    def _inverse(self, y: Tensor) -> Tensor:
        return y / 2


def collate(items: Sequence[tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
    xs, ys = zip(*items, strict=True)
    return {"x": taeda.stack(list(xs)), "y": taeda.stack(list(ys))}


def numbers(x: Tensor) -> Tensor:
    """Scalars of numpy where Python's stand."""
    x = x + np.float32(1) - np.int64(2) * x / np.float64(3)
    x = np.float64(0.5) * x
    x = x.clamp(np.float32(0), np.float64(1)).pow(np.int64(2))
    x[np.int64(0)] = np.float32(1)
    weights = np.ones(3, dtype=np.float32)
    x = x * taeda.as_tensor(weights) + taeda.from_numpy(weights)
    row: list[float] = x.tolist()
    mask: Tensor = (x > np.float32(0)) & (x < 2) | ~(x == 1)
    count: int = int(mask.sum())
    return taeda.where(mask, x, 0.0) * count + taeda.tensor([np.float64(v) for v in row])


def evaluate(model: nn.Module, loader: DataLoader[tuple[Tensor, Tensor]]) -> float:
    model.eval()
    total, seen = 0.0, 0
    with taeda.inference_mode():
        for x, y in loader:
            total += F.mse_loss(model(x), y, reduction="sum").item()
            seen += x.size(0)
    return total / max(seen, 1)


def fit(steps: int = 3) -> nn.Module:
    generator = taeda.Generator().manual_seed(0)
    first, _ = random_split(Squares(10, lambda x: x * 2), [7, 3], generator=generator)
    both: Dataset[Any] = ConcatDataset([first, Subset(Squares(4), [0, 1])])
    loader = DataLoader(both, sampler=EveryOther(9), batch_size=2, collate_fn=collate)
    batches = DataLoader(Squares(8), batch_sampler=BatchSampler(EveryOther(8), 2, drop_last=False))
    model = nn.Sequential(nn.Linear(1, 4), Block(4), nn.Linear(4, 1))
    optimizer = Sign(model.parameters())
    schedules: list[LRScheduler] = [Halves(optimizer), LambdaLR(optimizer, lambda e: 0.9**e)]
    plateau = ReduceLROnPlateau(optimizer, patience=2)
    best = float("inf")
    handle = model.register_forward_hook(lambda module, inputs, output: None)
    for _ in range(steps):
        for batch in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = F.mse_loss(model(batch["x"].unsqueeze(-1)).squeeze(-1), batch["y"])
            loss.backward()
            optimizer.step()
        for schedule in schedules:
            schedule.step()
        plateau.step(best)
        best = min(best, evaluate(model, batches))
    handle.remove()
    frozen = [p for name, p in model.named_parameters() if name.endswith("bias")]
    for p in frozen:
        p.requires_grad_(False)
    state: dict[str, Any] = {"model": model.state_dict(), "best": best}
    taeda.save(state, Path("checkpoint.pt"))
    model.load_state_dict(taeda.load("checkpoint.pt", map_location="cpu")["model"], strict=True)
    return model


def further() -> tuple[Tensor, ...]:
    policy: Distribution = Categorical(logits=taeda.zeros(4))
    action = policy.sample()
    distance = kl_divergence(Normal(0.0, 1.0), Normal(taeda.zeros(2), taeda.ones(2)))
    slopes = vmap(grad(lambda v: (v**3).sum()))(taeda.ones(3, 2))
    out, (h, c) = nn.LSTM(2, 3, batch_first=True)(taeda.ones(1, 5, 2))
    attended, weights = nn.MultiheadAttention(4, 2)(*[taeda.ones(2, 1, 4)] * 3)
    top = taeda.topk(slopes.flatten(), k=2)
    order = taeda.sort(slopes, dim=-1, descending=True).indices
    shape: tuple[int, ...] = tuple(out.shape)
    batch, *rest = out.shape
    picture = taeda.zeros(batch, 3, *rest)[..., None, :].permute(0, 1, 3, 2, 4)
    a, b = taeda.ones(4).chunk(2)
    clipped: Tensor = Clip.apply(Doubled()(a), 1.0)
    arrays: np.ndarray[Any, Any] = np.asarray(b) + picture.sum().detach().cpu().numpy()
    return (
        action,
        distance,
        h,
        c,
        attended,
        weights,
        top.values,
        order,
        clipped,
        taeda.tensor(arrays).reshape(*shape[:0]),
    )
