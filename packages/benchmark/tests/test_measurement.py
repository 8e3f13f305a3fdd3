from __future__ import annotations

import pickle
import statistics

import numpy as np
import pytest

from taeda.utils.benchmark import Measurement, TaskSpec, ordered_unique
from taeda.utils.benchmark.measurement import quantile


def measured(times, number=1, **spec):
    return Measurement(number, list(times), TaskSpec("f()", "pass", **spec))


def test_quantiles_are_numpys():
    values = sorted([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0])
    for share in (0.0, 0.25, 0.5, 0.9, 1.0):
        assert quantile(values, share) == pytest.approx(np.quantile(values, share))


def test_times_are_of_single_runs():
    m = measured([2.0, 4.0, 9.0], number=10)
    assert m.times == [0.2, 0.4, 0.9]
    assert m.median == pytest.approx(0.4)
    assert m.mean == pytest.approx(statistics.fmean([0.2, 0.4, 0.9]))
    assert m.iqr == pytest.approx(0.35)


def test_attributes_of_the_task_are_its_own():
    m = measured([1.0], label="L", sub_label="s", num_threads=3, env="e")
    assert (m.stmt, m.label, m.num_threads, m.env, m.title, m.as_row_name) == (
        "f()",
        "L",
        3,
        "e",
        "L: s",
        "s",
    )
    with pytest.raises(AttributeError, match="nothing"):
        _ = m.nothing


def test_it_pickles():
    m = measured([1.0, 2.0], label="L")
    assert pickle.loads(pickle.dumps(m)) == m


def test_merge_joins_replicates_and_keeps_tasks_apart():
    a, b, c = measured([2.0], number=2), measured([3.0]), measured([5.0], env="other")
    merged = Measurement.merge([a, c, b])
    assert [(m.times, m.number_per_run, m.metadata) for m in merged] == [
        ([1.0, 3.0], 1, None),
        ([5.0], 1, None),
    ]


@pytest.mark.parametrize(("spread", "figures"), [(0.0, 4), (1e-4, 4), (0.01, 2), (0.9, 1)])
def test_figures_follow_from_the_spread(spread, figures):
    times = [1.0 + spread * (i % 5 - 2) for i in range(20)]
    assert measured(times).significant_figures == figures


def test_a_single_time_has_one_figure():
    assert measured([1.0]).significant_figures == 1


def test_tails_do_not_count_for_figures():
    assert measured([1.0] * 30 + [50.0] * 3).significant_figures == 4


def test_repr_shows_median_spread_counts_and_a_warning():
    steady = repr(measured([0.1] * 5, number=100, description="d"))
    assert "Median: 1.00 ms" in steady
    assert "5 measurements, 100 runs per measurement, 1 thread" in steady
    assert "WARNING" not in steady
    noisy = measured([1e-3, 2e-3, 3e-3, 4e-3])
    assert noisy.has_warnings
    assert "WARNING: Interquartile range is 60.0% of the median" in repr(noisy)


def test_confidence_needs_four_times():
    assert not measured([1.0] * 3).meets_confidence()
    assert measured([1.0] * 4).meets_confidence()


def test_summary_of_a_long_setup():
    text = TaskSpec("f()", "import a\nimport b", description="d").summarize()
    assert text == "f()\nd\nsetup:\n  import a\n  import b"


def test_ordered_unique():
    assert ordered_unique([3, 1, 3, 2, 1]) == [3, 1, 2]
