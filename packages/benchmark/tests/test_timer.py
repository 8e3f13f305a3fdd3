from __future__ import annotations

import pytest

import taeda
from taeda.utils.benchmark import CopyIfCallgrind, Language, Timer


def working(clock, seconds=1e-4, **options):
    return Timer(
        "clock.work(seconds)", timer=clock, globals={"clock": clock, "seconds": seconds}, **options
    )


def test_timeit_warms_up_then_measures(clock):
    m = working(clock).timeit(1000)
    assert m.raw_times == pytest.approx([0.1])
    assert m.number_per_run == 1000
    assert clock.calls == 1010


def test_setup_is_not_timed(clock):
    m = Timer("clock.work(1.0)", "clock.work(50.0)", timer=clock, globals={"clock": clock}).timeit(
        2
    )
    assert m.raw_times == [2.0]


def test_blocks_grow_until_the_clock_is_cheap(slow_clock):
    # A block must last a thousand readings, 1 ms; runs take 10 us.
    assert working(slow_clock, 1e-5).block_size(0.2) == 100


def test_blocked_autorange_fills_the_time_and_tells_of_each_block(clock):
    told = []
    m = working(clock).blocked_autorange(
        callback=lambda *block: told.append(block), min_run_time=0.1
    )
    assert sum(m.raw_times) == pytest.approx(0.1)
    assert told == [(m.number_per_run, t) for t in m.raw_times]


def test_a_slow_statement_is_measured_once(clock):
    m = working(clock, 5.0).blocked_autorange(min_run_time=0.2)
    assert (m.number_per_run, m.raw_times) == (1, [5.0])


def test_adaptive_autorange_stops_when_times_agree(clock):
    m = working(clock).adaptive_autorange(min_run_time=0.001)
    assert len(m.raw_times) >= 4
    assert sum(m.raw_times) < 0.02


def test_adaptive_autorange_stops_at_the_limit(clock):
    runs = iter(range(10**9))
    stmt = "clock.work(1.0 if next(runs) % 2 else 0.1)"  # never steady
    timer = Timer(stmt, timer=clock, globals={"clock": clock, "runs": runs})
    told = []
    m = timer.adaptive_autorange(
        threshold=0.01, max_run_time=20.0, callback=lambda *block: told.append(block)
    )
    assert 20.0 < sum(m.raw_times) < 30.0
    assert len(told) == len(m.raw_times)


def test_threads_are_set_and_restored():
    before = taeda.get_num_threads()
    seen = []
    Timer("seen.append(taeda.get_num_threads())", globals={"seen": seen}, num_threads=3).timeit(1)
    assert set(seen) == {3}
    assert taeda.get_num_threads() == before


def test_threads_are_restored_after_an_error():
    before = taeda.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        Timer("1 / 0", num_threads=before + 1).blocked_autorange()
    assert taeda.get_num_threads() == before


def test_indented_source_is_fine():
    Timer(
        """
        for i in range(2):
            x += i
        """,
        """
        x = 0
        """,
    ).timeit(2)


def test_values_for_another_process_are_plain_here():
    assert Timer("f(1)", globals={"f": CopyIfCallgrind(abs)}).timeit(1).raw_times


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"stmt": 3}, ValueError, "stmt is source text, got int"),
        ({"stmt": abs}, ValueError, "pass a callable through globals"),
        ({"setup": None}, TypeError, "setup is source text, got NoneType"),
        ({"language": "fortran"}, ValueError, "fortran"),
        ({"global_setup": "#include <x>"}, ValueError, "global_setup is for C"),
        ({"stmt": "x ="}, SyntaxError, "invalid syntax"),
    ],
)
def test_refusals(options, error, words):
    with pytest.raises(error, match=words):
        Timer(**options)


def test_no_threads_is_refused():
    with pytest.raises(RuntimeError, match="positive integer"):
        Timer("pass", num_threads=0).timeit(1)


@pytest.mark.parametrize("name", ["py", "python", Language.PYTHON])
def test_names_of_python(name):
    assert Timer("pass", language=name).timeit(1).raw_times


def test_repr_shows_the_statement():
    assert repr(Timer("x + 1", "x = 1")) == "Timer('x + 1', 'x = 1', num_threads=1)"
