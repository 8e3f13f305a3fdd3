"""What the call fuzzer draws: tensors of every kind among plain ones, told in words."""

from __future__ import annotations

import sys
from random import Random

from by_path import ROOT

import taeda

sys.path.insert(0, str(ROOT / "tools" / "hunt"))
import hostile
import hostile_kinds


def test_every_kind_is_drawn_and_told():
    kinds = set()
    for number, kind in enumerate(hostile_kinds.KINDS * 20):
        random = Random(number)
        near = hostile.Near((4, 3), "float16", False, kind=kind)
        x = hostile._tensor(near, random, certain=1.0)
        kinds.add(hostile._kind_of(x).partition(" ")[0])
        assert hostile._kind_of(x) in hostile.spell(x)
    wanted = {f"taeda.sparse_{name}" for name in ("coo", "csr", "csc", "bsr", "bsc")}
    wanted |= {"taeda.jagged", "StridedNestedTensor", "MaskedTensor", "names"}
    wanted |= {"taeda.per_channel_affine", "taeda.per_tensor_affine", "SparseSemiStructuredTensor"}
    assert wanted <= kinds


def test_nested_tensors_of_a_call_mostly_share_offsets():
    near = hostile.Near((4, 3), "float32", False, kind="jagged")
    random = Random(0)
    sizes = {hostile_kinds.of_kind(taeda.ones(4, 3), near, random).shape[1] for _ in range(20)}
    assert len(sizes) < 8


def test_most_calls_are_of_plain_tensors():
    kinds = [hostile_kinds.drawn_kind(Random(number)) for number in range(1000)]
    assert 700 < kinds.count("") < 950
