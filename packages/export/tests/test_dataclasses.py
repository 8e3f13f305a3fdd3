"""Dataclasses as arguments and results, in memory and in files."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

import pytest

import taeda
from taeda import nn
from taeda._core_api.files import FormatError
from taeda.export import export, load, register_dataclass, save
from taeda.export._pt2._trees import spec_of, text_of_spec
from taeda.utils._pytree import tree_flatten


@dataclass
class Given:
    a: taeda.Tensor
    k: int
    absent: taeda.Tensor | None = None

    def __post_init__(self) -> None:
        assert self.k == 2  # so `load` must not make one of other leaves


@dataclass
class Unnamed:
    a: taeda.Tensor


register_dataclass(Given, serialized_type_name="tests.Given")
register_dataclass(Unnamed)


class Model(nn.Module):
    def forward(self, given: Given) -> Given:
        return Given(given.a * given.k, 2)


def test_a_program_of_a_dataclass_and_its_file():
    program = export(Model(), (Given(taeda.ones(3), 2),))
    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    for run in (program.module(), load(file).module()):
        made = run(Given(taeda.arange(3.0), 2))
        assert type(made) is Given and made.a.tolist() == [0.0, 2.0, 4.0] and made.absent is None
    with pytest.raises(AssertionError, match="Guard failed"):
        run(Given(taeda.ones(3), 2, taeda.ones(1)))


def test_a_dataclass_without_a_name_has_no_place_in_a_file():
    with pytest.raises(NotImplementedError, match=r"Unnamed.*serialized_type_name"):
        text_of_spec(tree_flatten(Unnamed(taeda.ones(1)))[1])


@pytest.mark.parametrize(
    "change",
    [
        {"type": "tests.Other"},
        {"context": '[["a", "other"], ["absent"]]'},
        {"context": '[["a"], ["absent"]]'},
        {"context": '[["a", "a"], ["absent"]]'},
        {"context": "3"},
        {"context": '["a", "k"]'},
        {"type": "builtins.dict", "context": '["a", "a"]'},
        {"type": "builtins.dict", "context": '["a"]'},
        {"type": "builtins.dict", "context": "[[], []]"},
        {"type": ["tests.Given"]},
    ],
)
def test_trees_of_hostile_files(change):
    version, entry = json.loads(text_of_spec(tree_flatten(Given(taeda.ones(1), 2))[1]))
    assert spec_of(json.dumps([version, entry])).type is Given
    with pytest.raises(FormatError):
        spec_of(json.dumps([version, {**entry, **change}]))


def test_what_is_no_dataclass():
    with pytest.raises(TypeError, match="is a dataclass, got"):
        register_dataclass(int)
    with pytest.raises(ValueError, match="already registered"):
        register_dataclass(Given)
