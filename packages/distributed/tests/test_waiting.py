"""Waiting with a deadline."""

from __future__ import annotations

import pytest

from taeda.distributed import _waiting
from taeda.distributed._waiting import Deadline, wait_until


@pytest.fixture
def clock(monkeypatch):
    """A clock that only sleeping and yielding move: a waiting loop ends without time passing."""

    class Clock:
        now, looks, longest = 100.0, 0, 0.0

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += max(seconds, 1e-5)
            self.longest = max(self.longest, seconds)

        def sched_yield(self):
            self.now += 1e-5

        def look(self):
            self.looks += 1

    made = Clock()
    monkeypatch.setattr(_waiting, "time", made)
    monkeypatch.setattr(_waiting, "os", made)
    return made


def test_a_deadline_counts_down(clock):
    limit = Deadline(2.5)
    assert limit.left() == 2.5 and not limit.passed()
    clock.now += 3
    assert limit.passed() and limit.left() == 0 and limit.seconds == 2.5


@pytest.mark.parametrize("patient", [True, False])
def test_what_is_ready_is_not_waited_for(clock, patient):
    assert wait_until(lambda: True, Deadline(0), clock.look, patient)
    assert (clock.now, clock.looks) == (100.0, 0)


@pytest.mark.parametrize("patient", [True, False])
def test_a_wait_ends_at_its_deadline_and_looks_every_20_ms(clock, patient):
    assert not wait_until(lambda: False, Deadline(1.0), clock.look, patient)
    assert 101 <= clock.now < 101 + 2 * _waiting.LOOK_EVERY
    assert 40 <= clock.looks <= 51


@pytest.mark.parametrize("patient", [True, False])
def test_it_ends_once_ready(clock, patient):
    assert wait_until(lambda: clock.now > 100.5, Deadline(1.0), clock.look, patient)
    assert clock.now < 100.6


def test_what_a_look_raises_is_raised(clock):
    def look():
        raise LookupError("dead")

    with pytest.raises(LookupError, match="dead"):
        wait_until(lambda: False, Deadline(1.0), look)


@pytest.mark.parametrize("patient", [True, False])
def test_values_that_asking_moves_in_a_thousand_pieces_are_not_waited_for_asleep(clock, patient):
    """All to all of 16 MB took a second: MPI moved 9 KB at each question, one a millisecond."""
    pieces = iter(range(1000))
    assert wait_until(
        lambda: next(pieces, None) is None, Deadline(60), clock.look, patient, moves=True
    )
    assert clock.now < 100.05


@pytest.mark.parametrize(("seconds", "longest"), [(1.5, 0.0), (10.0, 1e-3)])
@pytest.mark.parametrize("patient", [True, False])
def test_who_waits_for_values_that_do_not_move_sleeps_at_last(clock, patient, seconds, longest):
    assert not wait_until(lambda: False, Deadline(seconds), clock.look, patient, moves=True)
    assert clock.longest == longest
