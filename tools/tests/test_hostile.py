"""What the call fuzzer draws: tensors of every kind among plain ones, told in words."""

from __future__ import annotations

import sys
from random import Random

from by_path import ROOT

import taeda

sys.path.insert(0, str(ROOT / "tools" / "hunt"))
import hostile


def test_every_kind_is_drawn_and_told():
    texts = set()
    for number in range(200):
        random = Random(number)
        kind = random.choice(hostile.KINDS)
        near = hostile.Near((4, 3), "float32", False, kind=kind)
        x = hostile._tensor(near, random, certain=1.0)
        texts.add(hostile.spell(x).partition("float32")[2].strip(", >").partition(",")[0])
    wanted = {f"taeda.sparse_{name}" for name in ("coo", "csr", "csc", "bsr")}
    assert wanted | {"taeda.jagged", "MaskedTensor"} <= texts


def test_nested_tensors_of_a_call_mostly_share_offsets():
    near = hostile.Near((4, 3), "float32", False, kind="jagged")
    random = Random(0)
    sizes = {hostile._of_kind(taeda.ones(4, 3), near, random).shape[1] for _ in range(20)}
    assert len(sizes) < 8


def test_most_calls_are_of_plain_tensors():
    kinds = [hostile._kind(Random(number)) for number in range(1000)]
    assert 700 < kinds.count("") < 950
