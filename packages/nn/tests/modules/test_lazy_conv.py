"""Convolutions that take the number of their inputs from the first one."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn

CASES = [
    (lambda: nn.LazyConv1d(4, 3), (2, 5, 9), nn.Conv1d, {"in_channels": 5}),
    (
        lambda: nn.LazyConv2d(4, 3, padding=1, bias=False),
        (2, 5, 9, 9),
        nn.Conv2d,
        {"in_channels": 5},
    ),
    (lambda: nn.LazyConv3d(4, 3, stride=2), (2, 5, 9, 9, 9), nn.Conv3d, {"in_channels": 5}),
    (lambda: nn.LazyConvTranspose1d(4, 3), (2, 5, 9), nn.ConvTranspose1d, {"in_channels": 5}),
    (lambda: nn.LazyConvTranspose2d(4, 3, 2), (5, 9, 9), nn.ConvTranspose2d, {"in_channels": 5}),
    (lambda: nn.LazyConvTranspose3d(4, 3), (2, 5, 4, 4, 4), nn.ConvTranspose3d, {"in_channels": 5}),
]


IDS = [case[2].__name__ for case in CASES]


@pytest.mark.parametrize(("make", "shape", "kind", "facts"), CASES, ids=IDS)
def test_the_first_call_makes_an_ordinary_layer(make, shape, kind, facts):
    lazy = make()
    assert lazy.cls_to_become is kind
    assert lazy.has_uninitialized_params()
    before = list(lazy.parameters())
    lazy(taeda.randn(shape))
    assert type(lazy) is kind
    for name, value in facts.items():
        assert getattr(lazy, name) == value
    assert [a is b for a, b in zip(lazy.parameters(), before, strict=True)] == [True] * len(before)
    assert not lazy._forward_pre_hooks
    assert all(p.requires_grad and p.numel() for p in lazy.parameters())


@pytest.mark.parametrize(("make", "shape", "kind", "facts"), CASES, ids=IDS)
def test_a_state_dict_gives_shapes_too(make, shape, kind, facts):
    source, lazy = make(), make()
    source(taeda.randn(shape))
    lazy.load_state_dict(source.state_dict())
    assert type(lazy) is not kind
    assert not lazy.has_uninitialized_params()
    lazy.eval()
    source.eval()
    x = taeda.randn(shape)
    assert taeda.equal(lazy(x), source(x))
    assert type(lazy) is kind
    for name, value in facts.items():
        assert getattr(lazy, name) == value


def test_a_wrong_rank_is_refused():
    with pytest.raises(
        RuntimeError, match=r"Expected 3D .unbatched. or 4D .batched. input to LazyConv2d"
    ):
        nn.LazyConv2d(3, 3)(taeda.ones(5))
    with pytest.raises(ValueError, match="divisible by groups, got 3 and 2"):
        nn.LazyConv2d(4, 3, groups=2)(taeda.ones(1, 3, 5, 5))
