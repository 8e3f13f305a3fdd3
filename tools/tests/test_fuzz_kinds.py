"""The programs of kinds: each step can succeed, and arguments are what their names say."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import fuzz
import fuzz_kinds
import hostile_kinds

import taeda

ALWAYS_REFUSES = {"mkldnn"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", sorted({*fuzz_kinds.KIND_PROGRAMS} - ALWAYS_REFUSES))
def test_each_step_comes_to_a_result_for_some_kind(step, monkeypatch):
    monkeypatch.setattr(fuzz_kinds, "size", lambda random: random.randint(0, 4))  # in little memory
    random = Random(0)
    for _ in range(20):
        for kind in (*hostile_kinds.KINDS, ""):
            try:
                fuzz.use(fuzz_kinds.KIND_PROGRAMS[step](fuzz_kinds.values(random, kind), random))
                return
            except fuzz.DOCUMENTED:
                continue
    raise AssertionError("a step that is always refused finds nothing")


def test_offsets_mostly_rise_and_are_sometimes_absurd():
    made = [fuzz_kinds.argument_by_name("offsets", Random(n)).flatten() for n in range(200)]
    rising = sum(bool((x.long().diff() >= 0).all()) for x in made)
    assert 100 < rising < 200, rising
    assert fuzz_kinds.argument_by_name("layout", Random(0)) in fuzz_kinds.LAYOUTS
    assert fuzz_kinds.argument_by_name("attn_mask", Random(0)).dtype is taeda.bool
    assert fuzz_kinds.argument_by_name("x", Random(0)) is None
