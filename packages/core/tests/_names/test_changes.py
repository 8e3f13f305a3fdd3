"""rename, rename_ and refine_names."""

from __future__ import annotations

import pytest

import taeda


def images():
    return taeda.ones(2, 3, 4, 5, names=("N", "C", "H", "W"))


def test_rename_makes_a_view():
    x = images()
    made = x.rename(N="batch", C="channels")
    assert made.names == ("batch", "channels", "H", "W")
    assert x.names == ("N", "C", "H", "W")
    assert made.data_ptr() == x.data_ptr()
    assert x.rename("a", "b", None, "d").names == ("a", "b", None, "d")
    assert x.rename("a", ..., "d").names == ("a", "C", "H", "d")
    assert x.rename(None).names == (None,) * 4
    assert x.rename(H=None).names == ("N", "C", None, "W")
    assert taeda.ones(()).rename(None).names == ()


def test_rename_in_place():
    x = images()
    assert x.rename_("a", "b", "c", "d") is x
    assert x.names == ("a", "b", "c", "d")
    x.names = None
    assert x.names == (None,) * 4
    assert not x.has_names()
    x.names = ["N", "C", "H", "W"]
    assert x.has_names()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x.rename(), RuntimeError),
        (lambda x: x.rename("a", N="b"), RuntimeError),
        (lambda x: x.rename(Z="b"), RuntimeError),
        (lambda x: x.rename(N="C"), RuntimeError),
        (lambda x: x.rename("a", "b"), RuntimeError),
        (lambda x: x.rename("a", ..., "b", ...), RuntimeError),
        (lambda x: x.rename(1, 2, 3, 4), TypeError),
        (lambda x: x.rename(N=1), TypeError),
        (lambda x: x.refine_names("M", ...), RuntimeError),
        (lambda x: x.refine_names(None, ...), RuntimeError),
        (lambda x: x.refine_names("N", "C", "H", "W", "X", ...), RuntimeError),
    ],
)
def test_refusals(call, error):
    x = images()
    with pytest.raises(error):
        call(x)
    assert x.names == ("N", "C", "H", "W")


def test_refine_names():
    x = taeda.ones(2, 3, 5, 7, 11)
    made = x.refine_names("A", ..., "B", "C")
    assert made.names == ("A", None, None, "B", "C")
    assert made.refine_names("A", "X", ...).names == ("A", "X", None, "B", "C")
    assert made.refine_names("A", None, "...", "C").names == ("A", None, None, "B", "C")


def test_gradients_and_copies():
    import copy
    import pickle

    x = taeda.ones(2, names=("N",), requires_grad=True)
    (x.rename("M") * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert x.grad.names == (None,)
    assert copy.deepcopy(x).names == ("N",)
    with pytest.raises(RuntimeError, match="names"):
        pickle.dumps(x)


def test_files_refuse_names(tmp_path):
    for name in ("a.pt", "a.safetensors"):
        with pytest.raises(RuntimeError, match="names"):
            taeda.save({"x": images()}, tmp_path / name)
        assert not (tmp_path / name).exists()
