"""Threads, loading, devices, graphs: each has a program that triggers it, and the same mended."""

import pytest

from taeda.profiler._wastes import machine

LOADER = """
import time_of_test
from taeda.utils.data import DataLoader, Dataset
class Slow(Dataset):
    def __len__(self):
        return 48
    def __getitem__(self, i):
        time_of_test.pass_by({milliseconds})
        return x[i]
batches = iter(DataLoader(Slow(), batch_size=4))
"""
COMPILED = "@taeda.compile\ndef twice(a):\n    return a * 2 + 1\n"

#: by the class of the waste: the parts that waste, and the parts that do not
PAIRS = {
    "SlowLoading": (
        {"setup": LOADER.format(milliseconds=50), "body": "next(batches)"},
        {"setup": LOADER.format(milliseconds=0), "body": "next(batches)"},
    ),
    "SmallBatches": ({"batch": 4}, {"batch": 64}),
    "TooManyThreads": (
        {"setup": "taeda.set_num_threads(500)"},
        {"setup": "taeda.set_num_threads(1)"},
    ),
    "Synchronisation": (
        {"body": "taeda.cuda.synchronize()"},
        {"end": "taeda.cuda.synchronize()"},
    ),
    "Recompilation": (
        {"setup": COMPILED, "body": "twice(taeda.ones(step + 2, 3))"},
        {"setup": COMPILED, "body": "twice(taeda.ones(4, 3))"},
    ),
}  # fmt: skip


def test_every_waste_has_its_pair():
    assert set(PAIRS) == set(machine.__all__)


@pytest.mark.parametrize("waste", PAIRS)
def test_a_program_that_wastes_hears_of_its_line(hears_of_its_line, waste):
    hears_of_its_line(waste, PAIRS[waste][0])


@pytest.mark.parametrize("waste", PAIRS)
def test_the_mended_program_hears_nothing(hears_nothing, waste):
    hears_nothing(PAIRS[waste][1])
