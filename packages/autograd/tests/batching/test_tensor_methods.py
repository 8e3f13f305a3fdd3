"""Every method and attribute of tensors inside of vmap: it gives what a loop over the samples gives,
or raises; also those that do not pass the dispatcher.
"""

from __future__ import annotations

import warnings

import pytest

import taeda
from taeda.func import grad, vmap

X = [[3.0, 1.0, 2.0], [0.0, 5.0, 4.0], [1.0, 0.0, 0.0]]
Y = [[1.0, 2.0, 0.0], [2.0, 2.0, 1.0], [0.0, 1.0, 3.0]]
#: their results are random, or memory that nobody has written
UNSET = {"bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "multinomial",
    "normal_", "random_", "uniform_", "new_empty", "new_empty_strided", "new"}  # fmt: skip
#: how Python makes, keeps and shows objects: no question about numbers
OBJECT = {"__class__", "__del__", "__delattr__", "__dir__", "__doc__", "__format__", "__getattribute__",
    "__hash__", "__init__", "__init_subclass__", "__new__", "__reduce__", "__reduce_ex__", "__repr__",
    "__setattr__", "__setstate__", "__sizeof__", "__str__", "__subclasshook__", "__deepcopy__",
    "_repr_html_", "__dlpack__"}  # fmt: skip
#: a graph's and not a number's: hooks and gradients, which a level of its own has
GRAPH = {
    "backward",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "retain_grad",
    "module_load",
}
NAMES = sorted(set(dir(taeda.Tensor)) - UNSET - OBJECT - GRAPH)
ARGUMENTS = {
    "nothing": lambda y: (),
    "0": lambda y: (0,),
    "1": lambda y: (1,),
    "tensor": lambda y: (y,),
    "mask": lambda y: (y > 1,),
    "size": lambda y: ((3,),),
    "smaller": lambda y: ((2,),),
    "number": lambda y: (2.0,),
    "dimension and tensor": lambda y: (0, y.long().clamp(0, 2)),
    "function and tensor": lambda y: (lambda a, *b: a + 1, y),
    "two tensors": lambda y: (y, y),
}


def reading(name, arguments):
    def function(x, y):
        x = x.clone()
        value = getattr(x, name)
        if callable(value):
            value = value(*ARGUMENTS[arguments](y))
        return numbers((value, x))

    return function


def writing(name):
    def function(x, y):
        x = x.clone()
        setattr(x, name, y.clone())
        return numbers((x,))

    return function


def numbers(value):
    """The tensors of a value, numbers as tensors."""
    if isinstance(value, (list, tuple)):
        return tuple(found for part in value for found in numbers(part))
    if isinstance(value, taeda.Tensor):
        return (value,)
    return (taeda.as_tensor(value),) if isinstance(value, (bool, int, float)) else ()


def agrees(function):
    """Whether vmap raises, or gives what the loop does."""
    x, y = taeda.tensor(X), taeda.tensor(Y)
    try:
        made = vmap(function)(x.clone(), y.clone())
    except Exception:  # noqa: BLE001 - refusing is right
        return True
    columns = zip(*(function(x[i], y[i]) for i in range(len(x))), strict=True)
    wanted = [taeda.stack(list(column)) for column in columns]
    return len(made) == len(wanted) and all(
        a.shape == b.shape and taeda.allclose(a.double(), b.double(), atol=1e-5, equal_nan=True)
        for a, b in zip(made, wanted, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_method_gives_what_a_loop_gives_or_raises(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for arguments in ARGUMENTS:
            assert agrees(reading(name, arguments)), arguments


@pytest.mark.parametrize("name", [n for n in NAMES if n[:2] != "__"])
def test_an_attribute_that_can_be_set_is_set_or_refused(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert agrees(writing(name))


MEMORY = {
    "data": lambda x, p: setattr(p, "data", x),
    "data of a sample": lambda x, p: setattr(x.clone(), "data", p),
    "set_": lambda x, p: p.set_(x),
    "set_ of a sample": lambda x, p: x.clone().set_(p),
    "resize_": lambda x, p: x.clone().resize_(1),
    "resize_as_": lambda x, p: x.clone().resize_as_(p[:1]),
    "swap": lambda x, p: taeda.utils.swap_tensors(p, x),
    "where": lambda x, p: taeda.where(x > 0),
    "share": lambda x, p: x.clone().share_memory_(),
    "storage": lambda x, p: p.set_(x.untyped_storage()),
}


@pytest.mark.parametrize("name", MEMORY)
def test_what_acts_on_memory_is_refused_and_changes_nothing(name):
    for inner in (MEMORY[name], lambda x, p: grad(lambda x: (MEMORY[name](x, p), x.sum())[1])(x)):
        p = taeda.tensor([7.0, 8.0, 9.0])
        with pytest.raises(RuntimeError, match="vmap"):
            vmap(lambda x, inner=inner, p=p: (inner(x, p), x)[1])(taeda.ones(2, 3))
        assert p.tolist() == [7.0, 8.0, 9.0]
        p.data = taeda.zeros(2)  # outside it is as it was
        assert p.resize_(1).tolist() == [0.0]
