"""Python's operators beside what is no tensor: who answers, and what nobody can."""

import operator
from decimal import Decimal

import pytest

import taeda
from taeda import Tensor
from taeda._layers.operators import METHODS, REFLECTED
from taeda.overrides import TorchFunctionMode

#: operators of Python, by what METHODS calls them
PYTHON = {
    "div": "truediv", "floor_divide": "floordiv", "remainder": "mod", "bitwise_and": "and_",
    "bitwise_or": "or_", "bitwise_xor": "xor", "bitwise_left_shift": "lshift",
    "bitwise_right_shift": "rshift",
}  # fmt: skip
ASSIGNED = [name for name in METHODS if name.endswith("_")]


def python(name):
    if not name.endswith("_"):
        return getattr(operator, PYTHON.get(name, name))
    return getattr(operator, "i" + PYTHON.get(name[:-1], name[:-1]).rstrip("_"))


class Stranger:
    """No tensor, but with the protocol: it says what it was asked for."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, types, args


class Declines:
    """With the protocol, which declines, and operators of its own."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Cannot:
    """With the protocol, which raises."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise TypeError("cannot")


class Labelled(Tensor):
    """A subclass as programs write them."""


for kind in (Declines, Cannot):
    for method in set(REFLECTED.values()):
        setattr(kind, method, lambda self, other: "own")


@pytest.mark.parametrize("name", [*REFLECTED, *ASSIGNED])
def test_the_protocol_of_the_operand_on_the_right_answers(name):
    x, stranger = taeda.ones(2), Stranger()
    func, types, args = python(name)(x, stranger)
    assert func == getattr(Tensor, METHODS[name][0])
    assert types == (Stranger,)
    assert args[0] is x and args[1] is stranger


# Python turns a comparison around itself
@pytest.mark.parametrize("name", [n for n in REFLECTED if n not in ("lt", "le", "gt", "ge")])
def test_the_protocol_of_the_operand_on_the_left_answers(name):
    x, stranger = taeda.ones(2), Stranger()
    func, _, args = python(name)(stranger, x)
    reflected = METHODS[name][1]
    assert func == getattr(Tensor, reflected)
    assert args[0] is x and args[1] is stranger


@pytest.mark.parametrize("name", REFLECTED)
def test_a_mode_is_asked_before_the_protocol(name):
    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "mode", func

    x = taeda.ones(2)
    with Mode():
        said = python(name)(x, Stranger())
    assert said == ("mode", getattr(Tensor, METHODS[name][0]))


@pytest.mark.parametrize("kind", [Declines, Cannot])
@pytest.mark.parametrize("name", REFLECTED)
def test_operators_of_its_own_are_tried_where_the_protocol_has_no_answer(name, kind):
    assert python(name)(taeda.ones(2), kind()) == "own"


def test_what_the_protocol_raises_is_seen_where_nothing_is_left_to_try():
    class Raises:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise TypeError("no sums of these")

    with pytest.raises(TypeError, match="no sums of these"):
        taeda.ones(2) + Raises()


@pytest.mark.parametrize("make", [taeda.ones, lambda n: taeda.ones(n).as_subclass(Labelled)])
@pytest.mark.parametrize("other", ["a", None, object(), [1.0], (1,), {}, Decimal(1)], ids=repr)
@pytest.mark.parametrize("name", [n for n in [*REFLECTED, *ASSIGNED] if n not in ("eq", "ne")])
def test_what_no_operator_takes_is_a_type_error(name, other, make):
    x = make(2)
    with pytest.raises(TypeError):
        python(name)(x, other)


@pytest.mark.parametrize("other", ["a", None, Decimal(1)], ids=repr)
def test_a_parameter_stays_one_where_nothing_can_be_added(other):
    nn = pytest.importorskip("taeda.nn")
    weight = nn.Parameter(taeda.ones(2))
    with taeda.no_grad(), pytest.raises(TypeError, match="unsupported operand"):
        weight += other
    assert type(weight) is nn.Parameter
