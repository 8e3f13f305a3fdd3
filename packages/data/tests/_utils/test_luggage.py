"""What a new process takes along."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from loader_data import CannotOpen, Shelf

import taeda
from taeda.utils.data import DataLoader
from taeda.utils.data._utils.luggage import Luggage


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_large_tensors_of_a_data_set_are_shared_and_many_small_ones_need_no_descriptors(method):
    loader = DataLoader(Shelf(400), 400, num_workers=1, multiprocessing_context=method)
    ((small, shared, large),) = loader
    assert shared.all() and (large == 1).all()
    assert small[:, 0].tolist() == list(range(400))


def test_what_cannot_be_sent_to_a_new_process():
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local"):
        list(DataLoader([lambda: 0], num_workers=2, multiprocessing_context="spawn"))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_data_set_that_does_not_arrive(method):
    loader = DataLoader(CannotOpen(3), num_workers=1, multiprocessing_context=method)
    with pytest.raises(
        OSError, match=r"(?s)OSError in .*process 0, unpickling the data set.*no such archive"
    ):
        list(loader)


FIRST = """
import sys, taeda
from taeda.utils.data._utils.luggage import Luggage
assert "taeda.multiprocessing" not in sys.modules
x = taeda.ones(100_000)
packed = Luggage([x, x[:3], taeda.ones(2)]).__reduce__()[1][1]
assert x.is_shared() and len(packed) < 4000, len(packed)
"""


def test_the_first_large_tensor_is_shared_as_the_later_ones_are():
    subprocess.run([sys.executable, "-c", FIRST], check=True, timeout=60)


def test_what_is_opened_is_what_was_packed():
    value = {"small": taeda.arange(3), "grad": taeda.ones(2, requires_grad=True), "text": "x"}
    assert Luggage(value).opened() is value
    made = pickle.loads(pickle.dumps(Luggage(value)))
    opened = made.opened()
    assert made.opened() is opened
    assert opened["small"].tolist() == [0, 1, 2] and opened["text"] == "x"
    assert opened["grad"].requires_grad and opened["grad"].is_leaf


def test_a_computed_tensor_is_refused_with_advice():
    with pytest.raises(RuntimeError, match="detach"):
        pickle.dumps(Luggage(taeda.ones(2, requires_grad=True) * 2))


def test_an_error_of_unpickling_comes_when_it_is_opened():
    made = Luggage(None, b"no pickle")
    with pytest.raises(pickle.UnpicklingError):
        made.opened()
