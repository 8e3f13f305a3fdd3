"""taeda/taeda.hpp: what arguments, results, errors, loops, views, schemas and derivatives become in
Python.
"""

from __future__ import annotations

import gc

import pytest

import taeda
from taeda.utils.cpp_extension import load_inline

SOURCE = r"""
using taeda::Tensor;

// ---- arguments and results of every type ----
std::string seen;
void remember(double a, float b, int64_t c, int d, bool e, const std::string &f, taeda::DType g,
              std::vector<int64_t> h,
              std::vector<double> i, std::optional<double> j, std::optional<Tensor> k,
              const std::vector<Tensor> &l,
              std::vector<bool> m)
{
    seen = taeda::detail::concat(a, " ", b, " ", c, " ", d, " ", e, " ", f, " ", taeda::name_of(g),
                                 " ", h.size(), " ", i.size(), " ",
                                 j.has_value(), " ", k.has_value(), " ", l.size(), " ", bool(m.at(0)));
    throw taeda::Error(seen);
}
double half(Tensor x) { return x.item<double>() / 2; }
int64_t count(Tensor x) { return x.numel(); }
bool row_major(Tensor x) { return x.is_contiguous(); }
std::tuple<Tensor, Tensor> both(Tensor x) { return {taeda::zeros_like(x), taeda::full<int64_t>({2}, 7)}; }
Tensor same(Tensor x) { return x; }
void add_one(Tensor x)
{
    auto at = x.mutable_accessor<float, 2>();
    for (int64_t i = 0; i < at.size(0); i++)
        for (int64_t j = 0; j < at.size(1); j++) at[i][j] += 1;
}

// ---- errors ----
void refuse(int64_t which)
{
    if (which == 0) throw taeda::TypeError("type");
    if (which == 1) throw taeda::ValueError("value");
    if (which == 2) throw taeda::IndexError("index");
    if (which == 3) throw taeda::NotImplementedError("none yet");
    if (which == 4) throw std::bad_alloc();
    if (which == 5) throw std::out_of_range("range");
    if (which == 6) throw std::invalid_argument("argument");
    if (which == 7) throw std::logic_error("logic");
    if (which == 8) throw 3;
    if (which == 9) taeda::parallel_for(0, 100000, 1,
            [](int64_t, int64_t) { throw taeda::ValueError("in the loop"); });
    TAEDA_CHECK(which < 10, "number ", which, " of ", 1.5, " is too ", std::string("much"));
    Tensor().numel();
}
int64_t size_of_dim(Tensor x, int64_t d) { return x.size(d); }

// ---- handles ----
Tensor kept;
void keep(Tensor x) { kept = x; }
Tensor give() { return kept; }

// ---- views, other operators, sums on threads ----
Tensor diagonal(Tensor x)
{
    Tensor d = x.as_strided({x.size(0)}, {x.stride(0) + x.stride(1)});
    return d.contiguous().alias();
}
Tensor ask(Tensor x)
{
    static taeda::Operator sum("sum.dim_IntList");
    Tensor rows = sum(x, std::vector<int64_t>{1}, true);
    return taeda::call("add.Tensor", rows, 0.5);
}
double total(Tensor x)
{
    x = x.contiguous();
    std::atomic<int64_t> all{0};
    const int64_t *data = x.data<int64_t>();
    taeda::parallel_for(0, x.numel(), 1000, [&](int64_t begin, int64_t end) {
        int64_t part = 0;
        for (int64_t i = begin; i < end; i++) part += data[i];
        all += part;
    });
    return double(all);
}

// ---- schema, meta, derivative ----
Tensor cube(Tensor x, double by)
{
    Tensor in = x.contiguous(), out = taeda::empty_like(x);
    taeda::dispatch_floating(x, "cube", [&](auto zero) {
        using T = decltype(zero);
        for (int64_t i = 0; i < in.numel(); i++)
            out.mutable_data<T>()[i] = T(by) * in.data<T>()[i] * in.data<T>()[i] * in.data<T>()[i];
    });
    return out;
}
Tensor cube_meta(Tensor x, double) { return taeda::empty_like(x); }
Tensor cube_backward(Tensor grad, Tensor x, double by)
{
    Tensor g = grad.contiguous(), in = x.contiguous(), out = taeda::empty_like(x);
    for (int64_t i = 0; i < in.numel(); i++)
        out.mutable_data<double>()[i] = 3 * by * g.data<double>()[i] *
                                        in.data<double>()[i] * in.data<double>()[i];
    return out;
}
// The gradient that arrives is grads[0] here, because `grad` is an argument of cube_backward.
std::tuple<Tensor, Tensor> cube_twice(const std::vector<Tensor> &grads, Tensor grad, Tensor x, double by)
{
    auto times = [](const Tensor &a, const Tensor &b) { return taeda::call("mul.Tensor", a, b); };
    Tensor u = times(grads.at(0), x);
    return {taeda::call("mul.Tensor", times(u, x), 3 * by),
            taeda::call("mul.Tensor", times(u, grad), 6 * by)};
}

TAEDA_EXTENSION(m)
{
    m.def("remember", remember);
    m.def("half", half, "half of it");
    m.def("count", count);
    m.def("row_major", row_major);
    m.def("both", both);
    m.def("same", same);
    m.def("add_one(Tensor(a!) x) -> ()", add_one);
    m.def("refuse", refuse);
    m.def("size_of_dim", size_of_dim);
    m.def("keep", keep);
    m.def("give", give);
    m.def("diagonal", diagonal);
    m.def("ask", ask);
    m.def("total", total);
    m.def("cube(Tensor x, float by=1) -> Tensor", cube, "by times x cubed")
        .meta(cube_meta).derivative("cube_backward");
    m.def("cube_backward(Tensor grad, Tensor x, float by) -> Tensor", cube_backward).derivative("cube_twice");
    m.def("cube_twice(Tensor?[] grads, Tensor grad, Tensor x, float by) -> (Tensor, Tensor)", cube_twice);
}
"""


@pytest.fixture(scope="module")
def ext(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hpp")
    return load_inline(
        "hpp_test", SOURCE, extra_cflags=["-O0", "-Wall", "-Werror"], build_directory=folder
    )


def test_every_type_of_argument(ext):
    x = taeda.ones(1)
    with pytest.raises(RuntimeError, match=r"1\.5 2 3 4 true text float64 2 1 false true 2 true"):
        ext.remember(
            1.5, 2, 3, 4, True, "text", taeda.float64, [1, 2], [0.5], None, x, [x, x], [True]
        )


def test_results(ext):
    x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ext.half(taeda.tensor(3)) == 1.5
    assert type(ext.count(x)) is int and ext.count(x) == 4
    assert ext.row_major(x) is True and ext.row_major(x.t()) is False
    zeros, sevens = ext.both(x.t())
    assert zeros.tolist() == [[0, 0], [0, 0]] and sevens.tolist() == [7, 7]
    assert ext.half.__doc__ == "half of it"


def test_an_argument_given_back_is_a_copy(ext):
    x = taeda.ones(3)
    y = ext.same(x)
    y += 1
    assert x.tolist() == [1, 1, 1]


def test_writing_where_the_schema_says_so(ext):
    x = taeda.zeros(2, 3)
    assert ext.add_one(x.t()) is None
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert x._version == 1


@pytest.mark.parametrize(
    ("which", "error", "message"),
    [
        (0, TypeError, "type"),
        (1, ValueError, "value"),
        (2, IndexError, "index"),
        (3, NotImplementedError, "none yet"),
        (4, MemoryError, "out of memory"),
        (5, IndexError, "range"),
        (6, ValueError, "argument"),
        (7, RuntimeError, "logic"),
        (8, RuntimeError, "no std::exception"),
        (9, ValueError, "in the loop"),
        (10, RuntimeError, r"number 10 of 1\.5 is too much"),
    ],
)
def test_exceptions(ext, which, error, message):
    with pytest.raises(error, match=rf"refuse: .*{message}"):
        ext.refuse(which)


def test_wrong_use(ext):
    with pytest.raises(IndexError, match="dimension 2 of a tensor with 1 dimensions"):
        ext.size_of_dim(taeda.ones(3), 2)
    assert ext.size_of_dim(taeda.ones(3), -1) == 3
    with pytest.raises(TypeError, match="wanted a int64 tensor, got float32"):
        ext.total(taeda.ones(3))
    with pytest.raises(ValueError, match="wanted a tensor with 2 dimensions"):
        ext.add_one(taeda.ones(3))
    with pytest.raises((TypeError, RuntimeError), match="half"):
        ext.half("text")


def test_a_kept_handle_outlives_the_call(ext):
    ext.keep(taeda.arange(5.0))
    gc.collect()
    junk = [taeda.zeros(5) for _ in range(100)]
    assert ext.give().tolist() == [0, 1, 2, 3, 4]
    assert len(junk) == 100


def test_views_operators_and_loops(ext):
    x = taeda.arange(9.0).reshape(3, 3)
    assert ext.diagonal(x).tolist() == [0, 4, 8]
    assert ext.ask(x).tolist() == [[3.5], [12.5], [21.5]]
    assert ext.total(taeda.arange(100_000)) == 100_000 * 99_999 / 2


def test_schema_and_meta(ext):
    x = taeda.tensor([1.0, 2.0], dtype=taeda.float64)
    assert ext.cube(x, by=2.0).tolist() == [2, 16] and ext.cube(x).tolist() == [1, 8]
    assert ext.cube(taeda.empty(2, 3, device="meta")).shape == (2, 3)
    with pytest.raises(NotImplementedError):
        ext.count(taeda.empty(2, device="meta"))
    with pytest.raises(TypeError, match="cube: int64 is not supported"):
        ext.cube(taeda.ones(2, dtype=taeda.int64))


def test_derivative(ext):
    pytest.importorskip("taeda.autograd", reason="derivatives need taeda-autograd")
    x = taeda.tensor([1.0, 2.0], dtype=taeda.float64, requires_grad=True)
    assert taeda.autograd.gradcheck(lambda x: ext.cube(x, 2.0), (x,))
    assert taeda.autograd.gradgradcheck(lambda x: ext.cube(x, 2.0), (x,))


def test_two_versions_in_one_process(tmp_path):
    text = (
        "taeda::Tensor f() {{ return taeda::scalar<float>({}); }}\nstruct S {{ static inline int "
        "shared = {}; }};\nint64_t g() {{ return S::shared; }}"
    )
    made = [
        load_inline("versions", text.format(n, n), functions=["f", "g"], extra_cflags=["-O0"])
        for n in (1, 2)
    ]
    assert [(m.f().item(), m.g()) for m in made] == [(1, 1), (2, 2)]


def test_what_the_core_refuses_is_said():
    source = (
        'taeda::Tensor f() { return taeda::zeros({1}); } TAEDA_EXTENSION(m) { m.def("f(Tenso x) -> '
        'Tensor", f); }'
    )
    with pytest.raises(ImportError, match="Tenso"):
        load_inline("refused", source, extra_cflags=["-O0"])
