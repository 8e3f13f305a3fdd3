"""What an asynchronous collective returns."""

from __future__ import annotations

from datetime import timedelta

import pytest

from taeda.distributed import DistTimeoutError
from taeda.distributed._groups.work import Work


def test_before_the_end():
    work = Work("all_reduce()", [1])
    assert not work.is_completed() and work.exception() is None
    for call in (work.is_success, work.result):
        with pytest.raises(RuntimeError, match=r"all_reduce\(\) is still under way"):
            call()
    with pytest.raises(DistTimeoutError, match=r"all_reduce\(\) was not complete after 0.01 s"):
        work.wait(timedelta(seconds=0.01))
    with pytest.raises(ValueError, match="longer than nothing"):
        work.wait(timedelta(seconds=-1))


@pytest.mark.parametrize(("given", "told"), [(None, []), ([1, 2], [1, 2]), ((3,), [3]), (5, [5])])
def test_a_good_end(given, told):
    work = Work("x", given)
    future, code = work.get_future(), work.get_future_result()
    work._finish()
    assert work.wait() and work.wait(timedelta(0)) and work.is_success()
    work.synchronize()
    assert work.result() == told == future.wait() == work.get_future().wait()
    assert code.wait() == 0 and work.source_rank() == -1
    assert work.boxed() is Work.unbox(work) is work


@pytest.mark.parametrize(("error", "code"), [(DistTimeoutError("late"), 1), (OSError("broken"), 2)])
def test_a_bad_end(error, code):
    work = Work("x")
    future, result = work.get_future(), work.get_future_result()
    work._finish(error)
    assert not work.is_success() and work.exception() is error and result.wait() == code
    for call in (work.wait, work.result, future.wait):
        with pytest.raises(type(error), match=str(error)):
            call()


def test_giving_up_reaches_the_group():
    work, told = Work("x"), []
    work.abort()
    work._abort = lambda: told.append(1)
    work.abort()
    assert told == [1]
