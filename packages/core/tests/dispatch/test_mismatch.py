"""Messages of calls with wrong arguments name what is wrong, and where."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest

import taeda
from taeda._native import core

x = taeda.ones(4)
WRONG = {
    "an entry of a "
    "list": (lambda: taeda.stack([1, 2]), TypeError,
        "'tensors' (position 1) must be tuple of Tensors, but its entry 0 is int"),
    "a later entry": (lambda: taeda.cat([x, None]), TypeError, "but its entry 1 is NoneType"),
    "a size that is a "
    "float": (lambda: x.reshape(2, 2.0), TypeError,
        "must be tuple of ints, but what stands at position 2 is float"),
    "a size in a list": (lambda: x.reshape([2, 2.0]), TypeError, "but its entry 1 is float"),
    "no list": (lambda: taeda.stack(1), TypeError, "must be tuple of Tensors, not int"),
    "a keyword has no "
    "position": (lambda: taeda.zeros(2, dtype="float32"), TypeError,
        "argument 'dtype' must be taeda.dtype, not str"),
    "overloads": (lambda: x.sum(dims=0), TypeError,
        "(tuple of ints dim, bool keepdim=False, *, taeda.dtype dtype=None)"),
    "an "
    "index": (lambda: x[taeda.tensor([9])], IndexError,
        "^index 9 is out of bounds for dimension 0 with size 4"),
    "byte "
    "order": (lambda: taeda.from_numpy(np.zeros(2, ">f4")), TypeError, "byte order is not the machine's"),
    "channels of a "
    "norm": (lambda: taeda.batch_norm(taeda.ones(1, 3, 2), taeda.ones(4), None, None, None, True,
        0.1, 1e-5, False), RuntimeError, "the input of shape [1, 3, 2] has 3 channels"),
    "channels that stand "
    "last": (lambda: taeda.conv2d(taeda.ones(1, 8, 8, 3), taeda.ones(4, 3, 1, 1)), RuntimeError,
        "if the channels stand there, movedim(-1, 1)"),
    "padding": (lambda: taeda._C._nn.pad(taeda.ones(2, 2), (1, 1, 1, 1), "reflect"),
        NotImplementedError, "the last 1, 2 or 3 dimensions"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), WRONG.values(), ids=WRONG)
def test_the_message_says_what_and_where(call, error, text):
    start, text = ("^", text[1:]) if text.startswith("^") else ("", text)
    with pytest.raises(error, match=start + re.escape(text)):
        call()


OVERLOADED = sorted(name for name in core.functions[""] if callable(getattr(taeda, name, None)))


@pytest.mark.parametrize("name", OVERLOADED)
def test_every_function_says_what_it_wants(name):
    """Defaults of every kind are written as Python writes them."""
    with pytest.raises(TypeError) as caught:
        core.functions[""][name](no_such_argument=1)
    text = str(caught.value)
    assert text.startswith(f"{name}() ")
    assert "missing" in text or "no_such_argument" in text
    for default in re.findall(r"=([^ ,)]+)", text.partition("one of:")[2]):
        kinds = (str, int, float, bool, type(None), type(...))  # `...`: a list, or a dtype
        assert isinstance(ast.literal_eval(default), kinds)
