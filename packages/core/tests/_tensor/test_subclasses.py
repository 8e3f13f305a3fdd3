"""Tensor subclasses that compute by `__torch_dispatch__`, with memory of their own or without."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import weakref

import pytest

import taeda
from taeda import Tensor, library
from taeda._C import _disabled_torch_dispatch_impl, _disabled_torch_function_impl
from taeda.utils import swap_tensors
from taeda.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
    _pop_mode_temporarily,
    is_in_torch_dispatch_mode,
    is_traceable_wrapper_subclass,
    return_and_correct_aliasing,
    transform_subclass,
)
from taeda.utils._pytree import tree_map

aten = taeda.ops.aten


class Wrapper(Tensor):
    """One tensor inside, which answers everything; the calls are in `log`."""

    inner: Tensor
    log: list = []
    __torch_function__ = _disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        return Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=inner.device,
            requires_grad=requires_grad,
        )

    def __init__(self, inner, requires_grad=False):
        self.inner = inner

    def __tensor_flatten__(self):
        return ["inner"], type(self)

    @staticmethod
    def __tensor_unflatten__(inner, kind, size, stride):
        return kind(inner["inner"])

    @classmethod
    def unwrap(cls, value):
        return value.inner if isinstance(value, Wrapper) else value

    @classmethod
    def wrap(cls, value):
        return cls(value) if isinstance(value, Tensor) else value

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        Wrapper.log.append(str(func))
        made = func(*tree_map(cls.unwrap, args), **tree_map(cls.unwrap, kwargs or {}))
        return return_and_correct_aliasing(func, args, kwargs, tree_map(cls.wrap, made))


class Slotted(Wrapper):
    __slots__ = ["note"]


@pytest.fixture(autouse=True)
def _empty_log():
    Wrapper.log.clear()


def wrapped(*values, grad=False):
    return Wrapper(taeda.tensor(values), grad)


# ---- what is claimed ----


def test_a_wrapper_says_what_it_was_told_and_has_no_memory():
    x = Tensor._make_wrapper_subclass(
        Wrapper, (2, 3), strides=(1, 2), storage_offset=4, dtype=taeda.float64, requires_grad=True
    )
    assert (x.shape, x.stride(), x.storage_offset()) == ((2, 3), (1, 2), 4)
    assert (x.dtype, x.device, x.layout) == (taeda.float64, taeda.device("cpu"), taeda.strided)
    assert x.requires_grad
    assert x.is_leaf
    assert x.is_cpu
    assert not x.is_meta
    assert x.data_ptr() == 0
    assert type(x) is Wrapper
    meta = Tensor._make_wrapper_subclass(Wrapper, (2,), device="meta")
    assert meta.device.type == "meta"
    assert meta.dtype is taeda.get_default_dtype()
    channels = Tensor._make_wrapper_subclass(
        Wrapper, (1, 2, 3, 3), memory_format=taeda.channels_last
    )
    assert channels.is_contiguous(memory_format=taeda.channels_last)
    assert not Wrapper.log


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "text"),
    [
        ((Tensor, (2,)), {}, TypeError, "must define __torch_dispatch__"),
        ((int, (2,)), {}, TypeError, "wanted a subclass of Tensor"),
        ((Wrapper, (2,)), {"strides": (1, 1)}, RuntimeError, "dimensionality of sizes"),
        ((Wrapper, (-2,)), {}, RuntimeError, "negative"),
        ((Wrapper, (1 << 62, 8)), {}, RuntimeError, "overflow"),
        ((Wrapper, (2,)), {"storage_offset": -1}, RuntimeError, "storage_offset"),
        ((Wrapper, ("a",)), {}, TypeError, "ints"),
        ((Wrapper, (2,)), {"dtype": taeda.int64, "requires_grad": True}, RuntimeError, "floating point"),
        ((Wrapper, (2,)), {"dispatch_device": True}, NotImplementedError, "dispatch_device"),
        ((Wrapper, (2,)), {"device": "nowhere"}, RuntimeError, "nowhere"),
    ],
)  # fmt: skip
def test_what_cannot_be_claimed(arguments, keywords, error, text):
    with pytest.raises(error, match=text):
        Tensor._make_wrapper_subclass(*arguments, **keywords)


# ---- calls ----


def test_operators_arrive_with_the_arguments_of_their_schema():
    seen = []

    class Seeing(Wrapper):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append((func, types, args, kwargs))
            return super().__torch_dispatch__(func, types, args, kwargs)

    x, p = Seeing(taeda.ones(2, 3)), taeda.ones(2, 3)
    total = x.sum(dim=0, keepdim=True) + 1
    taeda.cat([x, p], 1)
    taeda.add(p, x, alpha=2)
    funcs = [call[0] for call in seen]
    assert funcs == [aten.sum.dim_IntList, aten.add.Tensor, aten.cat.default, aten.add.Tensor]
    assert funcs[0].overloadpacket is aten.sum
    assert all(call[1] == (Seeing,) for call in seen)
    assert [call[2][1:] for call in seen[:2]] == [([0], True), (1,)]
    assert seen[2][2][0] == [x, p] or [id(t) for t in seen[2][2][0]] == [id(x), id(p)]
    assert seen[3][3] == {"alpha": 2}
    assert type(total) is Seeing
    assert total.inner.tolist() == [[3.0, 3.0, 3.0]]


def test_named_and_listed_results():
    x = wrapped(3.0, 1.0, 2.0)
    values, indices = x.sort()
    assert type(values) is type(indices) is Wrapper
    assert values.inner.tolist() == [1.0, 2.0, 3.0]
    assert all(type(part) is Wrapper for part in x.split(1))
    assert [part.inner.item() for part in x] == [3.0, 1.0, 2.0]
    assert x.max(0).indices.inner.item() == 0


def test_in_place_and_out_forms_write_what_they_are_given():
    x, p = wrapped(1.0, 2.0), taeda.zeros(2)
    before, inner = x._version, x.inner
    assert x.add_(1) is x
    assert x.inner is inner
    assert inner.tolist() == [2.0, 3.0]
    assert x._version > before
    assert taeda.mul(x, 2, out=x) is x
    assert inner.tolist() == [4.0, 6.0]
    assert p.copy_(x) is p
    assert p.tolist() == [4.0, 6.0]
    assert taeda.add(p, p, out=x) is x
    assert inner.tolist() == [8.0, 12.0]
    x[0] = 5.0
    x += x
    assert inner.tolist() == [10.0, 24.0]
    taeda.tril(taeda.ones(2, 2), out=Wrapper(taeda.zeros(2, 2)))
    assert {"aten.add_.Tensor", "aten.copy_.default", "aten.select.int"} <= set(Wrapper.log)


def test_out_of_an_operation_that_is_made_of_others():
    x = Wrapper(taeda.zeros(2))
    assert taeda.isclose(taeda.ones(2), taeda.ones(2)).all()
    made = taeda.hstack([taeda.ones(1), taeda.ones(1)], out=x)
    assert made is x
    assert x.inner.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="resize_"):
        taeda.hstack([taeda.ones(2), taeda.ones(1)], out=x)


def test_views_know_their_base_and_count_writes_with_it():
    x = Wrapper(taeda.arange(4.0))
    view = x.view(2, 2)
    assert view._base is x
    part = x[1:]
    assert part._base is x
    version = x._version
    part.mul_(10)
    assert x._version == view._version > version
    assert x.inner.tolist() == [0.0, 10.0, 20.0, 30.0]
    assert x.detach()._version == x._version
    assert x.detach()._base is None


def test_values_are_asked_for_and_memory_is_refused():
    x = wrapped(3)
    assert x.item() == 3
    assert int(x) == 3
    assert float(x) == 3.0
    assert taeda.arange(5)[x.sum()] == 3
    assert [10, 20, 30, 40][x] == 40
    assert bool(x > 2)
    assert taeda.tensor([wrapped(1.0).sum(), 2.0]).tolist() == [1.0, 2.0]
    assert taeda.full((2,), x.sum()).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match=r"tolist\(\) is not supported for tensor subclasses"):
        x.tolist()
    for export in (Tensor.numpy, Tensor.__array__):
        with pytest.raises(RuntimeError, match=r"numpy\(\) is not supported for tensor subclasses"):
            export(x)
    for export in (memoryview, Tensor.__dlpack__):
        with pytest.raises(BufferError, match="__torch_dispatch__"):
            export(x)
    for write in (lambda: x.resize_(7), lambda: x.set_(), lambda: x.set_(taeda.ones(1, dtype=int))):
        with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
            write()
    with pytest.raises(RuntimeError, match="one element"):
        wrapped(1, 2).item()


def test_text_says_shape_and_dtype_and_reads_nothing():
    text = repr(Wrapper(taeda.zeros(2, 3, dtype=taeda.float64)))
    assert text == "Wrapper(..., size=(2, 3), dtype=taeda.float64)"
    assert not Wrapper.log


# ---- autograd above ----


def gradient_of(function, *values):
    """Of the same function on wrappers and on plain tensors."""
    plain = [taeda.tensor(v, requires_grad=True) for v in values]
    inside = [Wrapper(taeda.tensor(v), True) for v in values]
    function(*plain).backward()
    made = function(*inside)
    assert type(made) is Wrapper
    assert made.grad_fn is not None
    made.backward()
    assert all(type(x.grad) is Wrapper for x in inside)
    return [x.grad.inner for x in inside], [p.grad for p in plain]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: (x * w).sum(),
        lambda x, w: (x @ w.t()).exp().mean(),
        lambda x, w: taeda.nn.functional.linear(x, w).relu().sum(),
        lambda x, w: (x.reshape(-1) * w.flatten()).softmax(0)[1],
        lambda x, w: taeda.cat([x, w]).std(),
        lambda x, w: (x[0] / w[1:]).unsqueeze(0).transpose(0, 1).squeeze().sum(),
        lambda x, w: (x.clone().mul_(w) + x.sigmoid()).tanh().sum(0).max(),
        lambda x, w: taeda.einsum("ij,kj->ik", x, w).permute(1, 0).log_softmax(-1)[0, 0],
        lambda x, w: taeda.nn.functional.layer_norm(x, (2,)).expand(3, 2, 2).sum() * w.norm(),
    ],
)
def test_gradients_are_those_of_plain_tensors(function):
    got, wanted = gradient_of(function, [[1.0, 2.0], [0.5, -1.0]], [[2.0, 1.0], [3.0, 0.25]])
    for one, other in zip(got, wanted, strict=True):
        assert taeda.allclose(one, other, atol=1e-6)


def test_beside_plain_tensors_and_twice():
    x, p = wrapped(1.0, 2.0, grad=True), taeda.tensor([3.0, 4.0], requires_grad=True)
    for times in (1, 2):
        (x * p).sum().backward()
        assert x.grad.inner.tolist() == [3.0 * times, 4.0 * times]
        assert p.grad.inner.tolist() == [1.0 * times, 2.0 * times]
    x = wrapped(2.0, grad=True)
    (first,) = taeda.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = taeda.autograd.grad(first.sum(), x)
    assert second.inner.item() == 12.0


def test_what_was_saved_and_written_is_noticed():
    x = wrapped(1.0, 2.0, grad=True)
    y = x * 1
    made = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.sum().backward()
    z = (x * 1).exp()
    z.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)


def test_writes_through_views_reach_the_base_gradient():
    def function(x, w):
        y = x * 1
        y[0].mul_(w[1])
        return y.sum()

    got, wanted = gradient_of(function, [[1.0, 2.0], [0.5, -1.0]], [[2.0, 1.0], [3.0, 0.25]])
    for one, other in zip(got, wanted, strict=True):
        assert taeda.allclose(one, other)


def test_hooks_get_objects_of_the_subclass():
    kinds = []
    x = wrapped(1.0, 2.0, grad=True)
    x.register_hook(lambda g: kinds.append(type(g)))
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.retain_grad()
    packed = []

    def pack(tensor):
        packed.append(tensor)
        return tensor

    with taeda.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        z = (y * y).sum()
    z.backward()
    assert [type(t) for t in packed] == [Wrapper, Wrapper]
    assert kinds == [Wrapper]
    assert x.grad.inner.tolist() == [80.0, 160.0]
    assert y.grad.inner.tolist() == [40.0, 80.0]


def test_custom_functions_see_the_subclass():
    class Cube(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            made = x * x * x
            ctx.save_for_backward(x, made)
            return made

        @staticmethod
        def backward(ctx, grad):
            x, made = ctx.saved_tensors
            assert type(x) is type(made) is type(grad) is Wrapper
            return 3 * made / x * grad

    x = wrapped(2.0, grad=True)
    Cube.apply(x).sum().backward()
    assert x.grad.inner.item() == 12.0


# ---- the object ----


def test_data_grad_and_swap():
    x, other = wrapped(1.0, 2.0, grad=True), wrapped(5.0, 6.0)
    assert type(x.data) is Wrapper
    assert not x.data.requires_grad
    assert x.data.inner.data_ptr() == x.inner.data_ptr()
    x.data = other
    assert x.inner is other.inner
    assert x.requires_grad
    for mixed in (
        lambda: setattr(x, "data", taeda.ones(2)),
        lambda: setattr(taeda.ones(2), "data", x),
    ):
        with pytest.raises(RuntimeError, match="incompatible tensor type"):
            mixed()
    x.grad = wrapped(1.0, 1.0)
    assert x.grad.inner.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="different size"):
        x.grad = wrapped(1.0)
    x.grad = None
    plain = taeda.zeros(3)
    swap_tensors(x, plain)
    assert type(x) is Tensor
    assert x.tolist() == [0.0, 0.0, 0.0]
    assert type(plain) is Wrapper
    assert (plain + 1).inner.tolist() == [6.0, 7.0]


def test_copies_and_pickles_keep_what_is_inside():
    x = Slotted(taeda.tensor([1.0, 2.0]), True)
    x.note = ["slot"]
    with pytest.raises(RuntimeError, match="different slots"):
        swap_tensors(x, taeda.ones(2))
    x.grad = wrapped(3.0, 4.0)
    deep = copy.deepcopy(x)
    assert type(deep) is Slotted
    assert deep.requires_grad
    assert deep.inner.tolist() == [1.0, 2.0]
    assert deep.inner.data_ptr() != x.inner.data_ptr()
    assert deep.grad.inner.tolist() == [3.0, 4.0]
    again = pickle.loads(pickle.dumps(x))
    assert type(again) is Slotted
    assert again.note == ["slot"]
    assert again.inner.tolist() == [1.0, 2.0]
    assert (again * 2).inner.tolist() == [2.0, 4.0]
    assert copy.copy(x).inner is x.inner
    parts = transform_subclass(x, lambda name, t: t * 2)
    assert parts.inner.tolist() == [2.0, 4.0]
    assert is_traceable_wrapper_subclass(x)
    assert not is_traceable_wrapper_subclass(x.inner)
    with pytest.raises(RuntimeError, match="made a tensor with size"):
        transform_subclass(x, lambda name, t: t[:1])


def test_a_subclass_with_memory_of_its_own_dispatches_too():
    class Logged(Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            Wrapper.log.append(str(func))
            with taeda._C.DisableTorchFunctionSubclass():
                plain = tree_map(lambda t: t.inner if isinstance(t, Logged) else t, args)
                made = func(*plain, **(kwargs or {}))
            return tree_map(lambda t: logged(t) if isinstance(t, Tensor) else t, made)

    def logged(tensor):
        made = Tensor._make_subclass(Logged, tensor)
        made.inner = tensor
        return made

    x = logged(taeda.tensor([1.0, 2.0])).requires_grad_()
    (x * x).sum().backward()
    assert x.grad.inner.tolist() == [2.0, 4.0]
    assert "aten.mul.Tensor" in Wrapper.log
    assert x[0].inner.item() == 1.0

    class Quiet(Wrapper):
        __torch_dispatch__ = _disabled_torch_dispatch_impl

    with pytest.raises(TypeError, match="must define __torch_dispatch__"):
        Quiet(taeda.ones(1))
    quiet = Tensor._make_subclass(Quiet, taeda.ones(2))
    Wrapper.log.clear()
    assert (quiet + 1).tolist() == [2.0, 2.0]
    assert not Wrapper.log


# ---- who is asked ----


class Child(Wrapper):
    pass


class Stranger(Wrapper):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if any(kind is not Stranger for kind in types):
            return NotImplemented
        return super().__torch_dispatch__(func, types, args, kwargs)


def test_a_subclass_is_asked_before_its_base_and_may_decline():
    assert type(wrapped(1.0) + Child(taeda.ones(1))) is Child
    assert type(Stranger(taeda.ones(1)) + wrapped(1.0)) is Wrapper

    class Declines(Wrapper):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match=r"aten\.add\.Tensor.*Declines declined"):
        Declines(taeda.ones(1)) + 1


def test_modes_come_first_and_may_be_hidden():
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append((str(func), types, is_in_torch_dispatch_mode()))
            return func(*args, **(kwargs or {}))

    calls = []
    with Mode() as mode:
        assert _get_current_dispatch_mode() is mode
        made = wrapped(1.0) + 1
        with _disable_current_modes() as hidden:
            assert hidden == [mode]
            assert not is_in_torch_dispatch_mode()
            wrapped(1.0) * 1
        with _pop_mode_temporarily() as popped:
            assert popped is mode
        taeda.ones(2).add_(1)
    assert _get_current_dispatch_mode_stack() == []
    assert made.inner.item() == 2.0
    names = [name for name, _, _ in calls]
    assert ("aten.add.Tensor", (Wrapper,), False) in calls
    assert names[-1] == "aten.add_.Tensor"
    assert "aten.mul.Tensor" not in names


def test_a_rule_for_one_operator_and_one_subclass():
    @library.custom_op("tsub::half", mutates_args=())
    def half(x: Tensor) -> Tensor:
        return x / 2

    @library.register_torch_dispatch("tsub::half", Wrapper)
    def _(cls, func, types, args, kwargs):
        return cls(func(*(x.inner for x in args)) + 100)

    assert half(wrapped(2.0)).inner.item() == 101.0
    assert half(taeda.ones(1)).item() == 0.5


def test_views_made_below_a_mode_may_be_written():
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x = taeda.ones(2, 2, requires_grad=True)
    with Mode():
        y = x * 1
        y.view(-1).mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [[3.0, 3.0], [3.0, 3.0]]


# ---- what a bad __torch_dispatch__ does: an exception, never a crash, and the tensors still work ----


class Bad(Wrapper):
    """Behaves as `act(func, args, made)` says."""

    act = None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def plain():
            made = func(*tree_map(cls.unwrap, args), **tree_map(cls.unwrap, kwargs or {}))
            return return_and_correct_aliasing(func, args, kwargs, tree_map(cls.wrap, made))

        return plain() if Bad.act is None else Bad.act(func, args, plain)


def wrong_type(func, args, plain):
    return 7


def nothing(func, args, plain):
    return None


def wrong_list(func, args, plain):
    return [plain(), "x", None]


def wrong_shape(func, args, plain):
    return Bad(taeda.ones(5, 1, 3))


def plain_result(func, args, plain):
    return tree_map(Wrapper.unwrap, plain())


def other_dtype(func, args, plain):
    return Bad(taeda.ones(2, 2, dtype=taeda.int64))


def raises(func, args, plain):
    raise KeyError("mine")


def recurses(func, args, plain):
    return func(*args)


def returns_its_input(func, args, plain):
    return args[0]


def mutates(func, args, plain):
    if isinstance(args[0], list):
        args[0].clear()
    for x in tree_map(lambda x: x, list(args)):
        if isinstance(x, Bad) and x.inner.numel():
            x.inner = taeda.ones(7)
            x.grad = None
    return Bad(taeda.ones(2, 2))


def resizes(func, args, plain):
    for x in args:
        if isinstance(x, Bad):
            x.inner.resize_(1)
    return Bad(taeda.ones(2, 2))


def drops(func, args, plain):
    for x in args:
        if isinstance(x, Bad):
            x.__dict__.clear()
            x.__class__ = Wrapper
    gc.collect(0)
    return Bad(taeda.ones(2, 2))


def becomes_plain(func, args, plain):
    for x in args:
        if isinstance(x, Bad):
            swap_tensors(x, taeda.zeros(1))
    return taeda.ones(2, 2)


ACTS = [wrong_type, nothing, wrong_list, wrong_shape, plain_result, other_dtype, raises, recurses,
        returns_its_input, mutates,
        resizes, drops, becomes_plain]  # fmt: skip
CALLS = [
    lambda x, p: x + p, lambda x, p: p * x, lambda x, p: x.add_(p), lambda x, p: taeda.add(p, p, out=x),
    lambda x, p: taeda.cat([x, p, x]), lambda x, p: taeda.stack((p, x)), lambda x, p: p[x > 0],
    lambda x, p: x[0], lambda x, p: x[p > 0],
    lambda x, p: x.__setitem__(0, p[0]), lambda x, p: p.__setitem__(0, x[0]), lambda x,
    p: x.split(1), lambda x, p: x.sort(),
    lambda x, p: x.max(0), lambda x, p: x.view(-1), lambda x, p: x.t_(), lambda x,
    p: x.sum().item(), lambda x, p: bool(x.sum() > 0),
    lambda x, p: x.detach(), lambda x, p: x.data, lambda x, p: copy.deepcopy(x), lambda x,
    p: p.copy_(x), lambda x, p: x @ p,
    lambda x, p: (x.requires_grad_() * x).sum().backward(), lambda x,
    p: x.requires_grad_().softmax(0).sum().backward(),
    lambda x, p: (x.requires_grad_() * 1)[0].mul_(2).sum().backward(), lambda x,
    p: (x.requires_grad_() @ p).relu().mean().backward(),
    lambda x, p: taeda.nn.functional.linear(x.requires_grad_(), p.requires_grad_()).sum().backward(),
    lambda x, p: x.unbind(), lambda x, p: taeda.where(x > 0, x, p), lambda x,
    p: p.index_copy_(0, taeda.tensor([0, 1]), x),
    lambda x, p: taeda.equal(x, p), lambda x, p: taeda.nonzero(x), lambda x, p: x.to(taeda.float64),
    lambda x, p: x.numel(),
    lambda x, p: repr(x), lambda x, p: taeda.func.vmap(lambda a: a + 1)(x), lambda x,
    p: taeda.func.jvp(lambda a: a * a, (x,), (x,)),
    lambda x, p: taeda.utils.checkpoint.checkpoint(lambda a: a * a, x.requires_grad_(),
        use_reentrant=False).sum().backward(),
    lambda x, p: taeda.hstack([p, p], out=x), lambda x, p: list(x), lambda x,
    p: taeda.tensor([x.sum(), 1.0]), lambda x, p: x.share_memory_(),
    lambda x, p: taeda.tensor(x), lambda x, p: pickle.loads(pickle.dumps(x)), lambda x,
    p: x.expand(3, 2, 2).contiguous(),
    lambda x, p: taeda.compile(lambda a: a * 2 + 1)(x),
]  # fmt: skip


def _fault_of(call, *args):
    """The exception of a call, or None."""
    try:
        call(*args)
    except Exception as error:  # noqa: BLE001 - any one will do, as long as it is one
        return error
    return None


def _badly(act, call, context):
    x, p = Bad(taeda.ones(2, 2)), taeda.ones(2, 2)
    Bad.act = staticmethod(act)
    try:
        with context():
            return _fault_of(call, x, p)
    finally:
        Bad.act = None


@pytest.mark.parametrize("act", ACTS, ids=lambda f: f.__name__)
def test_a_bad_answer_is_an_exception_or_a_result(act):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(150 + _depth())
    try:
        for call in CALLS:
            for context in (taeda.enable_grad, taeda.no_grad, taeda.inference_mode):
                fault = _badly(act, call, context)
                assert fault is None or str(fault), type(fault)
                assert taeda.is_grad_enabled()
                assert not taeda._native.core.get_excluded()
                assert (taeda.ones(2) + 1).tolist() == [2.0, 2.0]
    finally:
        sys.setrecursionlimit(limit)
    assert (Bad(taeda.ones(1)) + 1).inner.item() == 2.0


def _depth():
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def test_the_faults_have_words():
    x = Bad(taeda.ones(2))
    for act, text in (
        (wrong_type, "aten.add.Tensor|add.Tensor: the answer of __torch_dispatch__ is .*int"),
        (nothing, "NoneType"),
    ):
        Bad.act = staticmethod(act)
        try:
            with pytest.raises(TypeError, match=text):
                x + 1
        finally:
            Bad.act = None
    Bad.act = staticmethod(returns_its_input)
    try:
        with pytest.raises(RuntimeError, match="its argument itself"):
            x.data
    finally:
        Bad.act = None


def test_an_argument_that_dies_in_the_call():
    class Holder:
        pass

    holder = Holder()
    holder.x = Bad(taeda.ones(2))
    gone = weakref.ref(holder.x)

    def drop(func, args, plain):
        holder.__dict__.clear()
        return plain()

    Bad.act = staticmethod(drop)
    try:
        made = holder.x + 1
    finally:
        Bad.act = None
    gc.collect()
    assert gone() is None
    assert made.inner.tolist() == [2.0, 2.0]


def test_graphs_of_wrappers_are_let_go():
    x = wrapped(1.0, 2.0, grad=True)
    y = x * 1
    gone = weakref.ref(y)
    z = (y * y).exp().sum()
    y.add_(z.detach())
    del y, z
    gc.collect()
    assert gone() is None


def test_threads_share_a_wrapper():
    x, failures = wrapped(1.0, 2.0, grad=True), []

    def differentiate():
        for _ in range(50):
            (g,) = taeda.autograd.grad((x * x + x[0]).sum(), x)
            assert g.inner.tolist() == [4.0, 4.0]

    def work():
        failures.append(_fault_of(differentiate))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [None] * 4


def test_data_of_a_subclass_is_of_its_kind():
    class Named(taeda.Tensor):
        pass

    x = taeda.ones(2).as_subclass(Named)
    assert type(x.data) is Named and x.data.data_ptr() == x.data_ptr()
    x.data = taeda.zeros(3)
    assert type(x) is Named and type(x.data) is Named and x.tolist() == [0, 0, 0]
    with taeda._C.DisableTorchFunctionSubclass():
        assert type(x.data) is taeda.Tensor
    parameter = pytest.importorskip("taeda.nn").Parameter(taeda.ones(2))
    assert type(parameter.data) is taeda.Tensor
