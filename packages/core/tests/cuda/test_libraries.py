"""Where libraries of CUDA are looked for, and in which order."""

import sys

from taeda.cuda._libraries import candidates, opened


def wheel(folder, path):
    file = folder / "nvidia" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    return str(file)


def test_wheels_come_before_the_loader_and_the_newest_first(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delenv("TAEDA_LIBX", raising=False)
    old = wheel(tmp_path, "x/lib/libx.so.12")
    new = wheel(tmp_path, "cu13/lib/libx.so.13")
    wheel(tmp_path, "x/lib/libxLt.so.12")
    wheel(tmp_path, "x/lib/libx-builtins.so.12")
    assert candidates("x", "TAEDA_LIBX") == [new, old, "libx.so.13", "libx.so.12", "libx.so"]
    assert candidates("x", "TAEDA_LIBX", newest=12) == [old, "libx.so.12", "libx.so"]


def test_what_the_environment_names_is_the_only_one(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setenv("TAEDA_LIBX", "/some/where.so")
    wheel(tmp_path, "x/lib/libx.so.12")
    assert candidates("x", "TAEDA_LIBX") == ["/some/where.so"]
    assert opened("x", "TAEDA_LIBX") is None


def test_the_first_that_opens_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delenv("TAEDA_LIBM", raising=False)
    wheel(tmp_path, "m/lib/libm.so.12")  # no library
    assert opened("nothing-like-this", "TAEDA_LIBM") is None
    monkeypatch.setenv("TAEDA_LIBM", "libm.so.6")
    assert opened("m", "TAEDA_LIBM").cos
