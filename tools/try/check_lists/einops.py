"""einops: its functions with gradients, and its layers."""

from __future__ import annotations

from typing import Any

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce

from .given import filled, gradients, normal


def functions() -> Any:
    x = normal(2, 3, 4).requires_grad_()
    found = [rearrange(x, "a b c -> c (a b)"), repeat(x, "a b c -> a (b r) c", r=2)]
    found += [reduce(x, "a b c -> b", how) for how in ("min", "max", "sum", "mean", "prod")]
    found += [einsum(x, x, "a b c, a d c -> b d"), rearrange([x, x], "n a b c -> a (n b) c")]
    packed, shapes = pack([x, x[:, 0]], "a * c")
    found += unpack(packed, shapes, "a * c")
    sum(part.square().sum() for part in found).backward()
    return [*found, x.grad]


def layers() -> Any:
    net = filled(
        torch.nn.Sequential(
            Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2),
            EinMix("b n c -> b n d", weight_shape="c d", bias_shape="d", c=12, d=5),
            Reduce("b n d -> b d", "mean"),
        )
    )
    out = net(normal(2, 3, 4, 4))
    out.sum().backward()
    compiled = torch.compile(net, backend="eager")
    return [out, *gradients(net), compiled(normal(2, 3, 4, 4))]
