"""`python -m taeda` tells what is here, and its self-test fails where something is wrong."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys

import pytest

import taeda
from taeda import __main__ as command
from taeda._doctor import core, facts, parts, selftest
from taeda._parts import advice as _advice


def test_facts_and_self_test_in_a_process_of_their_own():
    done = subprocess.run(
        [sys.executable, "-m", "taeda"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for title, rows in facts.sections():
        assert f"\n{title}\n" in f"\n{done.stdout}"
        assert all(label in done.stdout for label, _ in rows)
    assert "FAILED" not in done.stdout and "everything works" in done.stdout


def test_facts_name_every_distribution_with_its_version_or_its_advice(monkeypatch):
    missing = facts.missing
    monkeypatch.setattr(facts, "missing", lambda name: name == "taeda-data" or missing(name))
    rows = dict(dict(facts.sections())["parts"])
    assert {*rows} == {"taeda-core", *_advice.NEEDS}
    assert rows["taeda-core"].startswith(taeda.__version__)
    assert "not installed (taeda.utils.data): pip install" in rows["taeda-data"]


def test_a_machine_without_compiler_and_headers_is_described(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", str(tmp_path / "no-such-compiler"))
    monkeypatch.setattr(facts.cc.sysconfig, "get_path", lambda name: str(tmp_path))
    rows = dict(facts._building())
    assert rows["C compiler"].startswith("none") and rows["Python.h"].startswith("not installed")


def test_secrets_are_not_shown(monkeypatch):
    monkeypatch.setenv("TAEDA_STORE_SECRET", "hunter2")
    monkeypatch.setenv("TAEDA_ISA", "avx2")
    text = facts.as_text(facts.sections())
    assert "hunter2" not in text and re.search(r"TAEDA_STORE_SECRET +\(set\)", text)
    assert re.search(r"TAEDA_ISA +avx2", text)


def test_a_check_that_fails_is_shown_and_is_the_exit_status(monkeypatch, capsys):
    def broken() -> str:
        raise ValueError("out of order")

    monkeypatch.setattr(selftest, "modules", lambda: iter([core]))
    monkeypatch.setattr(core, "CHECKS", {"good": lambda: "fine", "bad": broken})
    assert command.main(["--test"]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"good +\d+ ms +ok +fine", shown) and "ValueError: out of order" in shown


def test_facts_alone_test_nothing(monkeypatch, capsys):
    monkeypatch.setattr(core, "CHECKS", {"bad": lambda: 1 / 0})
    assert command.main(["--facts"]) == 0
    assert "self-test" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("functions", lambda: ("sin", lambda x: x.cos())),
        ("random numbers", lambda: ("randn", lambda n, **_: taeda.zeros(n))),
        ("checkpoints", lambda: ("load", lambda f: {"x": taeda.zeros(1000), "row": taeda.ones(3)})),
    ],
)
def test_a_check_sees_what_is_wrong(name, wrong, monkeypatch):
    assert core.CHECKS[name]()
    monkeypatch.setattr(taeda, *wrong())
    with pytest.raises(AssertionError):
        core.CHECKS[name]()


def test_every_part_that_is_installed_brings_its_checks():
    owners = {module.__name__.rpartition("._doctor")[0] for module in parts.modules()}
    assert "taeda" in owners
    assert ("taeda.autograd" in owners) is not _advice.missing("taeda-autograd")
    for module in parts.modules():
        assert module.CHECKS and all(
            map(callable, (*module.CHECKS.values(), *module.FACTS.values()))
        )


def test_numbers_are_finite_in_the_machine_s_description():
    rows = dict(facts._machine())
    size = float(re.search(r"([\d.]+) GiB", rows["processor"])[1])
    assert math.isfinite(size) and size > 0 and rows["BLAS and LAPACK"]


@pytest.mark.parametrize("module", ["taeda", "taeda.utils.collect_env"])
def test_who_stops_reading_gets_no_traceback(module):
    """As `python -m taeda | head -1` does."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", module, *(["--facts"] if module == "taeda" else [])]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
