"""What ABI 1.2 added, used by extensions/words.c: strides, work space, random bits, Python's lock,
DLPack, later kinds.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from c_extensions import CURRENT, build

import taeda
from taeda.testing import assert_close

HERE = Path(__file__).parent / "extensions"
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")


def loaded(folder: Path, space: str, abi: str):
    flags = (f'-DNAMESPACE="{space}"', f"-DABI={abi}", "-pthread")
    taeda.ops.load_library(build(HERE / "words.c", CURRENT, folder / f"{space}.so", *flags))
    return getattr(taeda.ops, space)


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    return loaded(tmp_path_factory.mktemp("words"), "abiwords", "TAEDA_ABI_OF(1, 2)")


# ---- tensors ----


def test_any_strides(ops):
    made = ops.strided([2, 3], [1, 2], False)
    assert (made.stride(), made.shape, made.untyped_storage().nbytes()) == ((1, 2), (2, 3), 24)
    assert ops.strided([2, 3], [7, 2], False).untyped_storage().nbytes() == 4 * (7 + 4 + 1)
    assert ops.strided([4], [0], False).untyped_storage().nbytes() == 4
    assert ops.strided([2, 3], [1, 2], True).is_meta
    assert ops.strided([0, 3], [9, 9], False).numel() == 0


@pytest.mark.parametrize(
    ("sizes", "strides"), [([2], [-1]), ([-2], [1]), ([2**62, 4], [1, 2**62]), ([3], [2**62])]
)
def test_strides_that_cannot_be(ops, sizes, strides):
    with pytest.raises((ValueError, RuntimeError), match="abiwords::strided"):
        ops.strided(sizes, strides, False)


def test_formats(ops):
    wanted = taeda.empty(2, 3, 4, 5).to(memory_format=taeda.channels_last)
    assert ops.formatted([2, 3, 4, 5], 2).stride() == wanted.stride()
    assert ops.formatted([2, 3, 4, 5], 0).is_contiguous()
    assert ops.formatted([2, 3, 4, 5, 6], 3).is_contiguous(memory_format=taeda.channels_last_3d)
    for sizes, format in ([2, 3], 2), ([2, 3, 4, 5], 3), ([2], 1), ([2], 4), ([2], -1):
        with pytest.raises((ValueError, RuntimeError), match="abiwords::formatted"):
            ops.formatted(sizes, format)


def test_work_space_in_every_body(ops):
    x = taeda.arange(5000.0)
    assert taeda.equal(ops.negated(x), -taeda.arange(5000.0))
    for bytes in (0, 1, 63, 4096, 1 << 22):
        ops.space_of(bytes)
    with pytest.raises(MemoryError, match="out of memory for 4611686018427387904 bytes"):
        ops.space_of(2**62)
    with pytest.raises(ValueError, match="-1 bytes cannot exist"):
        ops.space_of(-1)


# ---- random bits ----


def test_bits_are_those_of_the_stream(ops):
    own = taeda.Generator().manual_seed(3)
    first, second = ops.bits(5, own), ops.bits(2, own)
    own.manual_seed(3)
    assert taeda.equal(taeda.cat([first, second]), ops.bits(7, own))
    assert own.get_state().tolist() != taeda.Generator().manual_seed(3).get_state().tolist()
    taeda.manual_seed(3)
    assert taeda.equal(ops.bits(5), first)
    assert taeda.equal(ops.bits(2, generator=taeda.default_generator), second)
    with pytest.raises(ValueError, match="-1 blocks"):
        ops.bits(-1)


def test_a_generator_is_handed_on(ops):
    wanted = taeda.randperm(9, generator=taeda.Generator().manual_seed(8))
    assert taeda.equal(ops.seeded(taeda.Generator().manual_seed(8)), wanted)
    taeda.manual_seed(8)
    assert taeda.equal(ops.seeded(), wanted)


# ---- later kinds ----


def test_numbers_above_the_signed_ones(ops):
    big = 2**63 + 2**41 + 5
    assert ops.natural(big).tolist() == [15, big >> 40, 5]
    assert ops.natural(7).tolist()[0] == 4
    assert ops.natural(-1).tolist()[0] == 4
    assert ops.filled(big).tolist() == [big, big]


def test_a_library_is_sent_no_kind_that_it_cannot_know(tmp_path):
    old = loaded(tmp_path, "abiolder", "TAEDA_ABI_OF(1, 1)")
    with pytest.raises(TypeError, match=r"argument 'x' is an int above .* against taeda ABI 1\.1"):
        old.natural(2**63)
    with pytest.raises(TypeError, match="argument 'generator' is a generator"):
        old.bits(2, taeda.Generator())
    assert old.natural(2**63 - 1).tolist()[0] == 4
    assert old.bits(2).shape == (2, 4)


# ---- Python's lock ----


def test_a_kernel_may_wait_for_a_thread_that_calls(ops):
    x = taeda.ones(3)
    done = threading.Thread(target=lambda: assert_close(ops.waits(x), x + 1), daemon=True)
    done.start()
    done.join(30)
    assert not done.is_alive()
    assert ops.waits(x).tolist() == [2, 2, 2]


def test_a_lock_that_is_not_taken_back_is_noticed(ops):
    with pytest.raises(RuntimeError, match="gave Python's lock up and did not take it back"):
        ops.forgets(taeda.ones(3))
    assert ops.waits(taeda.ones(1)).tolist() == [2]


# ---- DLPack ----


def test_memory_goes_out_and_comes_back(ops):
    x = taeda.arange(6.0).reshape(2, 3).t()
    made = ops.round_trip(x)
    made[0, 0] = 7
    assert x[0, 0].item() == 7
    assert made.stride() == x.stride()
    assert ops.round_trip(taeda.ones(2, dtype=taeda.bfloat16)).dtype is taeda.bfloat16


def test_memory_of_others(ops):
    before = ops.deletions().numel()
    made = ops.foreign(1, 0, 1)
    assert made.tolist() == [1, 2, 3]
    assert ops.deletions().numel() == before
    del made
    assert ops.deletions().numel() == before + 1
    for arguments, message in (
        ((2, 0, 1), "DLPack 2.0"),
        ((1, 1, 1), "not be written"),
        ((1, 0, 8), "device 8"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ops.foreign(*arguments)
    assert ops.deletions().numel() == before + 1
