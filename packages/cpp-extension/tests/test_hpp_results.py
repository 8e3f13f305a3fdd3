"""What functions of C++ may return: lists, optional ones, views, up to sixteen; elements of every type;
operators in the bodies of loops; what messages may be made of.
"""

from __future__ import annotations

import threading

import pytest

import taeda
from taeda.utils.cpp_extension import load_inline

#: how a result lies to the argument x: C++, and the same in Python
PLACES = {
    "itself": ("x", lambda x: x),
    "transposed": ("taeda::transpose(x, 0, 1)", lambda x: x.transpose(0, 1)),
    "reshaped": ("taeda::reshape(x, {-1})", lambda x: x.reshape(-1)),
    "row": ("taeda::select(x, 0, 1)", lambda x: x[1]),
    "alias": ("x.alias()", lambda x: x),
    "fresh": ("x + 1", lambda x: x + 1),
    "view_of_fresh": ("taeda::transpose(x + 1, 0, 1)", lambda x: (x + 1).transpose(0, 1)),
}
#: dtype -> its C++ type
ELEMENTS = {
    taeda.float32: "float",
    taeda.float64: "double",
    taeda.float16: "taeda::Half",
    taeda.bfloat16: "taeda::BFloat16",
    taeda.complex64: "std::complex<float>",
    taeda.complex128: "std::complex<double>",
    taeda.int64: "int64_t",
    taeda.uint8: "uint8_t",
    taeda.bool: "bool",
}
MOST = 16
FAMILIES = {
    "dispatch_floating": {taeda.float32, taeda.float64},
    "dispatch_floating<taeda::Half, taeda::BFloat16>": {
        taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16},
    "dispatch_integral": {taeda.int64, taeda.uint8},
    "dispatch_integral<bool>": {taeda.int64, taeda.uint8, taeda.bool},
    "dispatch_complex": {taeda.complex64, taeda.complex128},
    "dispatch_all": {taeda.float32, taeda.float64, taeda.int64, taeda.uint8},
    "dispatch_all<taeda::Half, bool>": {
        taeda.float32, taeda.float64, taeda.int64, taeda.uint8, taeda.float16, taeda.bool},
}  # fmt: skip


def results(n: int) -> str:
    return f"({', '.join(['Tensor'] * n)})"


SOURCE = r"""
using taeda::Tensor;
static std::vector<Tensor> list(const Tensor &x, int64_t n)
{
    std::vector<Tensor> made;
    for (int64_t i = 0; i < n; i++) made.push_back(x + i);
    return made;
}
static std::vector<Tensor> same_twice(const Tensor &x) { return {x, x}; }
static std::tuple<Tensor, Tensor> shared(const Tensor &x)
{
    Tensor made = x + 1;
    return {made, taeda::transpose(made, 0, 1)};
}
/* memory that was made here is asked about once somebody else saw the tensor */
static std::tuple<Tensor, Tensor> shared_back(const Tensor &x)
{
    Tensor made = taeda::empty_like(x), copy = made;
    for (int64_t i = 0; i < x.numel(); i++) made.mutable_data<float>()[i] = x.data<float>()[i];
    return {made.alias(), copy};
}
static std::tuple<Tensor, Tensor> handed_twice(const Tensor &x)
{
    Tensor made = taeda::empty_like(x);
    for (int64_t i = 0; i < x.numel(); i++) made.mutable_data<float>()[i] = x.data<float>()[i];
    return {made, made};
}
static std::tuple<Tensor, std::optional<Tensor>> maybe(const Tensor &x, bool second)
{
    if (second) return {x + 1, x + 2};
    return {x + 1, std::nullopt};
}
static Tensor first_row(const Tensor &x) { return taeda::select(x, 0, 0); }
static Tensor from_list(const std::vector<Tensor> &list) { return list.at(1); }
static int64_t parts(const Tensor &x) { return int64_t(taeda::Operator("unbind.int").results(x).size()); }
/* an operator that writes is called once, however many results come */
static int64_t written(const Tensor &x)
{
    taeda::Operator("_foreach_add_.Scalar").results(taeda::Operator("unbind.int").results(x), 1);
    return 0;
}
static Tensor row_sums(const Tensor &x, int64_t grain)
{
    Tensor made = taeda::zeros({x.size(0)});
    float *to = made.mutable_data<float>();
    taeda::parallel_for(0, x.size(0), grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) to[i] = taeda::sum(taeda::select(x, 0, i)).item<float>();
    });
    return made;
}
static void throws_in_a_body(const Tensor &x, int64_t grain)
{
    taeda::parallel_for(0, 1000, grain, [&](int64_t, int64_t) { taeda::select(x, 7, 0); });
}
static void says(const Tensor &x)
{
    TAEDA_CHECK(false, "got ", x.sizes(), " of ", x.dtype(), " on ", x.device(), ", steps ", x.strides(),
        ", ", 1e-10, ", ", 1.5f, ", ", std::vector<int64_t>{1, 2}, std::vector<double>{}, ", ",
        std::string_view("view"), 'c', true, ", ", uint64_t(-1), ", ", int8_t(-3));
}
static void says_type(const Tensor &x) { TAEDA_CHECK_TYPE(x.dim() == 7, x.sizes()); }
static void says_value(const Tensor &x) { TAEDA_CHECK_VALUE(x.dim() == 7, x.sizes()); }
static void says_bytes(const std::string &form)
{
    if (form == "latin") throw taeda::ValueError("caf\xe9");
    std::string text(form == "cut" ? 215 : 0, 'x'); /* messages are cut at 251 bytes, here within a letter */
    for (int i = 0; i < 40; i++) text += "\xc3\xa9";
    throw taeda::ValueError(text);
}
static Tensor halves(const Tensor &x, bool half)
{
    Tensor made = taeda::empty_like(x);
    const float *from = x.data<float>();
    float *to = made.mutable_data<float>();
    for (int64_t i = 0; i < x.numel(); i++)
        to[i] = half ? float(taeda::Half(from[i])) : float(taeda::BFloat16(from[i]));
    return made;
}
"""
for name, (code, _) in PLACES.items():
    SOURCE += f"static Tensor {name}(const Tensor &x) {{ return {code}; }}\n"
for i, family in enumerate(FAMILIES):
    SOURCE += f"""
static Tensor family{i}(const Tensor &x)
{{
    Tensor made = taeda::empty_like(x);
    taeda::{family}(x, "family", [&](auto zero) {{
        using T = decltype(zero);
        for (int64_t i = 0; i < x.numel(); i++) {{
            T one = x.data<T>()[i];
            made.mutable_data<T>()[i] = T(one + one);
        }}
    }});
    return made;
}}"""
BOUND = [
    *(f'm.def("{name}", {name});' for name in (*PLACES, "shared", "shared_back", "handed_twice",
        "parts", "row_sums", "written", "throws_in_a_body", "says", "says_type", "says_bytes",
        "says_value", "halves", "from_list")),
    *(f'm.def("family{i}", family{i});' for i in range(len(FAMILIES))),
    *(f'm.def("list{n}(Tensor x, int n) -> {results(n)}", list);' for n in range(2, MOST + 1)),
    'm.def("same_twice(Tensor x) -> (Tensor, Tensor)", same_twice);',
    'm.def("maybe(Tensor x, bool second) -> (Tensor, Tensor?)", maybe);',
    'm.def("first_row(Tensor(a) x) -> Tensor(a)", first_row);',
]  # fmt: skip
SOURCE += "\nTAEDA_EXTENSION(m)\n{\n    " + "\n    ".join(BOUND) + "\n}\n"


@pytest.fixture(scope="module")
def ext(tmp_path_factory):
    return load_inline(
        "hpp_results",
        SOURCE,
        extra_cflags=["-O0", "-Wall", "-Wextra", "-Werror"],
        build_directory=tmp_path_factory.mktemp("results"),
    )


@pytest.fixture
def threads():
    before = taeda.get_num_threads()
    yield taeda.set_num_threads
    taeda.set_num_threads(before)


@pytest.mark.parametrize("name", PLACES)
def test_a_result_in_an_arguments_memory_is_a_copy(ext, name):
    base = taeda.arange(12.0).reshape(3, 4)
    for x in (base, base.t(), base[:, ::2], taeda.ones(1, 1), taeda.ones(2, 0)):
        if name == "row" and x.shape[0] < 2:
            continue
        made, wanted = getattr(ext, name)(x), PLACES[name][1](x)
        assert taeda.equal(made, wanted)
        assert not x.numel() or made.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_a_result_in_another_results_memory_is_a_copy(ext):
    one, other = ext.shared(taeda.arange(6.0).reshape(2, 3))
    assert taeda.equal(one.t(), other)
    assert one.untyped_storage().data_ptr() != other.untyped_storage().data_ptr()
    x = taeda.ones(2)
    for made in (ext.shared_back(x), ext.handed_twice(x)):
        assert len({t.data_ptr() for t in (x, *made)}) == 3
        assert all(taeda.equal(t, x) for t in made)
    one, other = ext.same_twice(x)
    assert len({t.data_ptr() for t in (x, one, other)}) == 3
    assert ext.from_list([taeda.zeros(1), x]).tolist() == [1, 1]


def test_a_view_that_the_schema_declares_is_one(ext):
    x = taeda.zeros(2, 2)
    ext.first_row(x).fill_(3)
    assert x.tolist() == [[3, 3], [0, 0]]


@pytest.mark.parametrize("n", range(2, MOST + 1))
def test_lists_of_results(ext, n):
    bound, x = getattr(ext, f"list{n}"), taeda.zeros(2)
    assert [t[0].item() for t in bound(x, n)] == list(range(n))
    for wrong in {0, n - 1, n + 1, 40} - {n}:
        with pytest.raises(TypeError, match=f"has {n} results, the C\\+\\+ function gave {wrong}"):
            bound(x, wrong)


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (f'm.def("f(Tensor x) -> {results(MOST + 1)}", f);', "at most 16 arguments and 16 results"),
        ('m.def("f(Tensor x) -> ()", f);', "the schema has 0"),
        ('m.def("f(Tensor x) -> (Tensor, Tensor[])", f);', r"one Tensor\[\] alone"),
        ('m.def("f(Tensor(a!)[] x) -> Tensor(a!)[]", f);', r"one Tensor\[\] alone"),
        ('m.def("f(Tensor x) -> Tensor[]?", f);', r"one Tensor\[\] alone"),
        ('m.def("f(Tensor x) -> Tensor[]", one);', "gives no list, and the schema Tensor"),
        ('m.def("f(Tensor x) -> Tensor[]", none);', "gives no list, and the schema Tensor"),
        (
            """m.def("f(Tensor x) -> Tensor[]", f).derivative("b");
            m.def("b(Tensor?[] grads) -> Tensor[]", b);""",
            r"whose one Tensor argument is a Tensor\[\], and lists_f\w*::f has Tensor",
        ),
    ],
)
def test_lists_that_no_schema_holds(tmp_path, binding, message):
    source = f"""
using taeda::Tensor;
static std::vector<Tensor> f(Tensor x) {{ return {{x}}; }}
static std::vector<Tensor> b(const std::vector<Tensor> &x) {{ return x; }}
static Tensor one(Tensor x) {{ return x; }}
static void none(Tensor) {{}}
void used() {{ (void)f, (void)b, (void)one, (void)none; }}
TAEDA_EXTENSION(m) {{ {binding} }}"""
    with pytest.raises(ImportError, match=message):
        load_inline("lists_f", source, extra_cflags=["-O0"], build_directory=tmp_path)


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    return load_inline(
        "hpp_lists",
        LISTS,
        extra_cflags=["-O0", "-Wall", "-Wextra", "-Werror"],
        build_directory=tmp_path_factory.mktemp("lists"),
    )


LISTS = r"""
using taeda::Tensor;
using Tensors = std::vector<Tensor>;
static Tensors steps(const Tensor &x, int64_t n)
{
    Tensors made;
    for (int64_t i = 0; i < n; i++) made.push_back(x * i);
    return made;
}
static Tensor steps_back(const Tensors &grads, const Tensor &x)
{
    Tensor made = taeda::zeros_like(x);
    for (size_t i = 0; i < grads.size(); i++)
        if (grads[i].defined()) made = made + grads[i] * int64_t(i);
    return made;
}
static Tensors steps_meta(const Tensor &x, int64_t n)
{
    Tensors made;
    for (int64_t i = 0; i < n; i++) made.push_back(taeda::empty_like(x));
    return made;
}
static Tensors rows(const Tensor &x)
{
    Tensors made;
    for (int64_t i = 0; i < x.size(0); i++) made.push_back(taeda::select(x, 0, i));
    return made;
}
static Tensors odd(const Tensor &x) { return {x + 1, Tensor(), x}; }
static Tensor total(const Tensors &xs)
{
    Tensor made = xs.at(0);
    for (size_t i = 1; i < xs.size(); i++) made = made + xs[i] * int64_t(i + 1);
    return made;
}
static Tensors total_back(const Tensor &grad, const Tensors &xs, const std::vector<bool> &)
{
    Tensors made;
    for (size_t i = 0; i < xs.size(); i++) made.push_back(grad * int64_t(i + 1));
    return made;
}
TAEDA_EXTENSION(m)
{
    m.def("steps(Tensor x, int n) -> Tensor[]", steps).meta(steps_meta).derivative("steps_back");
    m.def("steps_back(Tensor?[] grads, Tensor x) -> Tensor", steps_back);
    m.def("rows", rows);
    m.def("views(Tensor(a) x) -> Tensor(a)[]", rows);
    m.def("odd(Tensor x) -> Tensor?[]", odd);
    m.def("gap(Tensor x) -> Tensor[]", odd);
    m.def("total(Tensor[] xs) -> Tensor", total).derivative("total_back");
    m.def("total_back(Tensor grad, Tensor[] xs, bool[] needs) -> Tensor[]", total_back);
}
"""


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 300])
def test_a_list_of_any_length(lists, n):
    x = taeda.ones(2)
    made = lists.steps(x, n)
    assert isinstance(made, list) and [t[1].item() for t in made] == list(range(n))
    assert [t.shape for t in lists.steps(x.to("meta"), n)] == [(2,)] * n
    assert str(lists.steps.default._schema) == "hpp_lists::steps(Tensor x, int n) -> Tensor[]"
    compiled = pytest.importorskip("taeda.compiler").compile(lambda x: lists.steps(x + 1, n))
    assert [t[0].item() for t in compiled(x)] == [2.0 * i for i in range(n)]


def test_tensors_of_a_list_that_share_memory_are_copies(lists):
    x = taeda.arange(6.0).reshape(3, 2)
    made = lists.rows(x)
    assert [t.tolist() for t in made] == x.tolist()
    assert len({t.untyped_storage().data_ptr() for t in (x, *made)}) == 4
    assert str(lists.rows.default._schema) == "hpp_lists::rows(Tensor arg0) -> Tensor[]"
    lists.views(x)[1].fill_(7)
    assert x.tolist() == [[0, 1], [7, 7], [4, 5]]


def test_a_missing_tensor_of_a_list(lists):
    one, none, same = lists.odd(taeda.ones(1))
    assert (one.item(), none, same.item()) == (2, None, 1)
    with pytest.raises(RuntimeError, match="left a tensor of its list out"):
        lists.gap(taeda.ones(1))


def test_derivatives_of_lists(lists):
    pytest.importorskip("taeda.autograd", reason="gradients are what taeda-autograd computes")
    x = taeda.ones(2, dtype=taeda.float64, requires_grad=True)
    made = lists.steps(x, 20)
    (made[3] + 2 * made[19]).sum().backward()
    assert x.grad.tolist() == [41, 41]
    xs = [taeda.randn(2, dtype=taeda.float64, requires_grad=True) for _ in range(3)]
    assert taeda.autograd.gradcheck(lambda *xs: lists.total(xs), xs)
    assert taeda.autograd.gradcheck(lambda x: tuple(lists.steps(x, 3)), (x,))


def test_an_optional_result_may_be_missing(ext):
    x = taeda.zeros(1)
    assert [t.item() for t in ext.maybe(x, True)] == [1, 2]
    one, none = ext.maybe(x, False)
    assert one.item() == 1
    assert none is None


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 300])
def test_any_number_of_results_of_an_operator(ext, rows):
    x = taeda.zeros(rows, 2)
    assert ext.parts(x) == rows
    ext.written(x)
    assert taeda.equal(x, taeda.ones(rows, 2))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", ELEMENTS, ids=str)
def test_families_of_element_types(ext, family, dtype):
    bound = getattr(ext, f"family{list(FAMILIES).index(family)}")
    x = taeda.tensor([0, 1, 1], dtype=dtype)
    if dtype in FAMILIES[family]:
        assert taeda.equal(bound(x), x + x)
    else:
        with pytest.raises(TypeError, match=f"family: {str(dtype).partition('.')[2]} is not supp"):
            bound(x)


@pytest.mark.parametrize(("half", "dtype"), [(True, taeda.float16), (False, taeda.bfloat16)])
def test_short_floats_are_rounded_as_the_core_rounds(ext, half, dtype):
    every = taeda.arange(65536, dtype=taeda.int32).to(taeda.uint16).view(dtype).to(taeda.float32)
    finite = every[every.isfinite()]
    between = taeda.cat(
        [finite, (finite[1:] + finite[:-1]) / 2, finite * 1.0001, every[every.isinf()]]
    )
    edges = taeda.tensor([65519.99, 65520.0, 3.4e38, 2.0**-25, 2.0**-25 * 1.01, 2.0**-149, -0.0])
    x = taeda.cat([between, edges])
    made, wanted = ext.halves(x, half), x.to(dtype).to(taeda.float32)
    assert taeda.equal(made.view(taeda.int32), wanted.view(taeda.int32))
    assert ext.halves(taeda.tensor([float("nan")]), half).isnan().all()


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("grain", [1, 10**6])
def test_operators_in_bodies_of_loops(ext, threads, count, grain):
    threads(count)
    x = taeda.arange(600.0).reshape(200, 3)
    wanted = x.sum(1)
    assert taeda.equal(ext.row_sums(x, grain), wanted)
    with taeda.autocast("cpu", dtype=taeda.bfloat16), taeda.inference_mode():
        assert taeda.equal(ext.row_sums(x, grain), wanted)
    with pytest.raises(IndexError, match="out of range"):
        ext.throws_in_a_body(x, grain)


def test_operators_in_bodies_of_many_loops_at_once(ext, threads):
    threads(4)
    x, wrong = taeda.arange(90.0).reshape(30, 3), []

    def loop():
        wrong.extend(1 for _ in range(20) if not taeda.equal(ext.row_sums(x, 1), x.sum(1)))

    started = [threading.Thread(target=loop) for _ in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("form", "wanted"), [("latin", "caf\ufffd"), ("whole", "\u00e9" * 40), ("cut", "x" * 215)]
)
def test_a_text_of_any_bytes_is_told(ext, form, wanted):
    with pytest.raises(ValueError, match=wanted):
        ext.says_bytes(form)


def test_what_messages_are_made_of(ext):
    x = taeda.zeros(2, 3, dtype=taeda.bfloat16)
    for kind, name in ((TypeError, "says_type"), (ValueError, "says_value")):
        with pytest.raises(kind, match=r"\[2, 3\]"):
            getattr(ext, name)(x)
    with pytest.raises(RuntimeError) as caught:
        ext.says(x)
    assert str(caught.value).partition("got ")[2] == (
        "[2, 3] of bfloat16 on cpu, steps [3, 1], 1e-10, 1.5, [1, 2][], viewctrue, "
        "18446744073709551615, -3"
    )


def test_a_derivative_may_want_any_of_sixteen_results(tmp_path):
    source = f"""
using taeda::Tensor;
static std::vector<Tensor> times(const Tensor &x)
{{
    std::vector<Tensor> made;
    for (int64_t i = 0; i < {MOST}; i++) made.push_back(x * i);
    return made;
}}
static Tensor back(const std::vector<Tensor> &grads, const Tensor &last, const Tensor &tenth)
{{
    Tensor made = last * 0 + tenth;
    for (size_t i = 0; i < grads.size(); i++)
        if (grads[i].defined()) made = made + grads[i] * int64_t(i);
    return made;
}}
TAEDA_EXTENSION(m)
{{
    m.def("times(Tensor x) -> {results(MOST)}", times).derivative("back");
    m.def("back(Tensor?[] grads, Tensor result15, Tensor result10) -> Tensor", back);
}}"""
    pytest.importorskip("taeda.autograd", reason="gradients are what taeda-autograd computes")
    ext = load_inline("hpp_sixteen", source, extra_cflags=["-O0"], build_directory=tmp_path)
    x = taeda.full((1,), 3.0, requires_grad=True)
    made = ext.times(x)
    assert [t.item() for t in made] == [3.0 * i for i in range(MOST)]
    (made[3] + 2 * made[14]).sum().backward()
    assert x.grad.tolist() == [30 + 3 + 28]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_tangents_do_not_pass_a_derivative_in_cpp(lists):
    """They need more than the derivative: refused by the sentence that operators of Python have."""
    func = pytest.importorskip("taeda.func", reason="transforms are of taeda-autograd")
    x = taeda.ones(2)
    for call in (
        lambda: func.jvp(lambda x: lists.steps(x, 2)[1], (x,), (x,)),
        lambda: func.jacfwd(lambda x: lists.steps(x, 2)[1])(x),
        lambda: func.hessian(lambda x: lists.steps(x, 2)[1].sum())(x),
    ):
        with pytest.raises(
            NotImplementedError, match="forward AD with hpp_lists::steps that does not support"
        ):
            call()
    assert func.jacrev(lambda x: lists.steps(x, 3)[2])(x).tolist() == [[2, 0], [0, 2]]
