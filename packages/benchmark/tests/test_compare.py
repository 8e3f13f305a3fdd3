from __future__ import annotations

import pytest

from taeda.utils.benchmark import Compare, Measurement, TaskSpec


def measured(seconds, sub_label="f", description="n=1", **rest):
    spec = TaskSpec(
        "f()", "pass", label="ops", sub_label=sub_label, description=description, **rest
    )
    return Measurement(1, [seconds] * 4, spec)


TIMES = [
    measured(1e-6), measured(2e-6, description="n=2"),
    measured(3e-6, "g"), measured(40e-6, "g", "n=2"),
    measured(5e-6, num_threads=2),
]  # fmt: skip


def test_rows_columns_and_threads():
    assert str(Compare(TIMES)).splitlines() == [
        "[------- ops -------]",
        "         | n=1 |  n=2",
        "1 thread:------------",
        "      f  | 1.0 |  2.0",
        "      g  | 3.0 | 40.0",
        "2 threads:-----------",
        "      f  | 5.0 |",
        "",
        "Times are in microseconds (us).",
    ]


def test_replicates_are_merged_but_not_across_environments():
    rows = str(Compare([measured(1e-6), measured(3e-6), measured(9e-6, env="new")]))
    assert " 2.0" in rows
    assert "f (new) " in rows


def test_labels_have_tables_of_their_own():
    other = Measurement(1, [1.0], TaskSpec("g()", "pass", label="others"))
    assert str(Compare([*TIMES, other])).count("Times are in") == 2


def test_only_supported_figures():
    spec = TaskSpec("f()", "pass")
    table = Compare([Measurement(1, [1.23e-3, 1.5e-3, 1.0e-3, 1.9e-3] * 3, spec)])
    assert "1.4" in str(table)
    table.trim_significant_figures()
    assert "| 1" in str(table)
    assert "1.4" not in str(table)


def test_warnings_are_marked():
    table = Compare([Measurement(1, [1e-3, 2e-3, 3e-3, 4e-3], TaskSpec("f()", "pass"))])
    assert "(!" not in str(table)
    table.highlight_warnings()
    assert "2.5 (! 60%)" in str(table)
    assert "high variance" in str(table)


@pytest.mark.parametrize("rowwise", [False, True])
def test_colours_mark_the_best(rowwise):
    table = Compare(TIMES)
    table.colorize(rowwise)
    green = [line.split("|")[0].strip() for line in str(table).splitlines() if "\033[92m" in line]
    assert green == (["f", "g", "f"] if rowwise else ["f"])


def test_print(capsys):
    Compare(TIMES).print()
    assert capsys.readouterr().out.startswith("[---")


def test_only_measurements():
    with pytest.raises(ValueError, match="got float"):
        Compare([1.0])
    with pytest.raises(ValueError, match="got str"):
        Compare(TIMES).extend_results(["x"])
