"""Classes that `m.class_<T>("Name")` registers: made, called, copied, handed to operators, and ended."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from pathlib import Path

import pytest

import taeda
from taeda.utils.cpp_extension import load

SOURCE = Path(__file__).parent / "torch_sources" / "stack.cpp"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    flags = ["-O0", "-Wall", "-Wextra", "-Werror"]
    folder = tmp_path_factory.mktemp("stacks")
    return load("stack_classes", [str(SOURCE)], extra_cflags=flags, build_directory=folder)


@pytest.fixture
def Stack(library):
    return taeda.classes.stacks.Stack


def test_members_act(Stack):
    stack = Stack([1, 2, 3])
    stack.push(5)
    stack.push()
    assert (stack.pop(), stack.pop(), stack.size(), stack.count, stack.top()) == (7, 5, 3, 3, 3)
    assert stack.weight == 2.5
    stack.weight = 3.0
    assert stack.weight == 3.0
    twin = stack.clone()
    twin.merge(stack)
    assert twin.size() == 6 and stack.size() == 3
    assert Stack.of_ones(4).size() == 4
    assert Stack.__doc__ == "Numbers, the last first." and "stacks.Stack object" in repr(stack)


def test_an_object_may_hold_tensors(library):
    counter, number = taeda.ops.stacks.fresh()
    assert number == 3 and isinstance(counter, taeda.classes.stacks.Counter)
    counter.add(taeda.ones(2))
    assert counter.add(taeda.ones(2)).tolist() == [2, 2] == counter.sum.tolist()
    assert taeda.classes.stacks.Counter().sum.tolist() == [0, 0]


def test_operators_take_and_give_objects(Stack):
    stack = Stack([1, 2])
    assert taeda.ops.stacks.times(stack, taeda.ones(2)).tolist() == [2, 2]
    other = taeda.ops.stacks.same(stack)
    assert other == stack and hash(other) == hash(stack) and other is not stack
    del stack
    other.push(1)
    assert other.size() == 3


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_are_objects_of_their_own(Stack, copied):
    stack = Stack([4, 5])
    other = copied(stack)
    other.push(6)
    assert (stack.size(), other.size()) == (2, 3) and other != stack


def test_objects_end_when_python_lets_them_go(Stack, library):
    gc.collect()
    before = taeda.ops.stacks.alive()
    stack = Stack([1])
    twin, shared = stack.clone(), taeda.ops.stacks.same(stack)
    assert taeda.ops.stacks.alive() == before + 2
    del stack
    assert taeda.ops.stacks.alive() == before + 2
    del twin, shared
    gc.collect()
    assert taeda.ops.stacks.alive() == before


def test_objects_of_many_threads_end(Stack):
    before = taeda.ops.stacks.alive()

    def work():
        for k in range(200):
            one = Stack([k])
            assert taeda.ops.stacks.same(one.clone()).top() == k

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    gc.collect()
    assert taeda.ops.stacks.alive() == before


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda ops, c: ops.times(5, taeda.ones(2)), TypeError, "wanted an object of stacks.Stack"),
        (
            lambda ops, c: ops.times(c.Counter(), taeda.ones(2)),
            TypeError,
            "got one of stacks.Counter",
        ),
        (lambda ops, c: ops.times(None, taeda.ones(2)), TypeError, "stack"),
        (lambda ops, c: c.Stack("words"), TypeError, "tuple of ints"),
        (lambda ops, c: c.Stack([]).pop(), RuntimeError, "the stack is empty"),
        (lambda ops, c: c.Stack([]).push("x"), TypeError, "'x'"),
        (lambda ops, c: setattr(c.Stack([]), "count", 3), AttributeError, "count"),
        (lambda ops, c: c.Missing, RuntimeError, "Registered are: stacks.Counter, stacks.Stack"),
        (lambda ops, c: copy.copy(c.Counter()), TypeError, "no def_pickle"),
        (lambda ops, c: pickle.dumps(c.Counter()), TypeError, "no def_pickle"),
        (lambda ops, c: ops.secret(), TypeError, "m.class_<T>"),
        (lambda ops, c: ops.nothing(), ValueError, "null pointer"),
        (lambda ops, c: c.Stack.__new__(c.Stack).size(), AttributeError, "_owner"),
    ],
)
def test_what_is_refused(library, call, error, words):
    with pytest.raises(error, match=words):
        call(taeda.ops.stacks, taeda.classes.stacks)


def test_a_number_of_an_ended_object_is_refused(Stack):
    stack = Stack([1])
    number = stack.__index__()
    del stack
    gc.collect()
    with pytest.raises(TypeError, match="no object of this library"):
        taeda.ops.stacks.times(number, taeda.ones(2))


def test_a_module_does_not_list_the_members_apart(library):
    assert "times" in dir(library) and not [name for name in dir(library) if "__class__" in name]
