"""Random programs that are exported: the same from one seed, right, and differences are seen."""

from __future__ import annotations

import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))

import exported_programs as hunt
import pytest

import taeda
from taeda import nn

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of losses that broadcast


def test_programs_of_seeds():
    texts = [hunt.text_of(*hunt.program(seed)) for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]
    module, kind = hunt.program(3)
    assert 3 <= len(module.steps) <= 9
    for batch in hunt.BATCHES:
        assert all(t.isfinite().all() for t in module(*hunt.inputs(kind, batch)))


def test_some_are_right():
    counts = collections.Counter()
    for seed in range(60_000, 60_004):
        assert list(hunt.findings(seed, counts)) == []
    assert counts["exported"] >= 3 and counts["graph right"] >= 8 and counts["pt2 right"] >= 6


def test_differences_are_seen():
    one = taeda.ones(2)
    assert hunt.same([one], [one]) == "" and hunt.near([one.numpy()], [one]) == ""
    assert "differs by 1" in hunt.same([one], [one + 1])
    assert "differs by 1" in hunt.near([one.numpy()], [one + 1])
    assert "wanted" in hunt.same([one], [one[:1]]) and "wanted" in hunt.near(
        [one.numpy()], [one.double()]
    )


def test_sizes_are_results_and_differences_of_them_are_seen():
    drawn = [text for seed in range(40) for text, _ in hunt.program(seed)[0].sizes]
    assert len(set(drawn)) > 20 and any(">" in text for text in drawn)
    assert hunt.same([3, taeda.Size([2])], [3, taeda.Size([2])]) == ""
    assert hunt.same([3], [4]) == "result 0 is 3, wanted 4" and hunt.same([3], [3.0])
    program = taeda.export.export(
        hunt.Program([], [0], [("", lambda v, _: v[0].shape)]),
        (taeda.ones(4, 3), taeda.ones(4, 3)),
        dynamic_shapes=({0: taeda.export.Dim("n")}, None),
    )
    made = hunt.tensors_of(program, (taeda.ones(2, 3), taeda.Size([2, 3])))
    assert [t.tolist() for t in made[1:]] == [2]


def test_errors_that_are_no_refusals_are_findings():
    counts = collections.Counter()
    assert list(hunt.refused("export", NotImplementedError("no 12"), counts)) == []
    assert counts == {"export refuses: NotImplementedError: no #": 1}
    assert list(hunt.refused("pt2", KeyError("x"), counts)) == ["pt2 raises KeyError: 'x'"]


def test_a_comparison_of_what_is_zero_but_for_rounding_is_no_difference():
    class Sign(nn.Module):
        def __init__(self, mean):
            super().__init__()
            self.mean = mean

        def forward(self, x):
            y = nn.functional.layer_norm(x, x.shape[-1:])
            return [(y.mean(-1) > self.mean).float()]

    taeda.manual_seed(0)
    given = (taeda.randn(64, 6),)
    for mean, edge in ((0.0, True), (0.5, False)):
        module = Sign(mean)
        assert hunt.on_edge(module, given, module(*given)) is edge
