"""2:4 sparse matrices: half of the elements, and products that equal the strided ones."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda.sparse import SparseSemiStructuredTensor, to_sparse_semi_structured

SIZES = {"float16": 64, "bfloat16": 64, "float32": 32, "int8": 128}


def matrix(dtype, rows=1, columns=1, seed=0):
    """With two, one or no elements other than 0 in each four."""
    taeda.manual_seed(seed)
    size = SIZES[dtype]
    x = taeda.randint(-4, 5, (rows * size, columns * size))
    order = taeda.rand(rows * size, columns * size // 4, 4).argsort(2).reshape(x.shape)
    return x.masked_fill(order >= 2, 0).to(getattr(taeda, dtype))


@pytest.mark.parametrize("dtype", SIZES)
def test_there_and_back(dtype):
    x = matrix(dtype, 1, 2)
    s = to_sparse_semi_structured(x)
    assert isinstance(s, SparseSemiStructuredTensor)
    assert (s.shape, s.dtype, s.layout) == (x.shape, x.dtype, taeda.strided)
    assert taeda.equal(s.to_dense(), x)
    assert taeda.equal(s.t().to_dense(), x.t())
    assert s.values().shape == (x.size(0), x.size(1) // 2)
    assert s.indices().dtype is (taeda.int32 if dtype == "int8" else taeda.int16)
    stored = s.values().nbytes + s.indices().nbytes
    share = {"float32": 17 / 32, "int8": 10 / 16}.get(dtype, 9 / 16)
    assert stored == share * x.nbytes


@pytest.mark.parametrize("dtype", SIZES)
def test_products_are_those_of_the_strided_matrix(dtype):
    x = matrix(dtype, 1, 2)
    s = to_sparse_semi_structured(x)
    right = taeda.randint(-3, 4, (x.size(1), 8)).to(x.dtype)
    left = taeda.randint(-3, 4, (8, x.size(0))).to(x.dtype)
    for made, wanted in (
        (s @ right, x @ right),
        (taeda.mm(s, right), x @ right),
        (left @ s, left @ x),
        (s.t() @ left.t(), x.t() @ left.t()),
        (right.t() @ s.t(), right.t() @ x.t()),
    ):
        assert made.dtype is x.dtype
        assert made.tolist() == wanted.tolist()  # small integers: sums are exact


def test_more_rows_than_are_expanded_at_once():
    x = matrix("float32", 17, 1)
    y = taeda.randn(32, 4)
    assert taeda.allclose(to_sparse_semi_structured(x) @ y, x @ y, atol=1e-4)
    z = taeda.randn(4, x.size(0))
    assert taeda.allclose(z @ to_sparse_semi_structured(x), z @ x, atol=1e-3)


def test_addmm():
    x, y, bias = matrix("float32"), taeda.randn(32, 32), taeda.randn(32)
    s = to_sparse_semi_structured(x)
    assert taeda.allclose(
        taeda.addmm(bias, s, y, beta=2, alpha=0.5),
        taeda.addmm(bias, x, y, beta=2, alpha=0.5),
        atol=1e-4,
    )
    assert taeda.allclose(taeda.addmm(bias, y, s), taeda.addmm(bias, y, x), atol=1e-4)


def test_weight_of_a_linear_layer():
    layer, x = taeda.nn.Linear(64, 32), taeda.randn(5, 3, 64, requires_grad=True)
    kept = matrix("float32", 1, 2)
    layer.weight = taeda.nn.Parameter(kept)
    wanted = layer(x)
    (wanted.sum()).backward()
    gradient = x.grad.clone()
    x.grad = None
    layer.weight = taeda.nn.Parameter(to_sparse_semi_structured(kept), requires_grad=False)
    made = layer(x)
    assert taeda.allclose(made, wanted, atol=1e-5)
    made.sum().backward()
    assert taeda.allclose(x.grad, gradient, atol=1e-4)


def test_copies():
    s = to_sparse_semi_structured(matrix("float16"))
    for made in (
        s.clone(),
        s.detach(),
        copy.deepcopy(s),
        pickle.loads(pickle.dumps(s)),
        s.to("cpu"),
    ):
        assert isinstance(made, SparseSemiStructuredTensor)
        assert taeda.equal(made.to_dense(), s.to_dense())
    assert repr(s).startswith(
        "SparseSemiStructuredTensor(shape=taeda.Size([64, 64]), transposed=False"
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (lambda: taeda.zeros(64, 64, dtype=taeda.float64), "float64"),
        (lambda: taeda.zeros(64, 60).half(), "multiples of 64"),
        (lambda: taeda.zeros(64, 64, dtype=taeda.int8), "multiples of 128"),
        (lambda: taeda.zeros(0, 64).half(), "multiples of 64"),
        (lambda: taeda.zeros(64).half(), "matrix"),
        (lambda: taeda.zeros(64, 64).half().to_sparse(), "strided"),
        (lambda: taeda.ones(64, 64).half(), "row 0 has 4 from column 0"),
    ],
)
def test_refused_matrices(given, text):
    with pytest.raises(RuntimeError, match=text):
        to_sparse_semi_structured(given())


def test_refused_calls():
    s = to_sparse_semi_structured(matrix("float16"))
    with pytest.raises(TypeError, match="strided tensor"):
        to_sparse_semi_structured(s)
    with pytest.raises(RuntimeError, match="deprecated"):
        to_sparse_semi_structured(matrix("float16"), transposed=True)
    with pytest.raises(NotImplementedError, match="to_dense"):
        s + 1
    with pytest.raises(NotImplementedError, match="to_dense"):
        s @ s
    with pytest.raises(RuntimeError, match="shapes"):
        s @ taeda.zeros(32, 4).half()
    assert s.data_ptr() == 0  # of a tensor without memory of its own


def test_parts_that_do_not_fit_are_refused():
    s = to_sparse_semi_structured(matrix("float32", 2, 1))
    right = (s.shape, s.packed, s.meta)
    assert taeda.equal(SparseSemiStructuredTensor(*right).to_dense(), s.to_dense())
    wrong = [
        *(
            (shape, s.packed, s.meta)
            for shape in ((32, 32), (64, 64), (-64, 32), (64,), (1, 64, 32))
        ),
        *(
            (s.shape, part, s.meta)
            for part in (s.packed[:32], s.packed.flatten(), s.packed.to(taeda.int8))
        ),
        *(
            (s.shape, s.packed, part)
            for part in (s.meta[:, :1], s.meta.float(), s.meta.to(taeda.int32))
        ),
        (*right, True),
    ]
    for parts in wrong:
        with pytest.raises(RuntimeError, match="SparseSemiStructuredTensor"):
            SparseSemiStructuredTensor(*parts)
    for parts in ((s.shape, None, s.meta), (s.shape, s.packed, 3)):
        with pytest.raises(TypeError, match="packed and meta are tensors"):
            SparseSemiStructuredTensor(*parts)


def test_what_is_added_has_the_shape_and_dtype_of_the_product():
    x = matrix("float32")
    s, right = to_sparse_semi_structured(x), taeda.ones(32, 3)
    for bias in (taeda.ones(2, 32, 3), taeda.ones(4), taeda.ones(3, dtype=taeda.float64)):
        for weight in (s, x):
            with pytest.raises(RuntimeError):
                taeda.addmm(bias, weight, right)
    for bias in (taeda.ones(2, 1, 32), taeda.ones(5), taeda.ones(32).half()):
        with pytest.raises(RuntimeError):
            taeda.nn.functional.linear(taeda.ones(2, 32), s, bias)
    lost = taeda.full((3,), float("nan"))
    assert taeda.equal(taeda.addmm(lost, s, right, beta=0), x @ right)
    assert taeda.equal(taeda.addmm(right, s, right, beta=2, alpha=3), 3 * (x @ right) + 2 * right)
    small = matrix("int8")
    with pytest.raises(RuntimeError, match="integers"):
        taeda.addmm(small, to_sparse_semi_structured(small), small, alpha=0.5)


def test_out_and_dimensions_are_refused():
    s, right = to_sparse_semi_structured(matrix("float32")), taeda.ones(32, 3)
    with pytest.raises(NotImplementedError, match="no kernel"):
        taeda.mm(s, right, out=taeda.zeros(32, 3))
    for dim in (2, -3, 5):
        with pytest.raises(IndexError, match="out of range"):
            s.transpose(0, dim)
