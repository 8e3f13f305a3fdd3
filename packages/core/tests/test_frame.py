"""A call works with the tensors that it was given, whatever their objects become while it runs."""

from __future__ import annotations

import gc
import sys
import threading

import pytest

import taeda
from taeda import Tensor
from taeda._native import core

N = 1 << 21


class Index:
    """An int that does something first."""

    def __init__(self, value, action):
        self.value, self.action = value, action

    def __index__(self):
        self.action()
        self.kept = [taeda.full((7,) * 4, 9.0) for _ in range(50)]  # into what was freed
        return self.value


def shared(x):
    x.share_memory_()


CHANGES = {
    "data": lambda x: setattr(x, "data", taeda.zeros(1)),
    "set_": lambda x: x.set_(),
    "set_ to another": lambda x: x.set_(taeda.full((3, 3), 9.0)),
    "resize_ to more": lambda x: x.resize_(40, 40, 40),
    "resize_ to nothing": lambda x: x.resize_(0),
    "t_": lambda x: x.transpose_(0, 3),
    "squeeze_": lambda x: x.unsqueeze_(0).squeeze_(),
    "as_strided_": lambda x: x.as_strided_((1,), (1,)),
    "out= of another shape": lambda x: taeda.ones(2, out=x.resize_(0)),
    "storage": lambda x: x.untyped_storage().resize_(1 << 20),
    "share_memory_": shared,
    "swap": lambda x: taeda.utils.swap_tensors(x, taeda.zeros(2)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_argument_that_is_bound_stays_as_it_was(change):
    x = taeda.ones(7, 7, 7, 7)
    assert taeda.sum(x, Index(0, lambda: change(x))).tolist() == taeda.full((7, 7, 7), 7.0).tolist()
    x = taeda.ones(7, 7, 7, 7)
    y = taeda.cat([x, x], Index(1, lambda: change(x)))
    assert y.shape == (7, 14, 7, 7) and y.min() == y.max() == 1


def test_a_list_that_is_emptied_is_read_as_it_was():
    tensors = [taeda.full((7, 7, 7, 7), float(k)) for k in range(4)]
    made = taeda.stack(tensors, Index(0, tensors.clear))
    assert [made[k].unique().item() for k in range(4)] == [0, 1, 2, 3]
    sizes = []
    sizes += [Index(2, sizes.clear), 3, Index(4, lambda: None)]
    assert taeda.zeros(sizes).shape == (2, 3, 4) and sizes == []
    grown = [Index(2, lambda: grown.append(5)), 3]
    assert taeda.ones(grown).shape == (2, 3)


def test_a_list_of_outputs_is_read_as_it_was():
    x, outs = taeda.tensor([[3.0, 1.0]]), [taeda.empty(0), taeda.empty(0, dtype=taeda.int64)]
    first, second = outs
    taeda.max(x, Index(1, lambda: None), out=outs)
    assert first.tolist() == [3] and second.tolist() == [0]
    taeda.max(x, out=outs, dim=Index(1, outs.clear))
    assert first.tolist() == [3] and outs == []


def test_a_written_argument_that_is_exchanged_is_written_where_it_was():
    x = taeda.zeros(7, 7, 7, 7)
    seen = x[:]
    x.cumsum_(Index(0, lambda: x.set_(taeda.full((7, 7, 7, 7), 5.0))))
    assert x.unique().tolist() in ([5.0], [0.0]) and seen.unique().tolist() == [0.0]


def test_methods_that_are_no_operations_look_at_the_tensor_last():
    x = taeda.ones(2, 3, 4, 5, 6, 7, 8, 1)
    assert x.size(Index(0, lambda: x.set_(taeda.ones(9)))) == 9
    assert x.stride(Index(0, lambda: x.set_(taeda.ones(3, 4)))) == 4
    assert x[Index(1, lambda: x.set_(taeda.ones(3, 5)))].shape == (5,)


def test_what_a_finalizer_exchanges_while_lists_are_made():
    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            x.data = taeda.zeros(1)
            self.kept = [taeda.full((300, 3), 9.0) for _ in range(20)]

    x, threshold = taeda.ones(300, 3), gc.get_threshold()
    gc.set_threshold(50)
    try:
        Cycle()
        made = x.tolist()
    finally:
        gc.set_threshold(*threshold)
    assert made == [[1.0] * 3] * 300


def in_the_middle_of(call, action):
    """The result of `call`, while whose kernel works without the interpreter lock another thread
    does something.
    """

    def act():
        begin.wait()
        action()
        kept.append([taeda.full((N,), 5.0) for _ in range(3)])  # into what was freed

    begin, kept, interval = threading.Event(), [], sys.getswitchinterval()
    thread = threading.Thread(target=act)
    thread.start()
    # the other thread gets the lock when the kernel lets it go, and not before
    sys.setswitchinterval(10)
    try:
        begin.set()
        return call()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


EXCHANGES = {
    "data": lambda x, fresh: setattr(x, "data", fresh),
    "set_": lambda x, fresh: x.set_(fresh),
    "resize_": lambda x, fresh: x.resize_(x.numel() + 4096)[-4096:].fill_(1),
    "swap": lambda x, fresh: taeda.utils.swap_tensors(x, fresh),
    "share_memory_": lambda x, fresh: x.share_memory_(),
}


@pytest.mark.parametrize("exchange", EXCHANGES.values(), ids=EXCHANGES)
def test_an_argument_that_another_thread_exchanges(exchange):
    def made():
        x, fresh = taeda.ones(N), taeda.ones(N)
        return in_the_middle_of(lambda: taeda.lgamma(x), lambda: exchange(x, fresh))

    assert all(y.min() == y.max() == 0 for y in (made() for _ in range(3)))


def test_a_list_whose_items_another_thread_exchanges():
    def made():
        tensors = [taeda.ones(N) for _ in range(8)]
        return in_the_middle_of(lambda: taeda.cat(tensors), tensors.clear)

    assert all(y.min() == y.max() == 1 for y in (made() for _ in range(3)))


def test_an_output_that_another_thread_exchanges():
    x, y = taeda.ones(N), taeda.full((N,), 7.0)
    seen, fresh = y[:], taeda.zeros(3)
    in_the_middle_of(lambda: taeda.lgamma(x, out=y), lambda: y.set_(fresh))
    assert y.tolist() == [0, 0, 0] and seen.min() == seen.max() == 0


def test_two_threads_that_share_one_tensor():
    for _ in range(30):
        x = taeda.ones(1000)
        threads = [threading.Thread(target=x.share_memory_) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert x.is_shared() and x.sum() == 1000


def test_what_was_exchanged_is_freed_when_the_call_ends():
    def exchange():
        x = taeda.ones(N)
        taeda.sum(x, Index(0, lambda: x.set_(taeda.ones(N))))
        taeda.sum(x, Index(0, lambda: x.resize_(N + 1)))

    before = core.memory_stats()["allocated"]
    for _ in range(4):
        exchange()
    assert core.memory_stats()["allocated"] - before < 4 * N


def test_a_long_list_is_pinned_and_let_go():
    tensors = [taeda.ones(2) for _ in range(1000)]
    count = sys.getrefcount(tensors[0])
    assert taeda.cat(tensors).sum() == 2000
    with pytest.raises(RuntimeError):
        taeda.cat([*tensors, taeda.ones(3, 3)])
    now = sys.getrefcount(tensors[0])
    assert now == count
    tensors[0].resize_(1 << 16)  # nothing waits for a pin that was forgotten
    before = core.memory_stats()["allocated"]
    tensors[0].resize_(1 << 18)
    assert core.memory_stats()["allocated"] - before < 4 * (1 << 18)


def test_changes_in_the_middle_keep_their_meaning():
    x = taeda.arange(6.0)
    view = x[:3]
    x.resize_(2, 5)
    view.fill_(7.0)
    assert x.flatten()[:3].tolist() == [7, 7, 7]
    assert isinstance(x.t_(), Tensor) and x.shape == (5, 2) and x.stride() == (1, 5)


@pytest.mark.parametrize("count", [16, 17, 200])
def test_any_number_of_arguments_may_stand_for_their_conjugates(count):
    tensors = [taeda.full((2,), complex(i, 1)).conj() for i in range(count)]
    gc.collect()  # what earlier tests left in cycles is not freed between the two figures
    before = core.memory_stats()["allocated"]
    assert taeda.stack(tensors)[:, 0].tolist() == [complex(i, -1) for i in range(count)]
    taeda._foreach_mul_(tensors, 2)
    assert [t[1].item() for t in tensors] == [complex(2 * i, -2) for i in range(count)]
    assert core.memory_stats()["allocated"] == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError, ZeroDivisionError])
def test_what_an_index_raises_reaches_the_program(error):
    class Raises:
        def __index__(self):
            raise error("mine")

    calls = (
        lambda: taeda.zeros(Raises()),
        lambda: taeda.zeros([2, Raises()]),
        lambda: taeda.sum(taeda.ones(2), Raises()),
        lambda: taeda.ones(2).transpose(0, Raises()),
        lambda: taeda.ones(2).size(Raises()),
    )
    for call in calls:
        with pytest.raises(error, match="mine"):
            call()


def test_an_index_that_is_none_is_told_as_a_wrong_type():
    class Refuses:
        def __index__(self):
            raise TypeError("no int")

    with pytest.raises(TypeError, match="must be int, not Refuses"):
        taeda.cumsum(taeda.ones(2), Refuses())
