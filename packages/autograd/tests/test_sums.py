"""What comes for one tensor of 16 bits from many places is added in float32, and rounded once."""

from __future__ import annotations

import itertools

import pytest

import taeda
from taeda import Tensor

DTYPES = (taeda.float16, taeda.bfloat16)
COUNTS = (1, 2, 3, 4, 300)  # one gradient, a pair, a sum: each is kept another way


class Doubled(taeda.autograd.Function):
    """Gives its gradient in float32, whatever its input is."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad.float() * 2


USES = {  # a use of the tensor, and its derivative at x
    "times one": (lambda x: x * 1, lambda x: taeda.ones_like(x)),
    "a view": (lambda x: x.view(3, 1), lambda x: taeda.ones_like(x)),
    "itself": (lambda x: x.expand(3), lambda x: taeda.ones_like(x)),
    "broadcast": (lambda x: x + taeda.zeros(4, 3, dtype=x.dtype), lambda x: taeda.full_like(x, 4)),
    "a rule in Python": (lambda x: x.sinh(), lambda x: x.cosh()),
    "a custom function": (Doubled.apply, lambda x: taeda.full_like(x, 2)),
    "beside float32": (lambda x: x * taeda.ones(3), lambda x: taeda.ones_like(x)),
    "one element": (lambda x: x[1], lambda x: taeda.tensor([0, 1, 0]).to(x)),
}
WAYS = ("leaf", "made", "grad", "graph", "hook", "inputs")


def gradient(way: str, x: Tensor, total: Tensor) -> Tensor | None:
    if way in ("leaf", "hook"):
        total.backward()
        return x.grad
    if way == "inputs":
        total.backward(inputs=[x])
        return x.grad
    return taeda.autograd.grad(total, x, create_graph=way == "graph")[0]


def unit(size: Tensor, dtype: taeda.dtype) -> Tensor:
    return taeda.exp2(size.abs().log2().floor()) * taeda.finfo(dtype).eps


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kinds", [(k,) for k in USES] + [tuple(USES)], ids="+".join)
def test_a_sum_is_rounded_once(kinds, dtype, way):
    for count in COUNTS:
        x = taeda.tensor([0.5, 1.25, 2.0], dtype=dtype, requires_grad=True)
        seen: list[Tensor] = []
        if way == "hook":
            x.register_hook(lambda g, seen=seen: seen.append(g.clone()))
        at = x if way in ("leaf", "hook", "inputs") else x.clone()
        uses = list(itertools.islice(itertools.cycle(kinds), count))
        total = sum((USES[k][0](at).sum(dtype=taeda.float32) for k in uses), taeda.zeros(()))
        found = gradient(way, at, total)
        exact = sum(USES[k][1](x.detach().double()) for k in uses)
        assert found is not None and found.dtype is dtype
        off = (found.double() - exact).abs()
        # each of the gradients is rounded by its rule, and the sum once more
        assert bool((off <= unit(exact.clamp_min(1e-3), dtype) * 0.51 * (1 + len(kinds))).all()), (
            count, found, exact,
        )  # fmt: skip
        if seen:
            assert len(seen) == 1 and taeda.equal(seen[0], found)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_parameter_used_300_times_gets_300(dtype):
    p = taeda.ones(2, dtype=dtype, requires_grad=True)
    sum((p * 1).sum(dtype=taeda.float32) for _ in range(300)).backward()
    assert p.grad.tolist() == [300, 300]


def test_sums_can_be_differentiated():
    x = taeda.tensor([1.5], dtype=taeda.bfloat16, requires_grad=True)
    total = sum((x * x).sum(dtype=taeda.float32) for _ in range(300))
    (first,) = taeda.autograd.grad(total, x, create_graph=True)
    (second,) = taeda.autograd.grad(first.sum(), x)
    assert first.item() == 900 and second.item() == 600


def test_gradients_of_several_passes_are_added_in_the_dtype_of_the_leaf():
    p = taeda.ones(1, dtype=taeda.bfloat16, requires_grad=True)
    for _ in range(300):
        (p * 1).sum().backward()
    assert p.grad.item() == 256  # as elsewhere: .grad is the user's, and of 16 bits


@pytest.mark.parametrize("count", COUNTS)
def test_what_waits_is_given_up_when_a_backward_fails(count):
    class Broken(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("broken")

    p = taeda.ones(2, dtype=taeda.bfloat16, requires_grad=True)
    first = Broken.apply(p)  # the oldest node: visited after the others have given theirs
    total = sum((p * 1).sum() for _ in range(count)) + first.sum()
    with pytest.raises(ValueError, match="broken"):
        total.backward()
    assert p.grad is None


def test_pairs_of_sparse_gradients_are_added_at_once():
    weight = taeda.ones(5, 2, dtype=taeda.bfloat16, requires_grad=True)
    index = taeda.tensor([0, 3])
    total = sum(taeda.embedding(weight, index, -1, False, True).sum() for _ in range(4))
    total.backward()
    assert weight.grad.to_dense()[:, 0].tolist() == [4, 0, 0, 4, 0]
