"""Parameters, buffers, and their forms without a shape."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import Tensor, nn


def test_a_parameter_shares_memory_and_wants_gradients():
    data = taeda.zeros(3)
    made = nn.Parameter(data)
    data[0] = 7
    assert isinstance(made, Tensor)
    assert made.requires_grad and made.is_leaf
    assert made[0].item() == 7


def test_operations_on_a_parameter_give_plain_tensors():
    made = nn.Parameter(taeda.ones(2))
    for result in (made + 1, made * made, made.sum(), made.detach(), made.view(2, 1)):
        assert type(result) is Tensor


def test_a_parameter_of_integers_must_not_want_gradients():
    with pytest.raises(RuntimeError):
        nn.Parameter(taeda.arange(3))
    assert not nn.Parameter(taeda.arange(3), requires_grad=False).requires_grad


def test_default_parameter_is_empty():
    assert nn.Parameter().shape == (0,)


def test_text_names_the_class():
    assert repr(nn.Parameter(taeda.ones(2))).startswith("Parameter containing:\ntensor([1., 1.]")


def test_copies_and_pickles_keep_class_value_and_flag():
    made = nn.Parameter(taeda.arange(3.0), requires_grad=False)
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(other) is nn.Parameter
        assert other.tolist() == [0, 1, 2]
        assert not other.requires_grad
        assert other.data_ptr() != made.data_ptr()


def test_attributes_survive_a_pickle():
    made = nn.Parameter(taeda.ones(1))
    made.note = "kept"
    assert pickle.loads(pickle.dumps(made)).note == "kept"


def test_data_of_a_subclass_stays_of_that_subclass():
    class Mine(Tensor):
        pass

    made = nn.Parameter(taeda.ones(2).as_subclass(Mine))
    assert type(made) is Mine
    assert isinstance(made, nn.Parameter)
    assert not isinstance(taeda.ones(2).as_subclass(Mine), nn.Parameter)


def test_a_buffer_is_a_marked_tensor():
    made = nn.Buffer(taeda.ones(2), persistent=False)
    assert type(made) is Tensor
    assert isinstance(made, nn.Buffer)
    assert not made.persistent
    assert not isinstance(taeda.ones(2), nn.Buffer)


LAZY = [nn.UninitializedParameter, nn.UninitializedBuffer]


@pytest.mark.parametrize("kind", LAZY)
def test_uninitialized_tensors_refuse_shape_and_operations(kind):
    lazy = kind(dtype=taeda.float64)
    assert lazy.dtype is taeda.float64
    assert repr(lazy) == f"<{kind.__name__}>"
    with pytest.raises(RuntimeError, match="shape of an uninitialized"):
        lazy.shape
    with pytest.raises(ValueError, match="uninitialized parameter"):
        lazy + 1


@pytest.mark.parametrize("kind", LAZY)
def test_materialize_changes_the_object_in_place(kind):
    lazy = kind()
    lazy.materialize((2, 3))
    assert type(lazy) is (nn.Parameter if kind is nn.UninitializedParameter else Tensor)
    assert lazy.shape == (2, 3)
    assert lazy.requires_grad == (kind is nn.UninitializedParameter)


@pytest.mark.parametrize("kind", LAZY)
def test_uninitialized_tensors_are_copied_as_such(kind):
    lazy = kind(dtype=taeda.float64)
    for other in (copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))):
        assert type(other) is kind
        assert other.dtype is taeda.float64
    assert nn.parameter.is_lazy(lazy)


class Tagged(nn.Parameter):
    """A parameter of the user's own class."""


RESULTS = {
    "sum": lambda q: q + 1,
    "detach": lambda q: q.detach(),
    "data": lambda q: q.data,
    "cat": lambda q: taeda.cat([q, q]),
    "view": lambda q: q.view(1),
    "item": lambda q: q[0],
    "clone": lambda q: q.clone(),
    "function": lambda q: nn.functional.linear(q, taeda.ones(1, 1)),
}


@pytest.mark.parametrize("call", RESULTS.values(), ids=RESULTS)
def test_results_of_own_parameter_classes_are_plain_tensors(call):
    result = call(Tagged(taeda.ones(1)))
    assert type(result) is taeda.Tensor and not isinstance(result, nn.Parameter)


def test_a_result_of_an_own_parameter_class_may_be_an_attribute():
    module = nn.Module()
    module.q = Tagged(taeda.ones(1))
    module.y = module.q * 2
    assert list(module.state_dict()) == ["q"] and type(module.q) is Tagged
    assert repr(module.y).startswith("tensor(")


def test_own_parameter_classes_may_watch_their_calls():
    class Watched(nn.Parameter):
        seen: list[str] = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    assert type(Watched(taeda.ones(1)) * 2) is taeda.Tensor and Watched.seen == ["mul"]


def test_both_that_wait_have_one_base():
    from taeda.nn.parameter import UninitializedTensorMixin

    kinds = (nn.UninitializedParameter, nn.UninitializedBuffer)
    assert all(isinstance(kind(), UninitializedTensorMixin) for kind in kinds)
    assert not isinstance(nn.Parameter(), UninitializedTensorMixin)


def test_a_buffer_does_not_replace_a_plain_attribute():
    module = nn.Module()
    module.a = taeda.ones(1)
    with pytest.raises(KeyError, match="already exists"):
        module.a = nn.Buffer(taeda.zeros(1))
    assert module.a.tolist() == [1.0] and not dict(module.named_buffers())
    del module.a
    module.a = nn.Buffer(taeda.zeros(1))
    module.a = nn.Buffer(taeda.ones(1), persistent=False)
    assert not module.state_dict()
