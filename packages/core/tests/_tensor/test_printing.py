"""Goldens of printed tensors, and the options that change them."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda._tensor.printing import get_printoptions, printoptions

INF, NAN = math.inf, math.nan


def made(values, name="float32"):
    return taeda.tensor(values, dtype=getattr(taeda, name))


GOLDENS = [
    ("integral floats", lambda: made([1.0, 2.0]), "tensor([1., 2.])"),
    ("fixed point", lambda: made([1.5, -2.25]), "tensor([ 1.5000, -2.2500])"),
    ("zero-dim", lambda: made(2.5, "float64"), "tensor(2.5000, dtype=float64)"),
    ("large ratio", lambda: made([1e5, 1.5]), "tensor([1.0000e+05, 1.5000e+00])"),
    ("small values", lambda: made([1e-5]), "tensor([1.0000e-05])"),
    ("large integral", lambda: made([1e9, 1.0]), "tensor([1.0000e+09, 1.0000e+00])"),
    ("nan and inf", lambda: made([1.5, -INF, NAN]), "tensor([1.5000,   -inf,    nan])"),
    ("only nan", lambda: made([NAN, NAN]), "tensor([nan, nan])"),
    ("zeros", lambda: made([0.0, INF]), "tensor([0., inf])"),
    ("bool", lambda: made([True, False], "bool"), "tensor([ True, False])"),
    ("int64", lambda: made([1, -20], "int64"), "tensor([  1, -20])"),
    ("uint8", lambda: made([7], "uint8"), "tensor([7], dtype=uint8)"),
    ("complex", lambda: made([1 + 2j, 3.5 - 1e5j], "complex64"),
     "tensor([1.0000+2.0000e+00j, 3.5000-1.0000e+05j])"),
    ("empty", lambda: taeda.empty(0), "tensor([])"),
    ("empty 2-D", lambda: taeda.empty(0, 3), "tensor([], size=(0, 3))"),
    ("empty int", lambda: taeda.empty(0, dtype=taeda.int64), "tensor([], dtype=int64)"),
    ("meta", lambda: taeda.empty(2, 3, device="meta"), "tensor(..., device='meta', size=(2, 3))"),
    ("matrix", lambda: taeda.tensor([[1, 2], [3, 4]]), "tensor([[1, 2],\n        [3, 4]])"),
    ("cube", lambda: taeda.tensor([[[1], [2]], [[3], [4]]]),
     "tensor([[[1],\n         [2]],\n\n        [[3],\n         [4]]])"),
    ("transposed", lambda: taeda.tensor([[1, 2], [3, 4]]).t(), "tensor([[1, 3],\n        [2, 4]])"),
    ("summary", lambda: taeda.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ("requires grad", lambda: taeda.ones(2, requires_grad=True),
     "tensor([1., 1.], requires_grad=True)"),
    ("bfloat16", lambda: made([1.5], "bfloat16"), "tensor([1.5000], dtype=bfloat16)"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "text"), [g[1:] for g in GOLDENS], ids=[g[0] for g in GOLDENS])
def test_golden(make, text):
    assert repr(make()) == text.replace("dtype=", "dtype=taeda.")


def test_lines_are_filled_up_to_the_width():
    with printoptions(linewidth=40):
        assert repr(taeda.ones(9) * 1.5) == (
            "tensor([1.5000, 1.5000, 1.5000, 1.5000,\n"
            "        1.5000, 1.5000, 1.5000, 1.5000,\n"
            "        1.5000])"
        )


def test_summary_of_two_dimensions_leaves_rows_and_columns_out():
    with printoptions(edgeitems=1):
        assert repr(taeda.arange(2000).reshape(40, 50)) == (
            "tensor([[   0,  ...,   49],\n        ...,\n        [1950,  ..., 1999]])"
        )


def test_a_suffix_goes_to_a_new_line_when_it_does_not_fit():
    with printoptions(linewidth=30):
        assert repr(made([1.5], "float64").requires_grad_()) == (
            "tensor([1.5000],\n       dtype=taeda.float64,\n       requires_grad=True)"
        )


def test_default_dtype_decides_which_dtype_is_said():
    taeda.set_default_dtype(taeda.float64)
    try:
        assert repr(made([1.0], "float64")) == "tensor([1.])"
        assert repr(made([1.0])) == "tensor([1.], dtype=taeda.float32)"
    finally:
        taeda.set_default_dtype(taeda.float32)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"precision": 1}, "tensor([0.5, 1.2])"),
        ({"sci_mode": True, "precision": 2}, "tensor([5.00e-01, 1.25e+00])"),
        ({"threshold": 1, "edgeitems": 1}, "tensor([0.5000, 1.2500])"),
    ],
    ids=str,
)
def test_options(options, text):
    with printoptions(**options):
        assert repr(made([0.5, 1.25])) == text


def test_sci_mode_false_forbids_exponents():
    with printoptions(sci_mode=False):
        assert repr(made([1e-9, 1e9])) == "tensor([         0.0000, 1000000000.0000])"


def test_profiles_set_several_options_and_the_block_restores_them():
    before = get_printoptions()
    with printoptions(profile="short"):
        assert (get_printoptions()["precision"], get_printoptions()["edgeitems"]) == (2, 2)
    with printoptions(profile="full"):
        assert get_printoptions()["threshold"] == INF
    assert get_printoptions() == before


@pytest.mark.parametrize(
    "options", [{"profile": "long"}, {"precision": -1}, {"linewidth": "80"}], ids=str
)
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        taeda.set_printoptions(**options)


def test_a_zero_dim_tensor_formats_as_its_number():
    assert f"{taeda.tensor(1.5):.3f}" == "1.500"
    with pytest.raises(TypeError, match="__format__"):
        f"{taeda.tensor([1.5]):.3f}"


def test_named_results_stand_one_a_line():
    assert repr(taeda.max(taeda.eye(2), 1)) == (
        "taeda.return_types.max(\nvalues=tensor([1., 1.]),\nindices=tensor([0, 1]))"
    )
