"""The list of programs: all that the tables have, and names that `_programs` knows."""

from __future__ import annotations

from taeda import _device_text
from taeda.cuda import _catalogue, _programs


def test_everything_is_in_some_group_and_can_be_named():
    every = _catalogue.programs(_catalogue.groups(), _programs.DTYPES)
    assert len(every) == len(set(every))
    loops = {f"{p.name} {p.dtype}" for p in every if p.kind == "loop"}
    assert loops == set(_device_text.loops())
    for program in every:
        text, headers, name = _programs._found(*program)
        assert text and headers and name.startswith(f"td_{program.how}<")


def test_a_choice_brings_what_it_computes_in():
    made = _catalogue.programs(["add", "norm"], ["BF16"])
    assert {p.dtype for p in made if p.kind == "loop"} == {"BF16", "F32"}
    assert {p.dtype for p in made if p.kind == "norm"} == {"F32"}
    casts = {(p.dtype, p.source) for p in made if p.kind == "cast"}
    assert casts == {("BF16", "F32"), ("F32", "BF16")}
    assert {p.dtype for p in made if p.kind == "copy"} == set(_catalogue.SIZES)
    assert not [p for p in _catalogue.programs(["add"], ["F32"]) if p.kind in ("cast", "norm")]
