"""Orthogonal parametrizations: orthonormal before and after steps, first values kept, refusals."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.utils.parametrizations import orthogonal

SHAPES = [(4, 4), (6, 3), (3, 6), (2, 5, 3)]
MAPS = ["matrix_exp", "cayley", "householder"]


class Holder(nn.Module):
    def __init__(self, *shape, dtype=taeda.float64):
        super().__init__()
        taeda.manual_seed(1)
        self.weight = nn.Parameter(taeda.randn(*shape, dtype=dtype))


def off_by(weight):
    tall = weight if weight.size(-2) >= weight.size(-1) else weight.mT
    one = taeda.eye(tall.size(-1), dtype=weight.dtype)
    return (tall.mH @ tall - one).abs().max().item()


@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_orthonormal_whatever_is_trained(shape, name, trivial):
    module = orthogonal(Holder(*shape), "weight", name, use_trivialization=trivial)
    assert off_by(module.weight) < 1e-12
    before = module.weight.detach()
    goal = taeda.ones(shape, dtype=taeda.float64)
    for _ in range(3):
        (module.weight * goal).sum().backward()
        free = module.parametrizations.weight.original
        with taeda.no_grad():
            free.sub_(0.1 * free.grad)
        free.grad = None
        assert off_by(module.weight) < 1e-12
    assert (module.weight - before).abs().max() > 1e-3


@pytest.mark.parametrize("name", MAPS)
def test_an_orthogonal_weight_stays_what_it_is(name):
    module = Holder(4, 4)
    with taeda.no_grad():
        module.weight.copy_(taeda.linalg.qr(module.weight)[0])
    wanted = module.weight.detach().clone()
    orthogonal(module, orthogonal_map=name)
    assert taeda.allclose(module.weight, wanted, atol=1e-12)
    tall = orthogonal(Holder(5, 3), orthogonal_map="householder", use_trivialization=False)
    assert off_by(tall.weight) < 1e-12


def test_complex_weights_are_unitary():
    module = orthogonal(Holder(3, 3, dtype=taeda.complex128))
    assert off_by(module.weight) < 1e-12
    assert module.parametrizations.weight[0].orthogonal_map == "matrix_exp"
    assert orthogonal(Holder(5, 3)).parametrizations.weight[0].orthogonal_map == "householder"


def assigned(module, value):
    module.weight = value


REFUSED = {
    "name": (lambda: orthogonal(Holder(2, 2), "bias"), ValueError, "no parameter or buffer with name 'bias'"),
    "vector": (lambda: orthogonal(Holder(2)), ValueError, "matrix or batch.*1 dimensions"),
    "map": (lambda: orthogonal(Holder(2, 2), orthogonal_map="qr"), ValueError, 'Got: "qr"'),
    "complex": (
        lambda: orthogonal(Holder(2, 2, dtype=taeda.complex128), orthogonal_map="householder"),
        ValueError, "does not support complex",
    ),
    "assigned": (
        lambda: assigned(
            orthogonal(Holder(2, 2), orthogonal_map="cayley", use_trivialization=False), taeda.eye(2).double()
        ),
        NotImplementedError, "not possible to assign",
    ),
    "shape": (lambda: assigned(orthogonal(Holder(2, 2)), taeda.eye(3).double()), ValueError, "of shape"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
