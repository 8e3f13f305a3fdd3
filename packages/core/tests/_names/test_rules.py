"""What becomes of names: the table of PyTorch's page, and the law that names change no value."""

from __future__ import annotations

from itertools import islice

import pytest
from samples import ROWS, samples

import taeda
from taeda import Tensor
from taeda._names.rules import RULES
from taeda._native import core

#: the operators that PyTorch's page of named tensors lists, by the words of the op table that keep its rule
COVERAGE = {
    "Keeps input names": ({"KEEP", "MATCH", "UNIFY", "EXPAND"}, """
        abs abs_ acos acos_ asin asin_ atan atan_ bernoulli bitwise_not ceil chunk clamp cos cosh
        acosh cumprod cumsum deg2rad detach digamma erf erfc erfinv exp expand expm1 floor frac
        index_fill log log10 log1p log2 logical_not masked_fill narrow neg normal rad2deg reciprocal
        round rsqrt sigmoid sign sgn sin sinh asinh softmax split sqrt tan tanh atanh trunc"""),
    "Unifies names from inputs": ({"UNIFY", "KEEP"}, """
        add add_ atan2 atan2_ cat div div_ eq ge gt le lt mul mul_ ne pow sub sub_ copy_"""),
    "Removes dimensions": ({"DROP", "SQUEEZE", "KEEP", "NONE"}, """
        kthvalue logsumexp mean median nanmedian mode prod select squeeze std std_mean sum topk
        unbind var var_mean all any dot"""),
    "Contracts away dims": ({"CONTRACT"}, "addmm addmm_ addmv addmv_ bmm matmul mm mv"),
    "Permutes dimensions": ({"PERMUTE"}, "transpose"),
    "Factory functions": ({"MAKE", "KEEP"}, "empty empty_like ones rand randn zeros"),
    "Aligns mask": ({"SELECT"}, "masked_select"),
    # in place: the tensor keeps its names
    "None": ({"KEEP", "MATCH", "UNIFY"}, """
        acosh_ bernoulli_ bitwise_not_ cauchy_ ceil_ clamp_ cos_ cosh_ deg2rad_ detach_ digamma_
        erf_ erfc_ erfinv_ exp_ expm1_ exponential_ fill_ floor_ frac_ index_fill_ log10_ log1p_
        log2_ log_ log_normal_ logical_not_ masked_fill_ neg_ normal_ pow_ rad2deg_ random_
        reciprocal_ round_ rsqrt_ sigmoid_ sign_ sgn_ sin_ sinh_ asinh_ sqrt_ tan_ tanh_ atanh_
        trunc_ uniform_ zero_"""),
}  # fmt: skip
#: overloads of these names that take no tensor, or that the page does not mean
OTHERS = {"normal.float_float", "matmul.linalg", "bernoulli_.Tensor"}
NAMES = "ABCDEFGH"


def rows_of(name):
    plain = [row for row in ROWS if row.partition(".")[0] == name]
    return plain or [row for row in ROWS if row.partition(".")[0] == name.removesuffix("_")]


@pytest.mark.parametrize(
    ("name", "words"),
    [(name, words) for words, names in COVERAGE.values() for name in names.split()],
)
def test_listed_operators_carry_names(name, words):
    rows = [row for row in rows_of(name) if row not in OTHERS]
    assert rows
    assert {core.op_names(row) for row in rows} <= words


#: what is no row: (call, names of the result or None for what is no tensor)
FACTS = {
    **{name: (lambda x, name=name: getattr(x, name)(), ("N", "C")) for name in (
        "bfloat16", "bool", "byte", "char", "cpu", "double", "float", "half", "int", "long", "short")},
    **{name: (lambda x, name=name: getattr(x, name)(), None) for name in (
        "data_ptr", "dim", "element_size", "get_device", "is_contiguous", "is_floating_point", "is_pinned",
        "is_shared", "is_signed", "ndimension", "numel", "size", "stride", "type", "has_names")},
    **{name: (lambda x, name=name: getattr(x, name), None) for name in (
        "device", "grad", "is_cuda", "is_leaf", "is_sparse", "is_sparse_csr", "itemsize", "nbytes", "ndim",
        "requires_grad")},
    "is_tensor": (taeda.is_tensor, None),
    "item": (lambda x: x[:1, :1].item(), None),
    "register_hook": (lambda x: x.requires_grad_().register_hook(print), None),
    "register_post_accumulate_grad_hook": (
        lambda x: x.requires_grad_().register_post_accumulate_grad_hook(print), None),
    "requires_grad_": (lambda x: x.requires_grad_(), ("N", "C")),
    "resize_": (lambda x: x.resize_(2, 3), ("N", "C")),
    "resize_as_": (lambda x: x.resize_as_(taeda.ones(2, 3)), ("N", "C")),
    "tensor": (lambda x: taeda.tensor([[1]], names=("N", "C")), ("N", "C")),
    "to": (lambda x: x.to(taeda.int32), ("N", "C")),
    "type_as": (lambda x: x.type_as(taeda.ones(1, dtype=taeda.int32)), ("N", "C")),
    "detach_": (lambda x: x.detach_(), ("N", "C")),
    "data": (lambda x: x.data, ("N", "C")),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_listed_methods(name):
    call, names = FACTS[name]
    made = call(taeda.ones(2, 3, names=("N", "C")))
    assert (made.names if names else None) == names


def test_other_sizes_are_refused():
    x = taeda.ones(2, 3, names=("N", "C"))
    for call in (lambda: x.resize_(3, 2), lambda: x.resize_as_(taeda.ones(6)), lambda: x.set_()):
        with pytest.raises(RuntimeError, match="names"):
            call()
    assert x.shape == (2, 3)


def test_words_are_known():
    assert {core.op_names(row) for row in ROWS} <= {*RULES, "MAKE", "REFUSE"}


# ---- the law: a call with names gives what it gives without ----
def named(sample, row=""):
    """The sample with the last letters as names; a vector that is added has the name of a product's."""
    given = sample.map(lambda x: x.clone().rename_(*NAMES[len(NAMES) - x.dim() :]))
    if row == "addmv" and given.args[0].dim():
        given.args[0].rename_("G")
    return given


def call(sample):
    taeda.manual_seed(0)
    return sample.call()


def values(made):
    if isinstance(made, Tensor):
        plain = made.rename(None)
        return [plain.shape, plain.dtype, plain.resolve_conj().tolist()]
    return [values(part) for part in made] if isinstance(made, (tuple, list)) else made


def sizes_kept(made, given):
    """Dimensions that keep their name keep their size."""
    old = {name: size for x in given for name, size in zip(x.names, x.shape, strict=True)}
    return all(old[name] == size for name, size in zip(made.names, made.shape, strict=True) if name)


UNSET = {"empty_like"}
LIMIT = 12  # samples of a row


@pytest.mark.parametrize("row", [row for row in ROWS if core.op_names(row) in RULES])
def test_names_change_no_value(row):
    ran = 0
    for dtype in ("float32", "int64", "bool", "complex64"):
        for sample in islice(samples(row, dtype), LIMIT):
            try:
                expected = call(sample.map(lambda x: x.clone()))
            except (RuntimeError, TypeError, IndexError, ValueError):
                continue
            given = named(sample, row)
            made = call(given)
            ran += 1
            assert row in UNSET or repr(values(made)) == repr(values(expected)), str(sample)
            if core.op_names(row) in ("PERMUTE", "SQUEEZE") and isinstance(made, Tensor):
                assert sizes_kept(made, given.tensors())
            parts = made if isinstance(made, (tuple, list)) else [made]
            for part in parts:
                assert not isinstance(part, Tensor) or len(part.names) == part.dim()
    assert ran


@pytest.mark.parametrize("row", [row for row in ROWS if core.op_names(row) == "REFUSE"])
def test_others_refuse_names(row):
    for sample in islice(samples(row, "float32"), 3):
        given = named(sample)
        if not any(x.dim() for x in given.tensors()):
            continue
        with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)):
            given.call()
