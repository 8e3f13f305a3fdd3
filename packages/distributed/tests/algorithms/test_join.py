"""Training with unequal numbers of inputs, on threads."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.algorithms.join import Join, Joinable, JoinHook


class Counter(Joinable):
    """Adds up over the ranks what each brings; who has run out brings nothing."""

    def __init__(self, group=None):
        super().__init__()
        self.group = group or dist.group.WORLD
        self.sums, self.told, self.words = [], [], {}

    def add(self, value):
        work = Join.notify_join_context(self)
        self.sums.append(self._sum(value))
        return work

    def _sum(self, value):
        total = taeda.tensor([value])
        dist.all_reduce(total, group=self.group)
        return int(total)

    def join_hook(self, **words):
        self.words = words
        counter = self

        class Hook(JoinHook):
            def main_hook(self):
                counter._sum(0)
                counter.told.append(Join.active(counter.group))

            def post_hook(self, is_last_joiner):
                counter.told.append(is_last_joiner)
                counter.told.append(Join.last_joiner(counter.group, is_last_joiner))

        return Hook()

    @property
    def join_device(self):
        return taeda.device("cpu")

    @property
    def join_process_group(self):
        return self.group


def test_who_has_run_out_keeps_the_others_company():
    def work(rank):
        counter = Counter()
        with Join([counter], colour="red"):
            for step in range(1 + rank):
                counter.add(10 * rank + step)
        return counter.sums, counter.told, counter.words, Join.active(counter.group)

    zero, one, two = on_threads(3, work)
    assert zero[0] == [30] and one[0] == [30, 32] and two[0] == [30, 32, 22]
    assert zero[1] == [2, 1, False, 2] and one[1] == [1, False, 2] and two[1] == [True, 2]
    assert zero[2] == {"colour": "red"} and zero[3] == 3


def test_the_first_to_run_out_may_end_it_all():
    def work(rank):
        counter = Counter()

        def loop():
            with Join([counter], throw_on_early_termination=True):
                for step in range(1 + rank):
                    counter.add(step)

        with pytest.raises(RuntimeError, match="has run out of inputs"):
            loop()
        return len(counter.sums)

    assert on_threads(2, work) == [1, 1]


def test_a_context_that_is_off_and_one_that_fails():
    def work(rank):
        counter = Counter()
        with Join([counter], enable=False):
            assert counter.add(rank) is None

        def fails():
            with Join([counter]):
                assert counter.add(rank).wait()
                raise KeyError

        with pytest.raises(KeyError):
            fails()
        assert counter.add(1) is None  # outside of a context nobody is told
        return counter.sums

    assert on_threads(2, work) == [[1, 1, 2]] * 2


def test_refusals():
    with pytest.raises(ValueError, match="at least one joinable"):
        Join([])
    with pytest.raises(TypeError, match="takes Joinables, not int"):
        Join([3])
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    try:
        with pytest.raises(ValueError, match="the same process group"):
            Join([Counter(), Counter(dist.new_group([0]))])
        bare = object.__new__(Counter)
        with pytest.raises(AssertionError, match="did not call"):
            Join.notify_join_context(bare)
        second = Counter()
        with Join([Counter(), second], enable=True):
            assert Join.notify_join_context(second) is None
            raise LookupError
    except LookupError:
        pass
    finally:
        dist.destroy_process_group()
