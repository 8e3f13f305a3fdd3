"""What objects and code are to a capture."""

from __future__ import annotations

import collections
import enum
import math

import pytest

import taeda
from taeda import nn
from taeda.compiler import _kinds


class Color(enum.Enum):
    RED = 1


class Plain:
    __slots__ = ("a",)


class WithState(list):
    pass


class Child(Plain):
    def own(self):
        return 1


class Tagged(taeda.Tensor):
    pass


@pytest.mark.parametrize(
    ("value", "immutable"),
    [(1, True), ("a", True), (None, True), (2.5, True), (taeda.float32, True),
     (taeda.device("cpu"), True), (Color.RED, True),
     (slice(1), True), (taeda.Size([1]), True), ((1,), False), ([], False), (object(), False),
     (taeda.ones(1), False)],
)  # fmt: skip
def test_values_of_which_equality_says_all(value, immutable):
    assert _kinds.is_immutable(value) is immutable


@pytest.mark.parametrize(
    ("value", "plain"),
    [(taeda.ones(1), True), (nn.Parameter(taeda.ones(1)), True),
        (taeda.ones(1).as_subclass(Tagged), False), (1, False)],
)  # fmt: skip
def test_plain_tensors(value, plain):
    assert _kinds.is_plain_tensor(value) is plain


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Plain(), True),
        (Child(), True),
        (WithState(), False),
        (nn.ReLU(), True),
        (object(), False),
        (3, False),
        ([], False),
    ],
)
def test_instances_whose_state_is_in_attributes(value, plain):
    assert _kinds.is_plain_instance(value) is plain


@pytest.mark.parametrize(
    ("module", "known"),
    [("taeda.nn.functional", True), ("taeda.nn.modules.conv", True), ("taeda.nn.modulesx", False),
     ("taeda._tensor.printing", False),
     ("taeda.optim.adam", True), ("taeda.optim.lr_scheduler", False),
     ("taeda.optim.swa_utils", False), ("os", False)],
)  # fmt: skip
def test_parts_of_the_library_that_are_modelled(module, known):
    assert _kinds.is_library(module) is known


def test_code_that_may_run_unseen():
    assert _kinds.is_known_code(nn.Linear.forward.__code__, "taeda.nn.modules.linear")
    assert not _kinds.is_known_code(nn.Module.load_state_dict.__code__, "taeda.nn.modules.module")
    assert _kinds.is_known_code(collections.namedtuple.__code__, "collections")
    assert _kinds.is_known_code(
        math.floor if False else test_plain_tensors.__code__, "namedtuple_X"
    )
    assert not _kinds.is_known_code(test_plain_tensors.__code__, "somebody")


def test_what_lies_in_a_type():
    assert _kinds.static(Child, "own") is Child.__dict__["own"]
    assert _kinds.static(Child, "a") is Plain.__dict__["a"]
    assert _kinds.static(Child, "nothing") is None


@pytest.mark.parametrize(
    ("function", "is_one"),
    [(taeda.add, True), (taeda.linalg.inv, True), (nn.functional.gelu, True), (taeda.ops.aten.add, True),
     (nn.functional.relu, False), (len, False), (taeda.Tensor.backward, False)],
)  # fmt: skip
def test_operations_are_those_of_the_table(function, is_one):
    assert _kinds.is_operation(function) is is_one


def test_pure_functions_change_nothing():
    assert id(len) in _kinds.PURE_BUILTINS and id(math.sqrt) in _kinds.PURE_BUILTINS
    assert id(print) not in _kinds.PURE_BUILTINS and id(setattr) not in _kinds.PURE_BUILTINS
    assert not {"append", "__setitem__", "update", "__init__", "setdefault"} & _kinds.READERS
    assert {"copy", "index", "get"} <= _kinds.READERS
