"""`call_key` and `gradients_are`, what a compiled function asks at each call."""

from __future__ import annotations

import gc
import sys

import pytest

import taeda
from taeda._core_api.programs import call_key, gradients_are


def test_the_key_of_tensors_says_which_are_the_same():
    x, y = taeda.ones(2), taeda.ones(3)
    assert call_key(()) == ((0,), [])
    key, tensors = call_key((x, y, x, y, y))
    assert key == (5, taeda.Tensor, taeda.Tensor, ("again", 0), ("again", 1), ("again", 1))
    assert len(tensors) == 2 and tensors[0] is x and tensors[1] is y
    assert call_key((y, x))[0] == call_key((x, y))[0] != call_key((x, x))[0]


def test_other_arguments_have_no_such_key():
    class Own(taeda.Tensor):
        pass

    x = taeda.ones(2)
    for other in (1, None, [x], taeda.nn.Parameter(x), x.as_subclass(Own)):
        assert call_key((x, other)) is None
    with pytest.raises(TypeError, match="wanted a tuple, got <class 'list'>"):
        call_key([x])


def test_leaves_with_and_without_a_gradient():
    a, b = (taeda.ones(2, requires_grad=True) for _ in range(2))
    made, plain = a * 2, taeda.ones(2)
    (b * 2).sum().backward()
    given = [a, b, made, plain, 3]
    for number, (with_one, without) in enumerate(
        [(False, True), (True, False), (False, False), (False, True), (False, False)]
    ):
        assert gradients_are(given, (number,), True) is with_one
        assert gradients_are(given, (number,), False) is without
    assert gradients_are(given, (), True) and gradients_are(given, (0, 3), False)
    assert not gradients_are(given, (0, 1), False)
    b.grad = None
    assert gradients_are(given, (0, 1, 3), False)


@pytest.mark.parametrize(
    ("args", "error"),
    [(((), (0,), True), TypeError), (([], [0], True), TypeError), (([], (0,), True), IndexError),
     (([], ("a",), True), TypeError), (([], (-1,), True), IndexError), (([],), TypeError)],
)  # fmt: skip
def test_bad_input_raises(args, error):
    with pytest.raises(error):
        gradients_are(*args)


def test_nothing_is_kept():
    x = taeda.ones(2)
    before = sys.getrefcount(x)
    for _ in range(50):
        call_key((x, x))
        gradients_are([x], (0,), False)
    gc.collect()
    assert sys.getrefcount(x) == before
