"""Variable gives leaves that no graph knows."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import Variable


def test_the_graph_is_left_behind():
    p = taeda.ones(2, requires_grad=True)
    for given in (p, p * 1):
        made = Variable(given)
        assert type(made) is taeda.Tensor
        assert (made.requires_grad, made.grad_fn, made.is_leaf) == (False, None, True)
        assert made.data_ptr() == given.data_ptr()
    assert not (Variable(p * 1) * 2).sum().requires_grad


@pytest.mark.parametrize("arguments", [((True,), {}), ((), {"requires_grad": True})])
def test_a_leaf(arguments):
    x = taeda.ones(2)
    made = Variable(x, *arguments[0], **arguments[1])
    (made * 3).sum().backward()
    assert made.grad.tolist() == [3, 3]
    assert not x.requires_grad


def test_every_tensor_is_one():
    assert isinstance(taeda.ones(1), Variable)
    assert isinstance(taeda.nn.Parameter(taeda.ones(1)), Variable)
    assert not isinstance(1.0, Variable)
    assert Variable().shape == (0,)


def test_what_is_refused():
    with pytest.raises(TypeError, match="has to be a tensor, but got list"):
        Variable([1.0])
    with pytest.raises(TypeError, match="foo"):
        Variable(taeda.ones(1), foo=1)
    with pytest.raises(ValueError, match="volatile and require_grad"):
        Variable(taeda.ones(1), True, True)
    with pytest.raises(RuntimeError, match="floating"):
        Variable(taeda.ones(1, dtype=taeda.int64), requires_grad=True)
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert not Variable(taeda.ones(1), volatile=True).requires_grad
