"""38 small models of the kinds that people export, written for `lib`: taeda, or PyTorch, which has the
same names. Each has its arguments by two sizes, and which dimensions have which of these sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["SETS", "Model", "models"]

#: sizes (b, t): as traced, larger, a batch of one, both doubled
SETS = ((2, 8), (5, 12), (1, 8), (4, 16))


class Model(NamedTuple):
    make: Callable[[], Any]
    given: Callable[[int, int], tuple[Any, ...]]
    shapes: tuple[dict[int, str], ...]  # "b" and "t" by dimension, for each argument


def _filled(lib: Any, *shape: int) -> Any:
    count = math.prod(shape)
    return lib.arange(count).mul(0.7351).sin().reshape(shape).to(lib.float32)


def models(lib: Any) -> dict[str, Model]:
    """All of them, by name."""
    made: dict[str, Model] = {}
    for group in (_images, _sequences, _recurrent, _others):
        made |= group(lib, lib.nn, lib.nn.functional)
    return made


def _module(lib: Any, parts: dict[str, Any], forward: Callable[..., Any]) -> Any:
    """A module with these parts, whose `forward` gets it as its first argument."""

    class Made(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

    if forward.__code__.co_argcount == 2:
        Made.forward = lambda self, x: forward(self, x)
    else:
        Made.forward = lambda self, x, y: forward(self, x, y)
    return Made()


# ---- images ----


def _images(lib: Any, nn: Any, F: Any) -> dict[str, Model]:
    image = lambda b, t: (_filled(lib, b, 3, 2 * t, 2 * t),)  # noqa: E731
    batch = ({0: "b"},)
    fixed = lambda b, _: (_filled(lib, b, 3, 16, 16),)  # noqa: E731

    def conv(i: int, o: int, k: int = 3, **more: Any) -> Any:
        norm = nn.BatchNorm2d(o)
        return nn.Sequential(
            nn.Conv2d(i, o, k, padding=k // 2, bias=False, **more), norm, nn.ReLU()
        )

    def head(width: int) -> Any:
        return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))

    def cnn() -> Any:
        return nn.Sequential(conv(3, 8), nn.MaxPool2d(2), conv(8, 16), head(16))

    def resnet() -> Any:
        block = _module(
            lib, {"a": conv(8, 8), "b": conv(8, 8)}, lambda s, x: F.relu(x + s.b(s.a(x)))
        )
        return nn.Sequential(conv(3, 8, stride=2), block, head(8))

    def vgg() -> Any:
        return nn.Sequential(
            conv(3, 8), conv(8, 8), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 10)
        )

    def mobilenet() -> Any:
        squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 2, 1), nn.ReLU(), nn.Conv2d(2, 8, 1)
        )
        parts = {
            "stem": conv(3, 8),
            "depth": conv(8, 8, groups=8),
            "gate": squeeze,
            "head": head(8),
        }

        def forward(s: Any, x: Any) -> Any:
            x = s.depth(s.stem(x))
            return s.head(F.hardswish(x * F.hardsigmoid(s.gate(x))))

        return _module(lib, parts, forward)

    def unet() -> Any:
        parts = {
            "down": conv(3, 8),
            "low": conv(8, 8),
            "up": nn.ConvTranspose2d(8, 8, 2, 2),
            "out": nn.Conv2d(16, 2, 1),
        }

        def forward(s: Any, x: Any) -> Any:
            first = s.down(x)
            return s.out(lib.cat([first, s.up(s.low(F.max_pool2d(first, 2)))], 1))

        return _module(lib, parts, forward)

    def densenet() -> Any:
        parts = {"a": conv(3, 4), "b": conv(7, 4), "c": conv(11, 4), "head": head(15)}

        def forward(s: Any, x: Any) -> Any:
            for layer in (s.a, s.b, s.c):
                x = lib.cat([x, layer(x)], 1)
            return s.head(x)

        return _module(lib, parts, forward)

    def shufflenet() -> Any:
        def forward(s: Any, x: Any) -> Any:
            x = s.stem(x)
            b, c, h, w = x.shape
            one, two = x.view(b, 2, c // 2, h, w).transpose(1, 2).reshape(b, c, h, w).chunk(2, 1)
            return s.head(lib.cat([one, s.part(two)], 1))

        return _module(
            lib, {"stem": conv(3, 8), "part": conv(4, 4, groups=4), "head": head(8)}, forward
        )

    def convnext() -> Any:
        parts = {
            "stem": nn.Conv2d(3, 8, 4, 4),
            "depth": nn.Conv2d(8, 8, 7, padding=3, groups=8),
            "norm": nn.LayerNorm(8),
            "wide": nn.Linear(8, 32),
            "thin": nn.Linear(32, 8),
            "head": head(8),
        }

        def forward(s: Any, x: Any) -> Any:
            x = s.stem(x)
            y = s.norm(s.depth(x).permute(0, 2, 3, 1))
            return s.head(x + s.thin(F.gelu(s.wide(y))).permute(0, 3, 1, 2))

        return _module(lib, parts, forward)

    def deeplab() -> Any:
        parts = {
            "stem": conv(3, 8, stride=2),
            "a": nn.Conv2d(8, 8, 3, padding=2, dilation=2),
            "out": nn.Conv2d(16, 2, 1),
        }

        def forward(s: Any, x: Any) -> Any:
            y = s.stem(x)
            pooled = F.adaptive_avg_pool2d(y, 1).expand_as(y)
            made = s.out(lib.cat([s.a(y), pooled], 1))
            return F.interpolate(made, size=(16, 16), mode="bilinear", align_corners=False)

        return _module(lib, parts, forward)

    def generator() -> Any:
        return nn.Sequential(
            nn.ConvTranspose2d(3, 8, 4, 2, 1),
            nn.InstanceNorm2d(8),
            nn.LeakyReLU(0.2),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(8, 3, 3, padding=1),
            nn.Tanh(),
        )

    def detector() -> Any:
        parts = {"stem": conv(3, 8), "scores": nn.Conv2d(8, 1, 1), "boxes": nn.Conv2d(8, 4, 1)}

        def forward(s: Any, x: Any) -> Any:
            x = s.stem(x)
            scores, places = s.scores(x).flatten(1).sigmoid().topk(5, dim=1)
            boxes = s.boxes(x).flatten(2).transpose(1, 2)
            return scores, boxes.gather(1, places[..., None].expand(-1, -1, 4))

        return _module(lib, parts, forward)

    def crnn() -> Any:
        parts = {
            "stem": conv(3, 4),
            "cells": nn.GRU(64, 6, batch_first=True),
            "out": nn.Linear(6, 10),
        }

        def forward(s: Any, x: Any) -> Any:
            y = s.stem(x).permute(0, 3, 1, 2).flatten(2)
            return s.out(s.cells(y)[0]).log_softmax(-1)

        return _module(lib, parts, forward)

    def spatial() -> Any:
        def forward(s: Any, x: Any) -> Any:
            theta = s.where(x.mean((2, 3))).view(-1, 2, 3)
            grid = F.affine_grid(theta, x.shape, align_corners=False)
            return F.grid_sample(x, grid, align_corners=False)

        return _module(lib, {"where": nn.Linear(3, 6)}, forward)

    whole = ({0: "b", 2: "2*t", 3: "2*t"},)
    wide = lambda b, t: (_filled(lib, b, 3, 16, t),)  # noqa: E731
    found: dict[str, Model] = {}
    for make in (cnn, resnet, mobilenet, unet, densenet, shufflenet, detector, generator):
        found[make.__name__] = Model(make, image, whole)
    for make in (vgg, convnext, deeplab, spatial):
        found[make.__name__] = Model(make, fixed, batch)
    found["crnn"] = Model(crnn, wide, ({0: "b", 3: "t"},))
    return found


# ---- attention ----


def _sequences(lib: Any, nn: Any, F: Any) -> dict[str, Model]:
    tokens = lambda b, t: (lib.arange(b * t).remainder(11).view(b, t),)  # noqa: E731
    vectors = lambda b, t: (_filled(lib, b, t, 16),)  # noqa: E731
    both = ({0: "b", 1: "t"},)

    def heads(x: Any, n: int) -> Any:
        b, t, c = x.shape
        return x.view(b, t, n, c // n).transpose(1, 2)

    def joined(x: Any) -> Any:
        return x.transpose(1, 2).flatten(2)

    def gpt() -> Any:
        parts = {
            "tokens": nn.Embedding(11, 16),
            "places": nn.Embedding(64, 16),
            "norm": nn.LayerNorm(16),
            "qkv": nn.Linear(16, 48),
            "out": nn.Linear(16, 16),
            "last": nn.Linear(16, 11),
        }

        def forward(s: Any, x: Any) -> Any:
            y = s.tokens(x) + s.places(lib.arange(x.shape[1]))
            q, k, v = (heads(p, 2) for p in s.qkv(s.norm(y)).chunk(3, -1))
            return s.last(
                y + s.out(joined(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
            )

        return _module(lib, parts, forward)

    def masked() -> Any:
        def forward(s: Any, x: Any) -> Any:
            t = x.shape[1]
            q, k, v = (heads(p, 2) for p in s.qkv(x).chunk(3, -1))
            hidden = lib.ones(t, t, dtype=lib.bool).triu(1)
            return joined(
                (q @ k.transpose(-2, -1) / 4.0).masked_fill(hidden, float("-inf")).softmax(-1) @ v
            )

        return _module(lib, {"qkv": nn.Linear(16, 48)}, forward)

    def llama() -> Any:
        parts = {
            "tokens": nn.Embedding(11, 16),
            "q": nn.Linear(16, 16, bias=False),
            "kv": nn.Linear(16, 8, bias=False),
            "scale": nn.Parameter(lib.ones(16)),
            "gate": nn.Linear(16, 32),
            "up": nn.Linear(16, 32),
            "down": nn.Linear(32, 16),
        }

        def turned(x: Any, angles: Any) -> Any:
            one, two = x.chunk(2, -1)
            return lib.cat(
                [one * angles.cos() - two * angles.sin(), two * angles.cos() + one * angles.sin()],
                -1,
            )

        def forward(s: Any, x: Any) -> Any:
            y = s.tokens(x)
            y = y * (y.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt() * s.scale
            angles = lib.arange(x.shape[1]).to(lib.float32)[:, None] * lib.tensor([1.0, 0.1])
            k, v = s.kv(y).chunk(2, -1)
            q, k, v = (
                heads(s.q(y), 4),
                heads(k, 1).expand(-1, 4, -1, -1),
                heads(v, 1).expand(-1, 4, -1, -1),
            )
            z = joined(
                F.scaled_dot_product_attention(
                    turned(q, angles), turned(k, angles), v, is_causal=True
                )
            )
            return y + s.down(F.silu(s.gate(z)) * s.up(z))

        return _module(lib, parts, forward)

    def encoder() -> Any:
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def bert() -> Any:
        parts = {
            "tokens": nn.Embedding(11, 16),
            "qkv": nn.Linear(16, 48),
            "norm": nn.LayerNorm(16),
            "pool": nn.Linear(16, 16),
        }

        def forward(s: Any, x: Any) -> Any:
            y = s.tokens(x)
            q, k, v = (heads(p, 2) for p in s.qkv(y).chunk(3, -1))
            z = F.scaled_dot_product_attention(q, k, v, attn_mask=(x != 0)[:, None, None, :])
            return s.pool(s.norm(y + joined(z))[:, 0]).tanh()

        return _module(lib, parts, forward)

    def multihead() -> Any:
        return _module(
            lib, {"a": nn.MultiheadAttention(16, 2, batch_first=True)}, lambda s, x: s.a(x, x, x)
        )

    def vit() -> Any:
        parts = {
            "cut": nn.Conv2d(3, 16, 4, 4),
            "first": nn.Parameter(lib.zeros(1, 1, 16)),
            "places": nn.Parameter(lib.ones(1, 17, 16)),
            "layer": nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True),
            "head": nn.Linear(16, 10),
        }

        def forward(s: Any, x: Any) -> Any:
            y = s.cut(x).flatten(2).transpose(1, 2)
            y = lib.cat([s.first.expand(y.shape[0], -1, -1), y], 1) + s.places
            return s.head(s.layer(y)[:, 0])

        return _module(lib, parts, forward)

    def swin() -> Any:
        def forward(s: Any, x: Any) -> Any:
            b = x.shape[0]
            y = lib.roll(s.cut(x).permute(0, 2, 3, 1), (-1, -1), (1, 2))
            y = y.view(b, 2, 2, 2, 2, 16).transpose(2, 3).reshape(b * 4, 4, 16)
            y = s.layer(y).view(b, 2, 2, 2, 2, 16).transpose(2, 3).reshape(b, 4, 4, 16)
            return lib.roll(y, (1, 1), (1, 2))

        return _module(
            lib,
            {
                "cut": nn.Conv2d(3, 16, 4, 4),
                "layer": nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
            },
            forward,
        )

    def kv_cache() -> Any:
        def forward(s: Any, x: Any, kept: Any) -> Any:
            q, k, v = s.qkv(x).chunk(3, -1)
            k, v = lib.cat([kept[0], k], 1), lib.cat([kept[1], v], 1)
            return F.scaled_dot_product_attention(q, k, v), lib.stack([k, v])

        return _module(lib, {"qkv": nn.Linear(16, 48)}, forward)

    pixels = lambda b, _: (_filled(lib, b, 3, 16, 16),)  # noqa: E731
    cached = lambda b, t: (_filled(lib, b, 1, 16), _filled(lib, 2, b, t, 16))  # noqa: E731
    found = {make.__name__: Model(make, tokens, both) for make in (gpt, llama, bert)}
    found |= {make.__name__: Model(make, vectors, both) for make in (masked, encoder, multihead)}
    found |= {make.__name__: Model(make, pixels, ({0: "b"},)) for make in (vit, swin)}
    found["kv_cache"] = Model(kv_cache, cached, ({0: "b"}, {1: "b", 2: "t"}))
    return found


# ---- recurrent ----


def _recurrent(lib: Any, nn: Any, F: Any) -> dict[str, Model]:
    given = lambda b, t: (_filled(lib, b, t, 6),)  # noqa: E731
    both = ({0: "b", 1: "t"},)

    def cells(kind: str, **more: Any) -> Callable[[], Any]:
        layer = getattr(nn, kind)
        return lambda: _module(
            lib, {"a": layer(6, 5, batch_first=True, **more)}, lambda s, x: s.a(x)[0]
        )

    def seq2seq() -> Any:
        parts = {
            "read": nn.LSTM(6, 8, batch_first=True),
            "write": nn.LSTM(6, 8, batch_first=True),
            "out": nn.Linear(16, 6),
        }

        def forward(s: Any, x: Any) -> Any:
            every, state = s.read(x)
            made, _ = s.write(x, state)
            seen = (made @ every.transpose(1, 2)).softmax(-1) @ every
            return s.out(lib.cat([made, seen], -1))

        return _module(lib, parts, forward)

    def tcn() -> Any:
        def forward(s: Any, x: Any) -> Any:
            y = x.transpose(1, 2)
            return F.relu(s.b(F.pad(F.relu(s.a(F.pad(y, (2, 0)))), (4, 0)))).transpose(1, 2)

        return _module(lib, {"a": nn.Conv1d(6, 8, 3), "b": nn.Conv1d(8, 8, 3, dilation=2)}, forward)

    def ssm() -> Any:
        def forward(s: Any, x: Any) -> Any:
            rate = F.softplus(s.rate(x))
            total = (-rate).cumsum(1)
            return (s.into(x) * rate * (-total).exp()).cumsum(1) * total.exp()

        return _module(lib, {"rate": nn.Linear(6, 6), "into": nn.Linear(6, 6)}, forward)

    named = {
        "lstm": cells("LSTM", num_layers=2),
        "bidirectional": cells("LSTM", bidirectional=True),
        "gru": cells("GRU"),
        "rnn": cells("RNN"),
        "seq2seq": seq2seq,
        "tcn": tcn,
        "ssm": ssm,
    }
    return {name: Model(make, given, both) for name, make in named.items()}


# ---- what is left ----


def _others(lib: Any, nn: Any, F: Any) -> dict[str, Model]:
    rows = lambda b, t: (_filled(lib, b, 6),)  # noqa: E731
    batch = ({0: "b"},)

    def mlp() -> Any:
        return nn.Sequential(
            nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 3)
        )

    def vae() -> Any:
        def forward(s: Any, x: Any) -> Any:
            mean, spread = s.read(x).chunk(2, -1)
            return s.write(mean).sigmoid(), -0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum(-1)

        return _module(lib, {"read": nn.Linear(6, 8), "write": nn.Linear(4, 6)}, forward)

    def dlrm() -> Any:
        parts = {"dense": nn.Linear(6, 8), "bag": nn.Embedding(11, 8), "out": nn.Linear(14, 1)}

        def forward(s: Any, x: Any, ids: Any) -> Any:
            every = lib.cat([s.dense(x)[:, None], s.bag(ids)], 1)
            pairs = lib.bmm(every, every.transpose(1, 2))
            rows, columns = lib.tril_indices(4, 4, -1)
            return s.out(lib.cat([every[:, 0], pairs[:, rows, columns]], 1)).sigmoid()

        return _module(lib, parts, forward)

    def gcn() -> Any:
        def forward(s: Any, x: Any, edges: Any) -> Any:
            y = s.into(x)
            summed = lib.zeros_like(y).index_add(0, edges[1], y[edges[0]])
            return F.relu(summed + y)

        return _module(lib, {"into": nn.Linear(6, 8)}, forward)

    def pointnet() -> Any:
        def forward(s: Any, x: Any) -> Any:
            return s.out(s.norm(s.into(x.transpose(1, 2))).relu().amax(-1))

        return _module(
            lib,
            {"into": nn.Conv1d(3, 16, 1), "norm": nn.BatchNorm1d(16), "out": nn.Linear(16, 4)},
            forward,
        )

    def experts() -> Any:
        parts = {"gate": nn.Linear(6, 4), "all": nn.Parameter(_filled(lib, 4, 6, 6))}

        def forward(s: Any, x: Any) -> Any:
            weights, chosen = s.gate(x).softmax(-1).topk(2, -1)
            every = lib.einsum("bi,eio->beo", x, s.all)
            return (every.gather(1, chosen[..., None].expand(-1, -1, 6)) * weights[..., None]).sum(
                1
            )

        return _module(lib, parts, forward)

    def nerf() -> Any:
        parts = {"color": nn.Linear(24, 4)}

        def forward(s: Any, x: Any) -> Any:
            scaled = x[..., None] * lib.tensor([1.0, 2.0, 4.0, 8.0])
            made = s.color(lib.cat([scaled.sin(), scaled.cos()], -1).flatten(2))
            alpha = 1 - (-F.relu(made[..., 3])).exp()
            through = lib.cumprod(1 - alpha + 1e-6, -1)
            return ((alpha * through)[..., None] * made[..., :3].sigmoid()).sum(1)

        return _module(lib, parts, forward)

    def diffusion() -> Any:
        parts = {
            "into": nn.Linear(6, 16),
            "time": nn.Linear(8, 16),
            "norm": nn.GroupNorm(4, 16),
            "out": nn.Linear(16, 6),
        }

        def forward(s: Any, x: Any, when: Any) -> Any:
            angles = when[:, None] * (lib.arange(4).to(lib.float32) * -2.0).exp()
            seen = s.time(lib.cat([angles.sin(), angles.cos()], -1))
            return s.out(F.silu(s.norm(s.into(x) + seen)))

        return _module(lib, parts, forward)

    def flow() -> Any:
        def forward(s: Any, x: Any) -> Any:
            one, two = x.split([3, 3], -1)
            scale, shift = s.net(one).chunk(2, -1)
            return lib.cat([one, two * scale.tanh().exp() + shift], -1).flip(-1), scale.tanh().sum(
                -1
            )

        return _module(lib, {"net": nn.Linear(3, 6)}, forward)

    points = lambda b, t: (_filled(lib, b, t, 3),)  # noqa: E731
    ids = lambda b, t: (_filled(lib, b, 6), lib.arange(b * 3).remainder(11).view(b, 3))  # noqa: E731
    graph = lambda b, t: (_filled(lib, t, 6), lib.arange(4 * b).remainder(t).view(2, 2 * b))  # noqa: E731
    times = lambda b, t: (_filled(lib, b, 6), _filled(lib, b))  # noqa: E731
    found = {make.__name__: Model(make, rows, batch) for make in (mlp, vae, experts, flow)}
    found |= {make.__name__: Model(make, points, ({0: "b", 1: "t"},)) for make in (pointnet, nerf)}
    found["dlrm"] = Model(dlrm, ids, ({0: "b"}, {0: "b"}))
    found["gcn"] = Model(gcn, graph, ({0: "t"}, {1: "2*b"}))
    found["diffusion"] = Model(diffusion, times, ({0: "b"}, {0: "b"}))
    return found
