"""Versions, views and writes in place."""

from __future__ import annotations

import pytest

import taeda


def ones(*shape: int) -> taeda.Tensor:
    return taeda.ones(*shape, requires_grad=True)


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.add_(1),
        lambda y: y[0].add_(1),
        lambda y: y.detach().add_(1),
        lambda y: y.view(-1).mul_(2),
        lambda y: y.__setitem__(0, 3.0),
    ],
    ids=["self", "view", "detach", "reshaped view", "setitem"],
)
def test_a_write_to_a_saved_tensor_is_noticed(write):
    x = ones(3)
    y = x.exp()
    write(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_out_is_a_write_too():
    x = ones(3)
    y = x.exp()
    total = y.sum()
    with taeda.no_grad():
        taeda.add(taeda.ones(3), 1, out=y.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


def test_data_goes_unnoticed():
    x = ones(2)
    y = x.exp()
    y.data.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_version_counts_writes_through_every_alias():
    x = taeda.ones(3)
    before = x._version
    x.add_(1)
    x[0] = 2
    x.view(3, 1).mul_(2)
    x.detach().zero_()
    assert x._version == before + 4


def test_write_through_a_view_rewrites_the_base():
    a = ones(2, 3)
    b = a * 1
    b[0].mul_(2)
    assert b.grad_fn.name() == "CopySlices"
    b.sum().backward()
    assert a.grad.tolist() == [[2.0] * 3, [1.0] * 3]


def test_view_made_before_the_write_sees_it():
    a = ones(4)
    b = a * 1
    view = b[:2]
    b.mul_(3)
    view.sum().backward()
    assert a.grad.tolist() == [3.0, 3.0, 0.0, 0.0]


def test_value_with_history_written_into_a_plain_base():
    w = ones(2)
    base = taeda.zeros(4)
    base[1:3] = w * 5
    assert base.requires_grad
    (base * taeda.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert w.grad.tolist() == [10.0, 15.0]


def test_nested_views_of_a_transposed_base():
    a = ones(2, 3)
    b = (a * 1).t()
    b[1:][0].mul_(4)
    b.sum().backward()
    assert a.grad.tolist() == [[1.0, 4.0, 1.0]] * 2


def test_write_of_its_own_saved_input():
    x = ones(2)
    y = x * 1
    y.mul_(y.detach() + 1)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: ones(2).add_(1), "leaf Variable that requires grad"),
        (lambda: ones(2)[0].add_(1), "view of a leaf Variable"),
        (lambda: (ones(2) * 1).unbind()[0].mul_(2), "several views"),
        (lambda: (ones(2) * 1).requires_grad_(False), "leaf variables"),
        (
            lambda: taeda.add(ones(2), 1, out=taeda.zeros(2)),
            "don't support automatic differentiation",
        ),
    ],
    ids=["leaf", "view of a leaf", "multi-output view", "non-leaf flag", "out="],
)
def test_refusals(act, message):
    with pytest.raises(RuntimeError, match=message):
        act()


def test_view_made_without_grad_may_not_take_a_gradient():
    base = taeda.zeros(2)
    with taeda.no_grad():
        view = base[:1]
    with pytest.raises(RuntimeError, match="no_grad"):
        view.mul_(ones(1))


def test_leaf_may_be_written_under_no_grad():
    x = ones(2)
    with taeda.no_grad():
        x.sub_(0.5)
    assert x.is_leaf
    assert x.tolist() == [0.5, 0.5]


def test_inference_tensors_stay_out():
    with taeda.inference_mode():
        x = taeda.ones(2)
    assert x.is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        (ones(2) * x).sum()
    with pytest.raises(RuntimeError, match="inference tensor outside"):
        x.add_(1)


def test_inplace_composite_keeps_what_its_steps_saved():
    x = taeda.tensor([-1.0, 2.0], requires_grad=True)
    y = x * 1
    taeda.rrelu_(y, 0.5, 0.5)
    assert y.tolist() == [-0.5, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.5, 1.0]


def test_inplace_composite_that_changes_nothing_is_self():
    y = taeda.ones(2, requires_grad=True) * 1
    before = y.grad_fn
    assert taeda.dropout_(y, 0.5, train=False) is y
    assert y.grad_fn is before


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.t_(),
        lambda v: v.t_().t_(),
        lambda v: v.unsqueeze_(0).squeeze_(0),
        lambda v: v.transpose_(0, 1).unsqueeze_(1),
        lambda v: v.as_strided_((2, 2), (1, 2)),
    ],
)
def test_views_may_be_given_another_shape_in_place(change):
    x = taeda.arange(6.0).reshape(2, 3).requires_grad_()
    base = x * 2
    view = change(base[:])
    other = change((x * 2)[:].clone())
    weights = taeda.arange(1.0, 1.0 + view.numel()).reshape(view.shape)
    expected = taeda.autograd.grad((other * weights).sum(), x)[0]
    assert taeda.equal(
        taeda.autograd.grad((view * weights).sum(), x, retain_graph=True)[0], expected
    )
    view.mul_(3)  # and written to: the base sees it
    assert taeda.equal(base, x.detach() * 6) or view.numel() < 6
    total = (view * weights).sum()
    assert taeda.equal(taeda.autograd.grad(total, x)[0], 3 * expected)


def test_a_base_keeps_its_history_when_a_view_changes_shape():
    x = taeda.ones(2, 3, requires_grad=True)
    base = x * 2
    before = base.grad_fn
    base[:].t_()
    assert base.grad_fn is before
    assert base.shape == (2, 3)


# ---- views that change the type of the elements, or conjugate: numbers, not geometry, say what is right ----

TYPED_VIEWS = {
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "conj": lambda z: z.conj(),
    "part of conj": lambda z: z[1:].conj(),
    "imag of conj": lambda z: z.conj().imag,
    "turned pairs": lambda z: taeda.view_as_real(z).t()[:, 1:],
    "complex again": lambda z: taeda.view_as_complex(taeda.view_as_real(z)[1:]).conj(),
    "strided": lambda z: z.conj()[::2],
}
WRITES = {
    "mul_": lambda v: v.mul_(2j if v.is_complex() else 0.5),
    "tanh_": lambda v: v.tanh_(),
    "copy_": lambda v: v.copy_(taeda.arange(v.numel()).reshape(v.shape)),
    "square through another": lambda v: v[:1].conj().pow_(2),
}
REAL_VIEWS = {
    "complex": lambda x: taeda.view_as_complex(x.view(2, 2)),
    "part of conj": lambda x: taeda.view_as_complex(x.view(2, 2))[1:].conj(),
    "imag of conj": lambda x: taeda.view_as_complex(x.view(2, 2)).conj().imag,
    "shifted": lambda x: taeda.view_as_complex(x[2:].view(1, 2)),
}


def _numbers(kind: str) -> taeda.Tensor:
    x = taeda.tensor([0.6, 0.3, -0.4, 0.7], dtype=taeda.float64)
    return (taeda.complex(x, x.flip(0)) if kind == "complex" else x).requires_grad_()


def _derivatives_hold(program, x: taeda.Tensor) -> None:
    assert taeda.autograd.gradcheck(program, x)
    assert taeda.autograd.gradgradcheck(program, x)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    ("kind", "view"), [("complex", v) for v in TYPED_VIEWS] + [("real", v) for v in REAL_VIEWS]
)
def test_a_write_through_a_view_of_another_type(kind, view, write):
    take = (TYPED_VIEWS if kind == "complex" else REAL_VIEWS)[view]

    def program(x):
        base = x * 1
        WRITES[write](take(base))
        return base * base

    _derivatives_hold(program, _numbers(kind))


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    ("kind", "view"), [("complex", v) for v in TYPED_VIEWS] + [("real", v) for v in REAL_VIEWS]
)
def test_a_view_of_another_type_sees_a_write_to_its_base(kind, view, write):
    take = (TYPED_VIEWS if kind == "complex" else REAL_VIEWS)[view]

    def program(x):
        base = x * 1
        seen = take(base)
        WRITES[write](base)
        return seen * seen

    _derivatives_hold(program, _numbers(kind))


def test_a_spectrum_may_be_written_by_its_imaginary_part():
    x = taeda.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    spectrum = taeda.fft.rfft(x)
    spectrum.imag[0] = 0
    taeda.fft.irfft(spectrum).pow(2).sum().backward()
    assert taeda.allclose(x.grad, 2 * x)


@pytest.mark.parametrize(
    "write",
    [
        lambda v: v.tanh_(),
        lambda v: v.exp_(),
        lambda v: v.sigmoid_(),
        lambda v: v.sqrt_(),
        lambda v: v.cumprod_(0),
        lambda v: v.relu_(),
    ],
    ids=["tanh_", "exp_", "sigmoid_", "sqrt_", "cumprod_", "relu_"],
)
@pytest.mark.parametrize(
    "view", [lambda b: b[:2], lambda b: b.view(2, 2).t(), lambda b: b.reshape(1, 4)]
)
def test_second_derivatives_after_a_view_was_written_by_an_op_that_saves_its_result(view, write):
    def program(x):
        base = x * 1
        write(view(base))
        return base * base

    x = taeda.tensor([0.6, 0.3, 0.4, 0.7], dtype=taeda.float64, requires_grad=True)
    _derivatives_hold(program, x)


def test_the_saved_result_of_a_written_view_is_part_of_its_base():
    x = taeda.tensor([0.7, 0.2], dtype=taeda.float64, requires_grad=True)
    base = x * 1
    base[0].tanh_()
    (slope,) = taeda.autograd.grad(base.sum(), x, create_graph=True)  # 1 - base[0]**2, and 1
    (bend,) = taeda.autograd.grad(slope.sum(), base)
    assert bend.tolist() == [-2 * base[0].item(), 0.0]


@pytest.mark.parametrize("outputs", [2, 12])
def test_a_function_that_writes_two_arguments_and_returns_more(outputs):
    class Scaled(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.mark_dirty(*tensors[:2])
            return (tensors[0].mul_(2), tensors[1].mul_(3), *(t * 1 for t in tensors[2:]))

        @staticmethod
        def backward(ctx, *grads):
            return (grads[0] * 2, grads[1] * 3, *grads[2:])

    x, w = ones(4), ones(2)
    base, other = x * 1, w * 1
    results = Scaled.apply(other[:1], base[:2], *[w] * (outputs - 2))
    (base.sum() + other.sum() + sum(r.sum() for r in results[2:])).backward()
    assert x.grad.tolist() == [3.0, 3.0, 1.0, 1.0]
    assert w.grad.tolist() == [2.0 + outputs - 2, 1.0 + outputs - 2]


# ---- who may be written, and who requires grad ----


def _leaf_view():
    return taeda.zeros(3)[:].requires_grad_()


@pytest.mark.parametrize(
    "write",
    [
        lambda: _leaf_view().mul_(2),
        lambda: _leaf_view()[:1].mul_(2),
        lambda: _leaf_view()[:1].mul_(ones(1) * 3),
        lambda: _leaf_view().view(3, 1)[1].zero_(),
    ],
    ids=["itself", "part", "part by a result", "reshaped part"],
)
def test_a_leaf_that_is_a_view_stays_a_leaf(write):
    with pytest.raises(RuntimeError, match="view of a leaf Variable"):
        write()


@pytest.mark.parametrize("context", [taeda.no_grad, taeda.inference_mode])
@pytest.mark.parametrize(
    "view", [lambda b: b[0], lambda b: b.unbind()[0], lambda b: b[:][0], lambda b: b.detach()[0]]
)
def test_a_view_made_without_grad_is_not_written_with_it(context, view):
    b = ones(2) * 1
    with context():
        v = view(b)
        v.mul_(1)
    if v._base is None or v._base is not b:
        v.mul_(2)  # of a detached tensor: nobody's history
        return
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        v.mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        v[...].mul_(2)
    with taeda.no_grad():
        v.mul_(2)


@pytest.mark.parametrize(
    "split",
    [
        lambda b: b.tensor_split(2), lambda b: b.tensor_split((1,)),
        lambda b: b.tensor_split(taeda.tensor([1])),
        lambda b: b.hsplit(2), lambda b: b.vsplit(2), lambda b: b[None].dsplit(2),
    ],
)  # fmt: skip
def test_slices_of_a_split_may_be_written(split):
    x = ones(2, 2)
    base = x * 1
    part, other = split(base)
    part.mul_(3)
    other.mul_(2)
    base.sum().backward()
    assert sorted(x.grad.flatten().tolist()) == [2.0, 2.0, 3.0, 3.0]


def test_nothing_accumulates_into_a_leaf_that_was_switched_off():
    x, w = ones(2), ones(2)
    y = x * w
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None
    assert w.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "view", [lambda x: x[:2], lambda x: x.chunk(2)[0], lambda x: x.split(2)[0]]
)
def test_a_view_requires_grad_with_its_leaf(view):
    x = taeda.zeros(4)
    v = view(x)
    x.requires_grad_()
    assert v.requires_grad and v.is_leaf
    v.register_hook(print)  # never called: the view was made before, so no gradient comes by
    v.sum().backward()
    (v.reshape(2, 1) * 2).mean().backward()
    assert v.grad is None and x.grad is None


def test_views_of_normal_tensors_are_no_inference_tensors():
    x = taeda.ones(3)
    with taeda.inference_mode():
        y = taeda.ones(3)
        made = [x[0], x.detach(), x.view(3), x.reshape(3), x.t(), x.data, *x.chunk(3)]
        of_inference = [y[0], y.detach(), y + x]
    assert not any(v.is_inference() for v in made)
    assert all(v.is_inference() for v in of_inference)


def test_resizing_to_the_same_size_is_no_write():
    x = taeda.ones(3)
    before = x._version
    x.resize_(3)
    assert x._version == before
    x.resize_(1, 3)
    assert x._version == before + 1


@pytest.mark.parametrize(
    "take",
    [
        lambda x: x.expand(2, 4).as_strided([2, 2], [0, 1], 0),
        lambda x: x.view(2, 2).diagonal(-1, 1, 0).as_strided([], [], 3),
        lambda x: x[:2].as_strided([2, 2], [2, 1], 0),
        lambda x: (x * 1).as_strided([3, 2], [1, 1], 0),
        lambda x: (x * 1).as_strided([3, 2], [1, 1], 0).as_strided([2, 2], [1, 2], 0),
        lambda x: x[1:1].as_strided([0], [1], 1),
        lambda x: x[2:].as_strided([2, 1], [1, 7], 0),
    ],
)
def test_as_strided_has_two_derivatives_in_and_outside_of_the_view(take):
    x = taeda.tensor([0.6, 0.3, -0.4, 0.7], dtype=taeda.float64, requires_grad=True)
    (first,) = taeda.autograd.grad((take(x) ** 3).sum(), x, create_graph=True)

    def cubes(v):
        return taeda.autograd.grad((take(v) ** 3).sum(), v, create_graph=True)[0]

    numerical = []
    for place in range(4):
        step = taeda.zeros(4, dtype=taeda.float64)
        step[place] = 1e-6
        up, down = (cubes((x.detach() + s).requires_grad_()).detach() for s in (step, -step))
        numerical.append(((up - down) / 2e-6).sum())
    if first.requires_grad:
        (second,) = taeda.autograd.grad(first.sum(), x)
        assert taeda.allclose(second, taeda.stack(numerical), atol=1e-6)


def test_gradients_of_real_pairs_may_lie_anywhere():
    z = taeda.ones(1, 1, dtype=taeda.complex64, requires_grad=True)
    for pairs in (taeda.ones(1, 1, 5)[..., :2], taeda.ones(3)[1:].view(1, 1, 2)):
        (grad,) = taeda.autograd.grad(taeda.view_as_real(z), z, pairs)
        assert grad.tolist() == [[1 + 1j]]


def test_as_strided_of_overlapping_complex_numbers_has_two_derivatives():
    def program(x):
        return x.as_strided((3, 2), (1, 1)) ** 2

    _derivatives_hold(program, _numbers("complex"))


def test_nothing_is_recorded_of_inference_tensors_alone():
    with taeda.inference_mode():
        x = taeda.ones(2).requires_grad_()
    y = x * x
    assert x.is_inference() and x.requires_grad and not y.requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        x * ones(2)
