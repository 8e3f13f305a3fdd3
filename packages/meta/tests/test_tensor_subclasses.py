"""Programs of the field that subclass Tensor by `__torch_dispatch__`, each trained beside plain tensors."""

from __future__ import annotations

import copy
from typing import ClassVar

import pytest

import taeda
from taeda import Tensor, nn, optim
from taeda.nn.functional import linear, mse_loss
from taeda.utils._python_dispatch import (
    is_traceable_wrapper_subclass,
    return_and_correct_aliasing,
)
from taeda.utils._pytree import tree_map

aten = taeda.ops.aten


class Base(Tensor):
    """What these have in common: attributes are the tensors inside, operators go to `run`."""

    __torch_function__ = taeda._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        made = cls.run(func, args, kwargs or {})
        return return_and_correct_aliasing(func, args, kwargs, made)


class Logging(Base):
    """One tensor inside, and a log of calls."""

    calls: ClassVar[list[str]] = []

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        return Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, requires_grad=requires_grad
        )

    def __init__(self, inner, requires_grad=False):
        self.inner = inner

    @classmethod
    def run(cls, func, args, kwargs):
        cls.calls.append(str(func))
        out = func(
            *tree_map(lambda t: t.inner if isinstance(t, cls) else t, args),
            **tree_map(lambda t: t.inner if isinstance(t, cls) else t, kwargs),
        )
        return tree_map(lambda t: cls(t) if isinstance(t, Tensor) else t, out)

    def value(self):
        return self.inner


class Two(Base):
    """A pair of tensors of one shape, on which everything is done twice."""

    @staticmethod
    def __new__(cls, a, b, requires_grad=False):
        return Tensor._make_wrapper_subclass(
            cls, a.shape, strides=a.stride(), dtype=a.dtype, requires_grad=requires_grad
        )

    def __init__(self, a, b, requires_grad=False):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Two(inner["a"], inner["b"])

    @classmethod
    def run(cls, func, args, kwargs):
        def side(name):
            def pick(t):
                return getattr(t, name) if isinstance(t, Two) else t

            return func(*tree_map(pick, args), **tree_map(pick, kwargs))

        one, other = side("a"), side("b")
        if isinstance(one, Tensor):
            return Two(one, other)
        if isinstance(one, (tuple, list)):
            return type(one)(
                [Two(a, b) if isinstance(a, Tensor) else a for a, b in zip(one, other, strict=True)]
            )
        assert one == other
        return one

    def value(self):
        assert taeda.equal(self.a, self.b)
        return self.a


class Lazy(Base):
    """A tensor that is a function until somebody needs it."""

    @staticmethod
    def __new__(cls, like, maker, requires_grad=False):
        return Tensor._make_wrapper_subclass(
            cls, like.shape, strides=like.stride(), dtype=like.dtype, requires_grad=requires_grad
        )

    def __init__(self, like, maker, requires_grad=False):
        self.maker = maker

    def value(self):
        if not isinstance(self.maker, Tensor):
            self.maker = self.maker()
        return self.maker

    @classmethod
    def run(cls, func, args, kwargs):
        def real(t):
            return t.value() if isinstance(t, Lazy) else t

        if func is aten.detach.default:
            (x,) = args
            return Lazy(taeda.empty(x.shape, dtype=x.dtype, device="meta"), x.value)
        out = func(*tree_map(real, args), **tree_map(real, kwargs))
        return tree_map(lambda t: Lazy(t, lambda: t) if isinstance(t, Tensor) else t, out)


class Sharded(Base):
    """Rows of a matrix, or of a vector, in parts, as a rank for each would have them; what is not
    known to work on parts is gathered.
    """

    local: ClassVar[int] = 0
    POINTWISE = (aten.add.Tensor, aten.mul.Tensor, aten.div.Tensor, aten.sqrt.default,
                 aten.neg.default, aten.clone.default,
                 aten.detach.default, aten.zeros_like.default)  # fmt: skip

    @staticmethod
    def __new__(cls, parts, requires_grad=False):
        shape = (sum(p.shape[0] for p in parts), *parts[0].shape[1:])
        return Tensor._make_wrapper_subclass(
            cls, shape, dtype=parts[0].dtype, requires_grad=requires_grad
        )

    def __init__(self, parts, requires_grad=False):
        self.parts = list(parts)

    @classmethod
    def of(cls, tensor, requires_grad=False):
        return cls([p.clone() for p in tensor.split(2)], requires_grad)

    def value(self):
        return taeda.cat(self.parts)

    @classmethod
    def run(cls, func, args, kwargs):
        def part(i, shape):
            def pick(t):
                if isinstance(t, Sharded):
                    return t.parts[i]
                if isinstance(t, Tensor) and t.shape == shape:
                    return t.split(2)[i]
                return t

            return pick

        shards = [t for t in args if isinstance(t, Sharded)]
        parted = func in cls.POINTWISE or func.overloadpacket._inplace
        if parted and shards and all(s.shape == shards[0].shape for s in shards):
            cls.local += 1
            picks = [part(i, shards[0].shape) for i in range(len(shards[0].parts))]
            made = [func(*tree_map(p, args), **tree_map(p, kwargs)) for p in picks]
            return cls(made)

        def whole(t):
            return t.value() if isinstance(t, Sharded) else t

        if func._schema.is_mutable or kwargs.get("out") is not None:
            raise NotImplementedError(f"{func} writes a sharded tensor")
        return func(*tree_map(whole, args), **tree_map(whole, kwargs))


class Nested(Base):
    """Rows of different lengths in one buffer with offsets: the batch is first, the longest length
    is claimed.
    """

    @staticmethod
    def __new__(cls, buffer, lengths, requires_grad=False):
        shape = (len(lengths), max(lengths), *buffer.shape[1:])
        return Tensor._make_wrapper_subclass(
            cls, shape, dtype=buffer.dtype, requires_grad=requires_grad
        )

    def __init__(self, buffer, lengths, requires_grad=False):
        self.buffer, self.lengths = buffer, lengths

    @classmethod
    def run(cls, func, args, kwargs):
        lengths = next(t.lengths for t in args if isinstance(t, Nested))
        nested = [t for t in args if isinstance(t, Nested)]

        def flat(t):
            if isinstance(t, Nested):
                return t.buffer
            if isinstance(t, Tensor) and t.shape == nested[0].shape:
                return taeda.cat([row[:n] for row, n in zip(t, lengths, strict=True)])
            return t

        if func is aten.sum.default:
            return nested[0].buffer.sum()
        if func is aten.sum.dim_IntList and args[1] == [0, 1]:
            return nested[0].buffer.sum(0)
        if any(t.lengths != lengths for t in nested):
            raise ValueError("nested tensors of different lengths")
        return cls(func(*tree_map(flat, args), **tree_map(flat, kwargs)), lengths)


def data():
    x = taeda.linspace(-1, 1, 24).reshape(8, 3)
    return x, (x * taeda.tensor([1.0, -2.0, 0.5])).sum(1, keepdim=True).tanh()


def network():
    taeda.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def convert(model, wrap):
    for module in model.modules():
        for name, parameter in list(module._parameters.items()):
            if parameter is not None:
                module._parameters[name] = nn.Parameter(wrap(parameter.detach().clone()))
    return model


def train(model, make, steps=12):
    x, y = data()
    optimizer = make(model.parameters())
    losses = []
    for _ in range(steps):
        loss = mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "adam": lambda p: optim.Adam(p, lr=0.05),
    "adamw": lambda p: optim.AdamW(p, lr=0.05),
}
KINDS = {
    "logging": Logging,
    "two": lambda t: Two(t, t.clone()),
    "lazy": lambda t: Lazy(t, lambda: t),
    "sharded": Sharded.of,
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("kind", KINDS)
def test_training_is_that_of_plain_parameters(kind, optimizer):
    plain, wrapped = network(), convert(network(), KINDS[kind])
    wanted = train(plain, OPTIMIZERS[optimizer])
    got = train(wrapped, OPTIMIZERS[optimizer])
    assert got == pytest.approx(wanted, rel=1e-4)
    assert wanted[-1] < wanted[0]
    for one, other in zip(wrapped.parameters(), plain.parameters(), strict=True):
        assert isinstance(one, nn.Parameter)
        assert taeda.allclose(one.detach().value(), other.detach(), atol=1e-4)


def test_the_log_names_what_ran():
    Logging.calls.clear()
    model = convert(network(), Logging)
    train(model, OPTIMIZERS["sgd"], steps=1)
    assert {"aten.detach.default", "aten.tanh.default"} <= set(Logging.calls)


def test_lazy_tensors_are_made_once_and_only_if_needed():
    calls = []

    def make():
        calls.append(1)
        return taeda.ones(2)

    x = Lazy(taeda.empty(2, device="meta"), make)
    y = x.detach()
    assert not calls
    assert (y + x).value().tolist() == [2.0, 2.0]
    assert len(calls) == 1


def test_sharded_parameters_work_on_their_parts():
    Sharded.local = 0
    x = Sharded.of(taeda.arange(6.0).reshape(3, 2)).requires_grad_()
    (x * x + 1).sum().backward()
    assert x.grad.value().tolist() == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]
    assert Sharded.local > 0


# ---- quantized weights ----


class Quantized(Base):
    """int8 and a scale for each row; stands for the float matrix, and multiplies without making it."""

    products: ClassVar[int] = 0

    @staticmethod
    def __new__(cls, data, scale):
        return Tensor._make_wrapper_subclass(cls, data.shape, dtype=scale.dtype)

    def __init__(self, data, scale):
        self.int_data, self.scale = data, scale

    @classmethod
    def of(cls, weight):
        scale = weight.abs().amax(1, keepdim=True) / 127
        return cls((weight / scale).round().to(taeda.int8), scale)

    @classmethod
    def turned(cls, x):
        return cls(x.int_data.t(), x.scale.t())

    @staticmethod
    def times(x, weight):
        if weight.scale.shape[0] == 1:  # a scale for each column
            return (x @ weight.int_data.to(x.dtype)) * weight.scale
        return (x * weight.scale.t()) @ weight.int_data.to(x.dtype)

    def value(self):
        return self.int_data.to(self.scale.dtype) * self.scale

    def __tensor_flatten__(self):
        return ["int_data", "scale"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Quantized(inner["int_data"], inner["scale"])

    @classmethod
    def run(cls, func, args, kwargs):
        if func is aten.t.default or (
            func is aten.transpose.int and set(args[1:]) <= {0, 1, -1, -2}
        ):
            return Quantized.turned(args[0])
        if func is aten.addmm.default and isinstance(args[2], Quantized):
            bias, x, weight = args
            cls.products += 1
            return bias + cls.times(x, weight)
        if func is aten.mm.default and isinstance(args[1], Quantized):
            return cls.times(*args)
        if func in (aten.detach.default, aten.clone.default, aten._to_copy.default):
            scale = args[0].scale
            if kwargs.get("dtype") is not None:
                scale = scale.to(kwargs["dtype"])
            return cls(
                args[0].int_data, func(scale) if func is not aten._to_copy.default else scale
            )
        raise NotImplementedError(f"{func} of a quantized weight")


def test_a_quantized_layer_computes_its_own_product_and_trains_what_is_left():
    model = network()
    exact = model[0].weight.detach().clone()
    model[0].weight = nn.Parameter(Quantized.of(exact), requires_grad=False)
    Quantized.products = 0
    x, _ = data()
    near = linear(x, model[0].weight.value())
    assert taeda.allclose(linear(x, model[0].weight), near, atol=1e-5)
    assert taeda.allclose(near, linear(x, exact), atol=0.02)
    losses = train(model, OPTIMIZERS["adam"])
    assert losses[-1] < losses[0]
    assert Quantized.products == 12
    x.requires_grad_()
    model(x).sum().backward()
    assert x.grad is not None
    with pytest.raises(NotImplementedError, match=r"aten\.exp"):
        model[0].weight.exp()


def test_a_module_with_wrappers_moves_copies_and_saves_its_state():
    model = network()
    model[0].weight = nn.Parameter(Quantized.of(model[0].weight.detach()), requires_grad=False)
    weight = model[0].weight
    twin = copy.deepcopy(model)
    assert type(twin[0].weight) is Quantized
    model.double()
    assert model[0].weight is weight
    assert isinstance(weight, nn.Parameter)
    assert weight.dtype is taeda.float64
    assert weight.scale.dtype is taeda.float64
    assert model(taeda.ones(1, 3, dtype=taeda.float64)).dtype is taeda.float64
    state = twin.state_dict()
    assert type(state["0.weight"]) is Quantized
    other = network()
    other[0].weight = nn.Parameter(Quantized.of(taeda.ones(4, 3)), requires_grad=False)
    other.load_state_dict(state, assign=True)
    assert taeda.equal(other[0].weight.int_data, twin[0].weight.int_data)
    assert is_traceable_wrapper_subclass(weight)


def test_parameters_of_a_model_may_become_wrappers_in_place():
    model = network()
    weight = model[0].weight
    model._apply(lambda t: Two(t.detach(), t.detach().clone()))
    assert model[0].weight is weight
    assert type(weight) is Two
    assert isinstance(weight, nn.Parameter)
    losses = train(model, OPTIMIZERS["sgd"])
    assert losses[-1] < losses[0]


# ---- nested ----


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_rows_of_different_lengths_train_a_layer(optimizer):
    rows = [taeda.linspace(-1, 1, 3 * n).reshape(n, 3) for n in (2, 5, 1)]
    nested = Nested(taeda.cat(rows), [2, 5, 1])
    assert nested.shape == (3, 5, 3)
    one, other = ([nn.Parameter(taeda.ones(3)), nn.Parameter(taeda.zeros(3))] for _ in range(2))
    first, second = OPTIMIZERS[optimizer](one), OPTIMIZERS[optimizer](other)
    for _ in range(5):
        first.zero_grad()
        second.zero_grad()
        sum((row * one[0] + one[1]).tanh().sum() for row in rows).backward()
        (nested * other[0] + other[1]).tanh().sum().backward()
        first.step()
        second.step()
    for a, b in zip(one, other, strict=True):
        assert taeda.allclose(a, b, atol=1e-5)


# ---- among the other layers ----


def test_modes_that_work_around_a_wrapper():
    x = Logging(taeda.tensor([[1.0, 2.0], [3.0, 4.0]]), True)
    kept = taeda.utils.checkpoint.checkpoint(lambda t: (t * t).tanh(), x, use_reentrant=False)
    kept.sum().backward()
    wanted = taeda.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (wanted * wanted).tanh().sum().backward()
    assert taeda.allclose(x.grad.inner, wanted.grad)
    with taeda.autocast("cpu", taeda.bfloat16):
        assert (x @ x).dtype is taeda.bfloat16
    with taeda.inference_mode():
        y = x * 2
        assert y.is_inference()
        assert type(y) is Logging
    primal, tangent = taeda.func.jvp(lambda t: t * t, (x.detach(),), (x.detach(),))
    assert type(primal) is type(tangent) is Logging
    assert tangent.inner.tolist() == [[2.0, 8.0], [18.0, 32.0]]
    each = taeda.func.vmap(lambda row: row * 2)(x.detach())
    assert each.inner.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    compiled = taeda.compile(lambda t: (t + 1) * 2)
    for _ in range(3):
        assert compiled(x.detach()).inner.tolist() == [[4.0, 6.0], [8.0, 10.0]]
