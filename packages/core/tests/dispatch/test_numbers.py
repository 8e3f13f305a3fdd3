"""Enumerations and flags of C by name: Python has the numbers of the headers, and all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from taeda._device_text import chains
from taeda._library import table
from taeda._native import core
from taeda._table._schema import BASE_TYPES
from taeda.cuda import _programs

CSRC = Path(__file__).parents[2] / "csrc"
#: the dict, its header, the beginning of its names there, and what only counts
ENUMERATIONS = {
    "arg_kinds": ("runtime/op.h", "TD_ARG_", ()),
    "dtype_numbers": ("runtime/dtype.h", "TD_", ("NDTYPES",)),
    "kernel_slots": ("dispatch/custom.h", "TD_SLOT_", ("BUILT_IN",)),
    "chain_states": ("ops/pointwise/chains.h", "TD_CHAIN_", ()),
}


def enumerators(header: str, prefix: str) -> list[list[str]]:
    """Of each enumeration that begins with a name of the prefix: its names, without it."""
    text = re.sub(r"/\*.*?\*/", "", (CSRC / header).read_text(), flags=re.DOTALL)
    bodies = re.findall(r"enum\s*\w*\s*\{([^}]*)\}", text)
    found = [
        re.findall(rf"\b{prefix}(\w+)", body) for body in bodies if not re.search(r"=\s*\d", body)
    ]
    return [names for names in found if names and not names[0].startswith("CAT_")]


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_an_enumeration_has_the_names_and_the_order_of_its_header(name):
    header, prefix, counts = ENUMERATIONS[name]
    (names,) = enumerators(header, prefix)
    numbers = getattr(core, name)
    assert {word.upper(): n for word, n in numbers.items()} == {
        word: n for n, word in enumerate(word for word in names if word not in counts)
    }


def test_parameters_have_the_types_that_schemas_know():
    (names,) = enumerators("object/schema.h", "TD_T_")
    assert sorted(core.param_types.values()) == list(range(len(names)))
    assert {*core.param_types} == BASE_TYPES - {"SymInt"}  # which is read as int
    for word, name in (("ScalarType", "DTYPE"), ("MemoryFormat", "MEMORY_FORMAT"), ("str", "STR")):
        assert core.param_types[word] == names.index(name)


def test_the_flags_of_parameters_are_those_of_the_header():
    text = (CSRC / "object/schema.h").read_text()
    told = {name: int(bit) for name, bit in re.findall(r"TD_P_(\w+) = (\d+)", text)}
    assert told and core.param_flags == told
    assert all(bit.bit_count() == 1 for bit in told.values())


def test_the_places_of_a_call_are_those_of_the_header():
    assert f"#define TD_MAX_ARGS {core.max_args}\n" in (CSRC / "runtime/op.h").read_text()


def test_who_reads_them_has_them():
    assert core.kernel_slots == table.SLOTS
    assert [core.dtype_numbers[name] for name in _programs.DTYPES] == list(
        range(len(core.dtype_numbers))
    )
    assert [*core.power_rows.values()] == list(range(len(core.power_rows)))
    f32 = core.dtype_numbers["F32"]
    for name, number in core.power_rows.items():
        assert chains.row("pow", f32, number) == ("binary_real", f"{name}_f32_row_of")
