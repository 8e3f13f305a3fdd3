"""Transforms that go forward: jvp and linearize."""

from __future__ import annotations

import threading

import pytest
from transform_inputs import X, close, cube, values

import taeda
import taeda.autograd.forward_ad as forward_ad
from taeda.func import _forward as forward
from taeda.func import grad, jvp, linearize


def test_jvp():
    value, slope = jvp(lambda x, y: {"p": x * y}, (X, X + 1), (values(1, 0, 0), values(0, 1, 0)))
    close(value["p"], X * (X + 1))
    close(slope["p"], [X[0] + 1, X[1], 0])
    assert jvp(lambda x: taeda.ones(2), (X,), (X,))[1].tolist() == [0, 0]
    assert len(jvp(lambda x: (x, x * 2), (X,), (X,), has_aux=True)) == 3


def test_linearize_runs_the_function_once():
    calls = []

    def watched(x, y):
        calls.append(1)
        return x.sin() * y, y

    (value, _), push = linearize(watched, X, X)
    for t in (values(1, 0, 0), values(1, 2, 3)):
        slope, second = push(t, t * 2)
        close(slope, X.cos() * X * t + X.sin() * 2 * t)
        close(second, 2 * t)
    assert calls == [1]
    close(value, X.sin() * X)


def test_an_inner_function_of_both_variables():
    x, y = values(3)[0], values(2)[0]

    def mixed(x):
        return jvp(lambda y: x**2 * y**3, (y,), (values(1)[0],))[1]  # 3 x² y²

    assert grad(mixed)(x).item() == 72
    assert jvp(mixed, (x,), (values(1)[0],))[1].item() == 72
    assert linearize(mixed, x)[1](values(1)[0]).item() == 72


def test_transforms_inside_a_dual_level():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, values(1, 2, 3))
        slope = grad(lambda x: cube(x).sum())(dual)
        close(forward_ad.unpack_dual(slope).tangent, 6 * X * values(1, 2, 3))


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: jvp(cube, X, X), RuntimeError, "Expected primals to be a tuple"),
        (lambda: jvp(cube, (X,), (values(1, 2),)), RuntimeError, "different size"),
        (lambda: jvp(lambda x: taeda.ones(2), (X,), (X,), strict=True), RuntimeError,
            "output of f is independent of the inputs"),
        (lambda: linearize(cube, X)[1](values(1, 2)), RuntimeError, r"tangent:0 with shape .*\[2\].*\[3\]"),
    ],
)  # fmt: skip
def test_refusals(run, error, text):
    with pytest.raises(error, match=text):
        run()


@pytest.mark.parametrize("function", [lambda x: x.sin(), lambda x: x.sin().sum(), cube])
def test_a_linear_function_is_mapped_over_its_tangents(function):
    _, push = linearize(function, X)
    made = taeda.func.vmap(push)(taeda.eye(3, dtype=X.dtype))
    each = taeda.stack([push(row) for row in taeda.eye(3, dtype=X.dtype)])
    close(made, each)


def test_a_linear_function_that_asks_for_values_is_mapped_too():
    def function(x):
        return x * x.sum().item()

    _, push = linearize(function, X)
    made = taeda.func.vmap(push)(taeda.eye(3, dtype=X.dtype))
    close(made, taeda.eye(3, dtype=X.dtype) * X.sum())


def in_another_thread(work):
    """Runs it while this thread waits."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_jvp_beside_a_level_of_another_thread_gives_the_same():
    want = jvp(taeda.sin, (X,), (X * 2,))
    found = []
    with forward_ad.dual_level():
        in_another_thread(lambda: found.append(jvp(taeda.sin, (X,), (X * 2,))))
        assert forward_ad.make_dual(X, X) is not None  # the level is still open
    ((value, slope),) = found
    close(value, want[0])
    close(slope, want[1])


def test_a_level_that_opens_between_the_question_and_the_answer_is_no_error(monkeypatch):
    want = jvp(taeda.sin, (X,), (X * 2,))
    with forward_ad.dual_level():
        monkeypatch.setattr(forward._core, "is_forward_on", lambda: False)  # as it was when asked
        value, slope = jvp(taeda.sin, (X,), (X * 2,))
    close(value, want[0])
    close(slope, want[1])


def test_the_level_of_a_jvp_that_raises_is_closed():
    def fails(x):
        raise KeyError("of the function")

    for _ in range(2):
        with pytest.raises(KeyError):
            jvp(fails, (X,), (X,))
    with forward_ad.dual_level() as level:
        assert level == 0


def test_one_of_two_opens_the_level():
    assert forward_ad.opens_level()
    try:
        assert not forward_ad.opens_level()
        with pytest.raises(RuntimeError, match="a dual level is open"):
            forward_ad.enter_dual_level()
    finally:
        forward_ad.exit_dual_level()
    with pytest.raises(RuntimeError, match="no dual level is open"):
        forward_ad.exit_dual_level()
