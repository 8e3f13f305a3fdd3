"""What is measured of an import, and what is said of a figure over its limit.
Nothing here depends on time.
"""

from __future__ import annotations

import by_path

gates = by_path.load("tools/hold/gates.py")


def test_a_figure_over_its_limit_is_told():
    limits = {"size": 5.0, "modules": 80, "not measured": 1.0}
    assert gates.over({"size": 5.0, "modules": 80, "free": 1e9}, limits) == []
    (told,) = gates.over({"size": 5.01, "modules": 79}, limits)
    assert told == "size: 5.01; the limit is 5"


def test_medians_are_taken_in_turns_and_over_a_bare_interpreter():
    asked = []
    answers = {
        "pass": (0.0, 10.0, 1),
        "import numpy": (0.1, 30.0, 100),
        "import taeda": (0.05, 16.0, 61),
    }

    def ask(statement):
        asked.append(statement)
        seconds, megabytes, modules = answers[statement]
        late = 9.0 if len(asked) < 4 else 0.0  # the first round is slow: a median does not see it
        return seconds + late, megabytes, modules

    found = gates.imports(3, ask)
    assert asked == [*answers] * 3
    assert found["import taeda, of numpy's time"] == 0.5
    assert found["import taeda, resident MB over Python"] == 6.0
    assert found["import taeda, modules over Python"] == 60
    assert set(gates.LIMITS) - {"wheel of core, MB"} <= set(found)


def test_an_import_is_measured_in_a_process_of_its_own():
    seconds, megabytes, modules = gates.measure("import decimal")
    assert seconds > 0 and megabytes > 1 and modules >= 1


def test_the_exit_status_tells(monkeypatch, capsys):
    monkeypatch.setattr(gates, "measure", lambda statement: (1.0, 5.0, 3))
    assert gates.main(["--no-wheel", "--rounds", "1"]) == 0
    monkeypatch.setitem(gates.LIMITS, "import taeda, modules over Python", -1)
    assert gates.main(["--no-wheel", "--rounds", "1"]) == 1
    assert "the limit is -1" in capsys.readouterr().out
