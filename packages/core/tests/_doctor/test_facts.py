"""Facts about the installation: every distribution, the compiler, the machine; no secrets."""

from __future__ import annotations

import math
import re

import taeda
from taeda._doctor import facts
from taeda._parts import advice as _advice


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


def test_numbers_are_finite_in_the_machine_s_description():
    rows = dict(facts._machine())
    size = float(re.search(r"([\d.]+) GiB", rows["processor"])[1])
    assert math.isfinite(size) and size > 0 and rows["BLAS and LAPACK"]
