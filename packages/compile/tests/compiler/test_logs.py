"""What compiled functions say, and who decides it."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

import taeda
from taeda._logging import set_logs
from taeda.compiler import _logs


@pytest.fixture(autouse=True)
def no_handlers(monkeypatch):
    """As in a program that never spoke of logging; pytest has handlers of its own."""
    monkeypatch.setattr(_logs, "_handlers_of_the_program", list)
    yield
    set_logs()


def worked(function, *calls):
    compiled = taeda.compile(function)
    for args in calls:
        for _ in range(3):
            compiled(*args)
    return compiled


def grown(x, n):
    return (x * n).relu()


def read(x):
    return x * x.sum().item()


SMALL, LARGE = taeda.ones(2), taeda.ones(3)


def test_nothing_is_said_at_first(capsys):
    worked(grown, (SMALL, 2), (LARGE, 3))
    worked(read, (SMALL,))
    assert capsys.readouterr().err == ""


def test_a_graph_tells_its_operations_and_their_lines(capsys):
    set_logs(graph=True)
    worked(grown, (SMALL, 2))
    told = capsys.readouterr().err
    assert "taeda.compiler.graph: grown: 2 operations" in told
    assert "relu" in told and "test_logs.py" in told and "guard" not in told


def test_guards_and_what_asked_for_another_graph(capsys):
    set_logs(guards=True, recompiles=True)
    worked(grown, (SMALL, 2), (SMALL, 3))
    told = capsys.readouterr().err
    assert "guards: grown:" in told
    assert "recompiles: grown gets another graph: " in told and "graph: grown" not in told


def test_breaks_tell_why_a_call_stays_eager(capsys):
    set_logs(graph_breaks=True)
    worked(read, (SMALL,))
    told = capsys.readouterr().err
    assert "graph_breaks: read stays eager: " in told and "test_logs.py" in told


def test_a_component_at_debug_tells_all_of_its_artifacts(capsys):
    set_logs(dynamo=logging.DEBUG)
    worked(grown, (SMALL, 2))
    told = capsys.readouterr().err
    assert "graph: grown" in told and "guards: grown" in told
    set_logs(dynamo=logging.DEBUG, modules={"guards": False})
    worked(grown, (LARGE, 2))
    told = capsys.readouterr().err
    assert "graph: grown" in told and "guards: grown" not in told


def test_graphs_with_a_gradient(capsys):
    set_logs(aot=logging.DEBUG)
    weight = taeda.ones(2, requires_grad=True)
    worked(lambda x: (x * weight).sum(), (SMALL,))
    assert "joint: " in capsys.readouterr().err


def test_another_call_forgets_the_last_one(capsys):
    set_logs(graph=True)
    set_logs(guards=True)
    worked(grown, (SMALL, 2))
    told = capsys.readouterr().err
    assert "guards: grown" in told and "graph: grown" not in told
    assert logging.getLogger("taeda.compiler.graph").level == logging.NOTSET


def test_all_gives_components_without_a_level_of_their_own_one():
    set_logs(all=logging.ERROR, aot=logging.INFO)
    levels = {name: _logs.log_of(name).level for name in _logs.COMPONENTS}
    assert levels == {"dynamo": logging.ERROR, "inductor": logging.ERROR, "aot": logging.INFO}


def test_loggers_of_other_modules(capsys):
    set_logs(modules={"email.mime": logging.INFO})
    logging.getLogger("email.mime.text").info("a letter")
    assert "email.mime.text: a letter" in capsys.readouterr().err


def test_handlers_of_the_program_get_the_lines_alone(capsys, monkeypatch):
    lines = []

    class Kept(logging.Handler):
        def emit(self, record):
            lines.append(record.getMessage())

    kept = Kept()
    monkeypatch.undo()
    set_logs(graph=True)
    logging.getLogger().addHandler(kept)
    try:
        worked(grown, (SMALL, 2))
    finally:
        logging.getLogger().removeHandler(kept)
    assert [line.partition(":")[0] for line in lines] == ["grown"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"bytecode": True}, TypeError, "bytecode"),
        ({"dynamo": 17}, ValueError, "dynamo wants a level.*17"),
        ({"aot": True}, ValueError, "aot wants a level.*True"),
        ({"guards": logging.DEBUG}, ValueError, "guards is True or False, got 10"),
        ({"modules": {"nothing": logging.INFO}}, ValueError, "no component or artifact 'nothing'"),
        ({"modules": {"no_such_pkg.part": logging.INFO}}, ModuleNotFoundError, "no_such_pkg"),
    ],
)
def test_refusals_change_nothing(settings, error, text):
    set_logs(dynamo=logging.INFO)
    with pytest.raises(error, match=text):
        set_logs(**settings)
    assert logging.getLogger("taeda.compiler").level == logging.INFO


PROGRAM = """
import taeda
f = taeda.compile(lambda x: (x * 2).relu())
for _ in range(3):
    f(taeda.ones(2))
"""


@pytest.mark.parametrize(
    ("text", "status", "said", "unsaid"),
    [
        ("+dynamo", 0, "graph: <lambda>: 2 operations", "there is no"),
        ("guards, -dynamo", 0, "guards: <lambda>", "graph: <lambda>"),
        ("output_code", 0, "there is no output_code here", "<lambda>"),
        ("all,+aot", 0, "", "graph: <lambda>"),
        ("nothing", 1, "ValueError: set_logs: no component or artifact 'nothing'", "<lambda>: "),
    ],
)
def test_environment(text, status, said, unsaid, monkeypatch, tmp_path):
    monkeypatch.setenv("TAEDA_LOGS", text)
    (program := tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert said in done.stderr and unsaid not in done.stderr
