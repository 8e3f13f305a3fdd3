"""Rows whose numbers go far beyond their tensors: which numbers are changed, what is told, and a
share of the calls.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import geometry
from fuzz_children import Range
from samples import samples

import taeda


def sample_of(name):
    return next(iter(samples(name)))


def test_numbers_are_changed_alone_in_pairs_and_all_together():
    sample = sample_of("convolution")
    names = [a.name for a in sample.row.schema.arguments]
    changed = [{names[k] for k in to} for to in geometry.settings(sample)]
    wanted = {"stride", "padding", "dilation", "output_padding"}
    assert set().union(*changed) == wanted  # not groups, which is no length
    assert {"padding", "dilation"} in changed
    assert wanted in changed
    assert {1, 2, 4} == {len(c) for c in changed}


def test_lists_are_changed_in_their_last_place_and_in_all():
    sample = sample_of("expand")
    first, last = geometry.forms(sample, 1, 99)
    assert set(first) == {99}
    assert last[-1] == 99
    assert 99 not in last[:-1]


def ending(**facts):
    return geometry.Ending(**{"shapes": ((2, 3),), **facts})


SAID = [  # on meta, real, what is told
    (ending(), ending(), ""),
    (ending(), ending(shapes=((2, 4),)), "(2, 4), and on meta (2, 3)"),
    (ending(), ending(shapes=(), error="MemoryError"), "MemoryError, and on meta"),
    (ending(shapes=(), error="RuntimeError"), ending(), "and on meta RuntimeError"),
    (ending(shapes=(), error="RuntimeError"), ending(shapes=(), error="RuntimeError"), ""),
    (ending(), ending(seconds=1.5), "1.5 s"),
    (ending(), ending(bytes=200 << 20), "209715200 bytes"),
    (ending(shapes=((2**30,),)), ending(shapes=((2**30,),), bytes=1 << 32), ""),
    (ending(), ending(error="undocumented: KeyError: 1"), "undocumented"),
]


@pytest.mark.parametrize(("meta", "real", "told"), SAID)
def test_what_is_told(meta, real, told):
    said = geometry.differs(sample_of("convolution"), meta, real)
    assert said.startswith(told) or told in said
    assert bool(said) == bool(told)


def test_another_sum_than_in_float64_is_told():
    sample = next(iter(samples("avg_pool2d", "float32")))
    right = geometry.ended(sample.call)
    assert geometry.differs(sample, right, right) == ""
    off = geometry.Ending(right.shapes, result=right.result + 1)
    assert geometry.differs(sample, right, off) == "other numbers than in float64"


def test_time_and_memory_of_a_call_are_measured():
    def call():
        return taeda.ones(1 << 22).sum()

    ended = geometry.ended(call)
    assert ended.shapes == ((),)
    assert 16 << 20 <= ended.bytes < 64 << 20
    assert ended.seconds >= 0


#: rows of every family that takes such numbers; the tool makes the calls of all rows
SHARE = (
    r"^(conv2d|convolution|convolution_backward|max_pool[12]d_with_indices|avg_pool[23]d|im2col|col2im|"
    r"max_pool2d_backward|avg_pool2d_backward|adaptive_max_pool2d|upsample_nearest2d|"
    r"upsample_bilinear2d|_upsample_bilinear2d_aa|constant_pad_nd|_pad_inside|pixel_shuffle|roll|"
    r"diag_embed|tril_indices|histc|as_strided|unfold|narrow|repeat|fft|stft|combinations|hann_window)$"
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("at", range(len(geometry.chosen(SHARE))))
def test_a_share_of_the_calls(at):
    ended = list(geometry.cases(Range(0, at, 1, SHARE), lambda *_: None, few=True))
    assert ended
    assert [finding for _, finding in ended if finding] == []


DRAWN = (
    r"^(conv2d|avg_pool2d|max_pool2d_with_indices|im2col|constant_pad_nd|upsample_bilinear2d|roll|unfold|"
    r"narrow|repeat)$"
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_share_of_what_other_seeds_draw(seed):
    given = Range(seed, 0, len(geometry.chosen(DRAWN)), DRAWN)
    ended = list(geometry.cases(given, lambda *_: None, few=True))
    assert [finding for _, finding in ended if finding] == []
    again = geometry.cases(given, lambda *_: None, few=True)
    assert [kind for kind, _ in again] == [kind for kind, _ in ended]
    assert {"result", "RuntimeError"} <= {kind for kind, _ in ended}
