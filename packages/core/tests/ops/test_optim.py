"""Optimizer steps, norms and numbers over lists of tensors, against the formulas in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda._native import core as _core

FLOATS = [taeda.float16, taeda.bfloat16, taeda.float32, taeda.float64]
TOLERANCE = {taeda.float16: 4e-3, taeda.bfloat16: 3e-2, taeda.float32: 3e-6, taeda.float64: 1e-13}
SHAPES = [(3,), (), (0, 2), (5, 7), (9000,), (2, 3, 4)]


def lists(dtype, count, seed=0, positive=()):
    """`count` lists of tensors in SHAPES, and the same numbers as float64 arrays."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(count):
        arrays = [rng.standard_normal(shape) for shape in SHAPES]
        arrays = [np.abs(a) for a in arrays] if k in positive else arrays
        made.append([taeda.tensor(a.tolist(), dtype=dtype).reshape(a.shape) for a in arrays])
    return made, [[np.array(t.tolist(), dtype=float).reshape(t.shape) for t in x] for x in made]


def check(tensors, arrays, dtype):
    for t, a in zip(tensors, arrays, strict=True):
        got = np.array(t.tolist(), dtype=float).reshape(a.shape)
        np.testing.assert_allclose(got, a, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


# ---- SGD ----

SGD = {"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}


def sgd_reference(p, g, m, o):
    g = -g if o["maximize"] else g
    g = g + o["weight_decay"] * p
    if o["momentum"]:
        m = g if o["is_first_step"] else o["momentum"] * m + (1 - o["dampening"]) * g
        g = g + o["momentum"] * m if o["nesterov"] else m
    return p - o["lr"] * g, m


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "changed", [{}, {"weight_decay": 0}, {"nesterov": True}, {"maximize": True}]
)
def test_sgd_with_momentum(dtype, first, changed):
    o = {**SGD, "nesterov": False, "maximize": False, "is_first_step": first, **changed}
    (p, g, m), (pa, ga, ma) = lists(dtype, 3)
    taeda._fused_sgd_(p, g, m, **o)
    wanted = [sgd_reference(*x, o) for x in zip(pa, ga, ma, strict=True)]
    check(p, [w[0] for w in wanted], dtype)
    check(m, [w[1] for w in wanted], dtype)
    check(g, ga, dtype)


@pytest.mark.parametrize("weight_decay", [0, 0.1])
def test_sgd_without_momentum(weight_decay):
    o = {**SGD, "momentum": 0, "weight_decay": weight_decay}
    o |= {"nesterov": False, "maximize": False, "is_first_step": False}
    (p, g), (pa, ga) = lists(taeda.float32, 2)
    taeda._fused_sgd_(p, g, [], **o)
    check(p, [sgd_reference(*x, None, o)[0] for x in zip(pa, ga, strict=True)], taeda.float32)


# ---- Adam ----

ADAM = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-3}


def adam_reference(p, g, m, v, top, t, o, decoupled):
    g = -g if o["maximize"] else g
    if decoupled:
        p = p * (1 - o["lr"] * o["weight_decay"])
    else:
        g = g + o["weight_decay"] * p
    m = o["beta1"] * m + (1 - o["beta1"]) * g
    v = o["beta2"] * v + (1 - o["beta2"]) * g * g
    top = np.maximum(top, v)
    root = np.sqrt(top if o["amsgrad"] else v) / math.sqrt(1 - o["beta2"] ** t)
    return p - o["lr"] / (1 - o["beta1"] ** t) * m / (root + o["eps"]), m, v, top


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("decoupled", [True, False])
@pytest.mark.parametrize("amsgrad", [True, False])
@pytest.mark.parametrize("weight_decay", [0, 0.1])
@pytest.mark.parametrize("maximize", [True, False])
def test_adam(dtype, decoupled, amsgrad, weight_decay, maximize):
    o = {**ADAM, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize}
    (p, g, m, v, top), arrays = lists(dtype, 5, positive=(3, 4))
    steps = [taeda.tensor(float(i + 1)) for i in range(len(p))]
    step = taeda._fused_adamw_ if decoupled else taeda._fused_adam_
    step(p, g, m, v, top if amsgrad else [], steps, **o)
    wanted = [
        adam_reference(*x, i + 1, o, decoupled) for i, x in enumerate(zip(*arrays, strict=True))
    ]
    for tensors, k in ((p, 0), (m, 1), (v, 2), *(((top, 3),) if amsgrad else ())):
        check(tensors, [w[k] for w in wanted], dtype)
    assert [s.item() for s in steps] == [float(i + 1) for i in range(len(p))]


# ---- Adagrad ----


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("weight_decay", [0, 0.1])
@pytest.mark.parametrize("maximize", [True, False])
def test_adagrad(dtype, weight_decay, maximize):
    (p, g, s), arrays = lists(dtype, 3, positive=(2,))
    steps = [taeda.tensor(4.0) for _ in p]
    taeda._fused_adagrad_(
        p, g, s, steps, lr=0.1, lr_decay=0.5, weight_decay=weight_decay, eps=1e-3, maximize=maximize
    )
    for i, (pa, ga, sa) in enumerate(zip(*arrays, strict=True)):
        d = (-ga if maximize else ga) + weight_decay * pa
        total = sa + d * d
        check([p[i]], [pa - 0.1 / (1 + 3 * 0.5) * d / (np.sqrt(total) + 1e-3)], dtype)
        check([s[i]], [total], dtype)


# ---- scaling, layouts, refusals ----


def adam_call(p, g, m, v, step=1.0, **more):
    o = {**ADAM, "weight_decay": 0.0, "amsgrad": False, "maximize": False, **more}
    taeda._fused_adam_(p, g, m, v, [], [taeda.tensor(step) for _ in p], **o)


def test_gradients_are_unscaled_where_they_stand():
    (p, g, m, v), arrays = lists(taeda.float32, 4, positive=(3,))
    adam_call(p, g, m, v, grad_scale=taeda.tensor(8.0), found_inf=taeda.tensor(0.0))
    o = {**ADAM, "weight_decay": 0, "amsgrad": False, "maximize": False}
    check(g, [a / 8 for a in arrays[1]], taeda.float32)
    wanted = [
        adam_reference(pa, ga / 8, ma, va, va, 1, o, False)
        for pa, ga, ma, va in zip(*arrays, strict=True)
    ]
    check(p, [w[0] for w in wanted], taeda.float32)


def test_a_step_that_saw_infinity_changes_nothing():
    (p, g, m, v), arrays = lists(taeda.float32, 4)
    adam_call(p, g, m, v, grad_scale=taeda.tensor(8.0), found_inf=taeda.tensor(1.0))
    for tensors, a in zip((p, g, m, v), arrays, strict=True):
        check(tensors, a, taeda.float32)


def test_layouts_may_differ():
    base = taeda.arange(24.0).reshape(4, 6)
    for p in (base.clone().t(), taeda.zeros(12, 12)[::2, 1::3].copy_(base.t())):
        g, m = base.t().contiguous(), taeda.ones(4, 6).t()
        taeda._fused_sgd_(
            [p],
            [g],
            [m],
            weight_decay=0,
            momentum=0.5,
            lr=1,
            dampening=0,
            nesterov=False,
            maximize=False,
            is_first_step=False,
        )
        assert m.tolist() == (base.t() + 0.5).tolist()
        assert p.tolist() == [[-0.5] * 4] * 6


def test_no_tensors_is_no_work():
    adam_call([], [], [], [])


def test_infinite_parameters_without_decay_stay():
    p = taeda.tensor([math.inf, 1.0])
    taeda._fused_sgd_(
        [p],
        [taeda.zeros(2)],
        [],
        weight_decay=0,
        momentum=0,
        lr=0.1,
        dampening=0,
        nesterov=False,
        maximize=False,
        is_first_step=False,
    )
    assert p.tolist() == [math.inf, 1.0]


def one(*shape, dtype=taeda.float32):
    return [taeda.ones(shape, dtype=dtype)]


REFUSED = [
    (lambda: adam_call(one(2), [], one(2), one(2)), RuntimeError, "list 1 has 0.*1 parameters"),
    (lambda: adam_call(one(2), one(3), one(2), one(2)), RuntimeError, r"\[3\].*\[2\]"),
    (
        lambda: adam_call(one(2), one(2, dtype=taeda.float64), one(2), one(2)),
        RuntimeError,
        "float64.*float32",
    ),
    (lambda: adam_call(*[one(2, dtype=taeda.int64)] * 4), NotImplementedError, "int64"),
    (lambda: adam_call(*[one(2, dtype=taeda.complex64)] * 4), NotImplementedError, "complex64"),
    (lambda: adam_call(*[[taeda.ones(1).expand(3)]] * 4), RuntimeError, "single memory location"),
    (
        lambda: adam_call(one(2), one(2), one(2), one(2), amsgrad=True),
        RuntimeError,
        "list 4 has 0 tensors",
    ),
    (
        lambda: adam_call(one(2), one(2), one(2), one(2), grad_scale=taeda.ones(2)),
        RuntimeError,
        "grad_scale.*one element.*2",
    ),
    (lambda: taeda._flat_number_(one(2), 1.0, "pow"), ValueError, "pow"),
    (lambda: taeda._foreach_add_(one(2), [taeda.ones(2)] * 2), RuntimeError, "got 1 and 2"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[row[2] for row in REFUSED])
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


# ---- norms ----

ORDERS = [2.0, 1.0, 0.0, 3.5, 0.5, -1.0, math.inf, -math.inf]


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_global_norm(dtype, p):
    (x,), (arrays,) = lists(dtype, 1, positive=(0,))
    everything = np.concatenate([a.ravel() for a in arrays])
    norm = taeda._global_norm(x, p)
    assert norm.dtype == dtype
    assert norm.shape == ()
    wanted = np.linalg.norm(everything, p)
    if wanted < 60000 or dtype != taeda.float16:
        assert norm.item() == pytest.approx(wanted, rel=max(TOLERANCE[dtype], 1e-10))


@pytest.mark.parametrize("p", ORDERS)
def test_norm_of_each(p):
    (x,), (arrays,) = lists(taeda.float64, 1, positive=(0,))
    for norm, a in zip(taeda._foreach_norm(x, p), arrays, strict=True):
        if a.size:
            assert norm.item() == pytest.approx(np.linalg.norm(a.ravel(), p), rel=1e-12)
    assert taeda._foreach_norm(one(4), 2, taeda.float64)[0].dtype == taeda.float64


@pytest.mark.parametrize("p", ORDERS)
def test_norms_of_each_of_complex_tensors_are_real(p):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=n) + 1j * rng.normal(size=n) for n in (3, 9000)] + [
        rng.normal(size=5)
    ]
    x = [taeda.tensor(a) for a in arrays]
    for norm, a in zip(taeda._foreach_norm(x, p), arrays, strict=True):
        assert norm.dtype == taeda.float64
        assert norm.item() == pytest.approx(np.linalg.norm(a, p), rel=1e-12)


@pytest.mark.parametrize("p", [2, 1, 3.5, math.inf])
def test_norms_of_each_have_gradients(p):
    autograd = pytest.importorskip("taeda.autograd")
    x = [taeda.tensor([0.5, -2.0, 1.5], dtype=taeda.float64, requires_grad=True)]
    x.append(taeda.tensor([3.0, 1.0], dtype=taeda.float64))
    first, second = taeda._foreach_norm(x, p)
    assert first.requires_grad
    assert not second.requires_grad
    assert autograd.gradcheck(lambda a: taeda._foreach_norm([a, x[1]], p), (x[0],))
    with taeda.no_grad():
        assert not taeda._foreach_norm(x, p)[0].requires_grad


def test_norms_of_large_numbers_do_not_overflow():
    assert taeda._global_norm([taeda.full((4,), 1e30)]).item() == pytest.approx(2e30)


def test_norms_show_nan():
    for p in ORDERS[:1] + ORDERS[-2:]:
        for i in (0, 20, 8999):
            x = taeda.ones(9000)
            x[i] = math.nan
            assert math.isnan(taeda._global_norm([taeda.ones(3), x], p).item())


def test_norms_of_mixed_dtypes_and_of_nothing():
    mixed = [taeda.ones(2, dtype=taeda.float16), taeda.ones(2, dtype=taeda.float64)]
    assert taeda._global_norm(mixed).dtype == taeda.float64
    assert taeda._global_norm(mixed).item() == 2.0
    assert taeda._global_norm([]).item() == 0.0
    assert taeda._global_norm([taeda.empty(0)]).item() == 0.0


def test_norms_do_not_depend_on_threads():
    threads = taeda.get_num_threads()
    x = [taeda.randn(100_001, generator=taeda.Generator().manual_seed(1)), taeda.ones(5)]
    try:
        norms = set()
        for n in (1, 2, 7):
            taeda.set_num_threads(n)
            norms.add(taeda._global_norm(x, 2.0).item())
    finally:
        taeda.set_num_threads(threads)
    assert len(norms) == 1


# ---- one operation on every tensor ----


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("name", "form"),
    [(name, "number") for name in ("add", "sub", "mul", "div")]
    + [(name, "tensor") for name in ("add", "mul", "div")],
)
def test_one_number(dtype, name, form):
    (x,), (arrays,) = lists(dtype, 1)
    number = taeda.tensor(0.5) if form == "tensor" else 0.5
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name]
    wanted = [function(a, 0.5) for a in arrays]
    check(getattr(taeda, f"_foreach_{name}")(x, number), wanted, dtype)
    assert getattr(taeda, f"_foreach_{name}_")(x, number) is x
    check(x, wanted, dtype)


def test_one_number_on_other_dtypes():
    x = [taeda.tensor([1, 2]), taeda.tensor([1j, 2])]
    taeda._foreach_mul_(x, 3)
    assert x[0].tolist() == [3, 6]
    assert x[1].tolist() == [3j, 6]
    with pytest.raises(RuntimeError, match="cast"):
        taeda._foreach_mul_(x[:1], 0.5)


def test_lists():
    x, y = [taeda.ones(2), taeda.full((3,), 2.0)], [taeda.full((2,), 3.0), taeda.ones(3)]
    assert [t.tolist() for t in taeda._foreach_add(x, y, alpha=2)] == [[7, 7], [4, 4, 4]]
    taeda._foreach_mul_(x, y)
    assert [t.tolist() for t in x] == [[3, 3], [2, 2, 2]]
    taeda._foreach_maximum_(x, [taeda.tensor([1.0, 5.0]), taeda.zeros(3)])
    assert [t.tolist() for t in x] == [[3, 5], [2, 2, 2]]
    taeda._foreach_addcdiv_(x, y, y, value=-1)
    assert [t.tolist() for t in x] == [[2, 4], [1, 1, 1]]
    assert [t.tolist() for t in taeda._foreach_sqrt(x[1:])] == [[1, 1, 1]]
    taeda._foreach_copy_(x, y)
    assert [t.tolist() for t in x] == [[3, 3], [1, 1, 1]]
    taeda._foreach_zero_(x)
    assert [t.tolist() for t in x] == [[0, 0], [0, 0, 0]]
    taeda._foreach_lerp_(x, y, 0.5)
    assert [t.tolist() for t in x] == [[1.5, 1.5], [0.5, 0.5, 0.5]]


def test_writing_counts_as_a_new_version():
    x = one(3)
    before = x[0]._version
    taeda._foreach_mul_(x, 2.0)
    assert x[0]._version > before


UNARY = """
abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg
reciprocal round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc
""".split()


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_every_tensor(name):
    x = [taeda.tensor([0.25, 0.75]), taeda.tensor(0.5, dtype=taeda.float64)]
    wanted = [getattr(taeda, name)(t) for t in x]
    made = getattr(taeda, f"_foreach_{name}")(x)
    assert all(taeda.equal(m, w) for m, w in zip(made, wanted, strict=True))
    assert getattr(taeda, f"_foreach_{name}_")(x) is x
    assert all(taeda.equal(t, w) for t, w in zip(x, wanted, strict=True))


BOUNDS = {
    "maximum": np.maximum,
    "clamp_min": np.maximum,
    "minimum": np.minimum,
    "clamp_max": np.minimum,
}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("kind", ["number", "numbers", "tensors"])
def test_bounds_of_lists(name, kind):
    """In both forms, with NaN kept."""
    values = [np.array([1.0, -2.0, np.nan]), np.array([[3.0], [0.5]])]
    arrays = [np.array([0.0, 4.0, 1.0]), np.array([[2.0], [2.0]])]
    bound = {"number": [0.7] * 2, "numbers": [0.7, 2.0], "tensors": arrays}[kind]
    wanted = [BOUNDS[name](v, b) for v, b in zip(values, bound, strict=True)]
    ours = {"number": 0.7, "numbers": bound, "tensors": [taeda.tensor(a) for a in arrays]}[kind]
    x = [taeda.tensor(v) for v in values]
    found = getattr(taeda, f"_foreach_{name}")(x, ours)
    assert getattr(taeda, f"_foreach_{name}_")(x, ours) is x
    for a, b, c in zip(found, x, wanted, strict=True):
        np.testing.assert_array_equal(a.numpy(), c)
        np.testing.assert_array_equal(b.numpy(), c)


def test_bounds_and_their_refusal():
    with pytest.raises(
        RuntimeError, match="_foreach_maximum: lists must be of one length, got 1 and 2"
    ):
        taeda._foreach_maximum([taeda.ones(2)], [taeda.ones(2)] * 2)


def test_numbers_of_each_tensor():
    x, y = [taeda.ones(2), taeda.ones(1)], [taeda.full((2,), 3.0), taeda.full((1,), 5.0)]
    weights = [0.5, 0.25]
    assert [t.tolist() for t in taeda._foreach_lerp(x, y, weights)] == [[2.0, 2.0], [2.0]]
    listed = taeda._foreach_lerp(x, y, [taeda.tensor(w) for w in weights])
    assert [t.tolist() for t in listed] == [[2.0, 2.0], [2.0]]
    for values in (weights, taeda.tensor(weights)):
        assert [t.tolist() for t in taeda._foreach_addcmul(x, y, y, values)] == [[5.5, 5.5], [7.25]]
    taeda._foreach_addcdiv_(x, y, y, taeda.tensor(weights))
    assert [t.tolist() for t in x] == [[1.5, 1.5], [1.25]]
    assert [t.item() for t in taeda._foreach_max(y)] == [3.0, 5.0]
    assert [t.tolist() for t in taeda._foreach_pow(2.0, y)] == [[8.0, 8.0], [32.0]]
    with pytest.raises(RuntimeError, match="one length, got 2 and 3"):
        taeda._foreach_lerp(x, y, [0.5] * 3)
    with pytest.raises(RuntimeError, match="one length, got 2 and 1"):
        taeda._foreach_addcmul(x, y, y, taeda.ones(1))


@pytest.mark.parametrize("name", ["mul", "div"])
@pytest.mark.parametrize("kind", [taeda.float64, taeda.bfloat16, taeda.float16])
def test_lists_of_integers_with_a_tensor_of_no_dimension_take_its_type(name, kind):
    """As the operator of one tensor: a tensor is no number."""
    lists, rate = [taeda.arange(1, 4), taeda.ones(2).bool()], taeda.tensor(1.7, dtype=kind)
    for one, made in zip(lists, getattr(taeda, f"_foreach_{name}")(lists, rate), strict=True):
        wanted = getattr(taeda, name)(one, rate)
        assert made.dtype == wanted.dtype == kind
        assert made.equal(wanted)


def _in_place_rows():
    rows = (row[0] for row in _core.op_rows() if row[2] == "composite")
    return sorted(
        {n for r in rows if (n := r.partition(".")[0]).startswith("_foreach_") and n.endswith("_")}
    )


#: what the rows of lists want besides the list itself
_MORE = {"addcmul": 2, "addcdiv": 2, "lerp": 1, "copy": 1}


@pytest.mark.parametrize("name", _in_place_rows())
def test_in_place_gives_the_list_itself(name):
    x = [taeda.ones(2), taeda.ones(3)]
    word = name.removeprefix("_foreach_").removesuffix("_")
    more = [[taeda.ones(2), taeda.ones(3)]] * _MORE.get(word, 0) + ([0.5] if word == "lerp" else [])
    call = getattr(taeda, name)
    try:
        given = call(x, *more)
    except TypeError:  # it wants a number or a second list as well
        given = call(x, 1.0)
    assert given is x
