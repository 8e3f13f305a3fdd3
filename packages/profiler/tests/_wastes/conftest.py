"""Programs for wastes: one that trains well, filled with what wastes, or with the same mended."""

import sys
import textwrap
import types

import pytest

import taeda
from taeda.profiler._script import Script
from taeda.profiler._watch import Watch

PROGRAM = """
import taeda
from taeda import nn
import taeda.nn.functional as F
taeda.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = taeda.optim.Adam(model.parameters(){form})
x, y = taeda.randn({batch}, 32), taeda.randint(0, 4, ({batch},))
{setup}
for step in range(12):
    {clear}
    loss = F.cross_entropy(model({inputs}), y)
    loss.backward()
    optimizer.step()
{body}
{end}
"""
GOOD = {"form": "", "batch": 128, "setup": "", "clear": "optimizer.zero_grad()", "inputs": "x",
        "body": "pass", "end": ""}  # fmt: skip


class Clock:
    """A microsecond a look, and what the program says that passes."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1000
        return self.now

    def pass_by(self, milliseconds):
        self.now += milliseconds * 1_000_000


@pytest.fixture
def run_program(tmp_path, monkeypatch):
    """Run a program under a watch, and return it with the names of the wastes found."""
    for needed in ("taeda.optim", "taeda.nn", "taeda.utils.data", "taeda.compiler"):
        pytest.importorskip(needed, reason="the programs train, load and compile")
    threads = taeda.get_num_threads()
    monkeypatch.setattr(taeda.cuda, "synchronize", lambda *device: None)  # there need be no device

    def running(parts):
        clock = Clock()
        monkeypatch.setitem(
            sys.modules, "time_of_test", types.SimpleNamespace(pass_by=clock.pass_by)
        )
        filled = GOOD | parts
        filled["body"] = textwrap.indent(filled["body"], "    ")
        script = tmp_path / "script.py"
        script.write_text(PROGRAM.format(**filled))
        watch = Watch(clock)
        if "set_num_threads" not in filled["setup"]:
            taeda.set_num_threads(2)  # so that threads could share work
        with watch.watching_program():
            start = clock()
            assert Script.read(str(script), []).run() == 0
            watch.finish(clock() - start)
        return watch, [type(waste).__name__ for waste in watch.wastes if waste.found()]

    yield running
    taeda.set_num_threads(threads)


@pytest.fixture
def advice_of(tmp_path):
    """What the report would advise for a program, in words."""
    for needed in ("taeda.optim", "taeda.nn", "taeda.utils.data", "taeda.compiler"):
        pytest.importorskip(needed, reason="the programs train, load and compile")
    threads = taeda.get_num_threads()

    def watched(text):
        script = tmp_path / "script.py"
        script.write_text(text)
        clock = Clock()
        watch = Watch(clock)
        taeda.set_num_threads(2)  # so that threads could share work
        with watch.watching_program():
            start = clock()
            assert Script.read(str(script), []).run() == 0
            watch.finish(clock() - start)
        return [str(one).removeprefix(f"{tmp_path}/") for one in watch.found()]

    yield watched
    taeda.set_num_threads(threads)


@pytest.fixture
def hears_of_its_line(run_program, tmp_path):
    """A program that wastes hears of this waste alone, at its line."""

    def check(waste, parts):
        watch, names = run_program(parts)
        assert names == [waste], [str(one) for one in watch.found()]
        (finding,) = watch.found()
        assert finding.place.startswith(str(tmp_path / "script.py:"))
        assert finding.text.endswith(".") and finding.gain and not finding.gain.endswith(".")
        return finding

    return check


@pytest.fixture
def hears_nothing(run_program):
    """A program that wastes nothing hears nothing."""

    def check(parts):
        watch, names = run_program(parts)
        assert names == [], [str(one) for one in watch.found()]

    return check
