"""The compiler driver: what it does again, what it leaves, and how it refuses.
Needs a C compiler, as core does.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from taeda._build import cc

CFLAGS = ("-O0", "-fPIC", "-Wall")


@pytest.fixture
def project(tmp_path):
    """A library of two units, one of which includes a header."""
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    (tmp_path / "a.c").write_text('#include "value.h"\nint a(void) { return VALUE; }\n')
    (tmp_path / "b.c").write_text("int b(void) { return 2; }\n")
    return tmp_path


def build(project: Path, *units: cc.Unit, cflags: tuple[str, ...] = CFLAGS) -> Path:
    units = units or (cc.Unit(project / "a.c"), cc.Unit(project / "b.c"))
    return cc.build(units, project / "out" / "lib.so", project / "objects", cflags, ())


def objects(project: Path) -> dict[str, int]:
    """When each object was written, by source name."""
    found = (project / "objects").glob("*.o")
    return {path.name.partition("-")[0]: path.stat().st_mtime_ns for path in found}


def call(library: Path, name: str) -> int:
    """Ask in a process of its own: a library once loaded is not loaded again."""
    code = f"import ctypes; print(ctypes.CDLL({str(library)!r}).{name}())"
    return int(subprocess.check_output([sys.executable, "-c", code]))


def test_units_are_linked_into_one_library(project):
    library = ctypes.CDLL(str(build(project)))
    assert (library.a(), library.b()) == (1, 2)


HEADER = """#include <stdint.h>
uint8_t NAME(void) { return 3; }
"""


def many(project: Path, header: str) -> list[cc.Unit]:
    """As many units as share a header that is read once."""
    units = []
    for number in range(cc.ENOUGH):
        source = project / f"u{number}.c"
        source.write_text(HEADER.replace("NAME", f"u{number}"))
        units.append(cc.Unit(source, ("-DX",), header=header))
    return units


def compiler(project: Path, line: str) -> None:
    """A compiler that runs a line of the shell first."""
    wrapper = project / "compiler"
    wrapper.write_text(f'#!/bin/sh\n{line}\nexec {cc.compiler()[-1]} "$@"\n')
    wrapper.chmod(0o755)
    os.environ["CC"] = str(wrapper)


def test_a_header_that_is_read_once_changes_no_object(project, monkeypatch):
    monkeypatch.setenv("CC", *cc.compiler()[-1:])
    alone = [path.read_bytes() for path in made(project, many(project, ""), "alone")]
    compiler(project, f'echo "$*" >> {project}/commands')
    together = [path.read_bytes() for path in made(project, many(project, "stdint.h"), "together")]
    assert alone == together
    assert (project / "commands").read_text().count("-include") == cc.ENOUGH
    assert not (project / "together" / ".headers").exists()


def test_units_of_several_levels_share_a_header(project, monkeypatch):
    monkeypatch.setenv("CC", *cc.compiler()[-1:])

    def levels(header: str) -> list[cc.Unit]:
        first, *rest = many(project, header)
        return [replace(first, flags=(*first.flags, "-O1")), *rest]

    alone = [path.read_bytes() for path in made(project, levels(""), "alone")]
    compiler(project, f'echo "$*" >> {project}/commands')
    together = [path.read_bytes() for path in made(project, levels("stdint.h"), "together")]
    assert alone == together
    commands = (project / "commands").read_text()
    assert (commands.count("c-header"), commands.count("-include")) == (1, cc.ENOUGH)


def test_a_kept_header_that_a_compiler_does_not_take_rebuilds_nothing(project, monkeypatch):
    """One that was read without optimizing is read again by units that are optimized."""
    monkeypatch.setenv("CC", *cc.compiler()[-1:])
    units = [replace(unit, flags=(*unit.flags, "-O2")) for unit in many(project, "stdint.h")]
    build = cc.Build(project, cc.compiler(), CFLAGS)
    times = [path.stat().st_mtime_ns for path in build.compile(units)]
    again = cc.Build(project, cc.compiler(), CFLAGS).compile(units)
    assert [path.stat().st_mtime_ns for path in again] == times


def test_a_compiler_that_cannot_keep_headers_reads_them(project, monkeypatch):
    monkeypatch.setenv("CC", *cc.compiler()[-1:])
    compiler(project, 'case "$*" in *c-header*) exit 1;; esac')
    assert len(made(project, many(project, "stdint.h"), "own")) == cc.ENOUGH


def made(project: Path, units: list[cc.Unit], folder: str) -> list[Path]:
    (project / folder).mkdir()
    return cc.Build(project / folder, cc.compiler(), CFLAGS).compile(units)


def test_nothing_changed_nothing_done(project):
    written = build(project).stat().st_mtime_ns
    before = objects(project)
    for path in project.glob("*.[ch]"):
        os.utime(path)  # a new time, the same content
    assert build(project).stat().st_mtime_ns == written
    assert objects(project) == before


def test_a_changed_header_rebuilds_only_who_reads_it(project):
    build(project)
    before = objects(project)
    (project / "value.h").write_text("#define VALUE 7\n")
    assert call(build(project), "a") == 7
    after = objects(project)
    assert after["a"] > before["a"]
    assert after["b"] == before["b"]


def test_changed_flags_rebuild(project):
    build(project)
    before = objects(project)
    build(project, cflags=(*CFLAGS, "-O1"))
    assert all(time > before[name] for name, time in objects(project).items())


def test_one_source_may_be_compiled_twice_with_tags(project):
    (project / "k.c").write_text("int SYMBOL(void) { return __LINE__; }\n")
    units = [cc.Unit(project / "k.c", (f"-DSYMBOL=k_{tag}",), tag) for tag in ("x", "y")]
    library = ctypes.CDLL(str(build(project, *units)))
    assert library.k_x() == library.k_y() == 1


def test_a_removed_source_leaves_the_library(project):
    build(project)
    library = ctypes.CDLL(str(build(project, cc.Unit(project / "a.c"))))
    assert not hasattr(library, "b")


def test_a_library_someone_deleted_is_linked_again(project):
    build(project).unlink()
    assert build(project).is_file()


def test_an_error_in_c_is_told_in_the_compilers_words_and_leaves_the_old_library(project):
    library = build(project)
    (project / "b.c").write_text("int b(void) { return }\n")
    with pytest.raises(cc.CompileError, match=r"b\.c:1:\d+: error"):
        build(project)
    assert call(library, "b") == 2
    (project / "b.c").write_text("int b(void) { return 3; }\n")
    assert call(build(project), "b") == 3


def test_a_space_in_a_path_is_no_separator(tmp_path):
    home = tmp_path / "a b"
    home.mkdir()
    (home / "value.h").write_text("#define VALUE 1\n")
    (home / "a.c").write_text('#include "value.h"\nint a(void) { return VALUE; }\n')
    build(home, cc.Unit(home / "a.c"))
    (home / "value.h").write_text("#define VALUE 5\n")
    assert call(build(home, cc.Unit(home / "a.c")), "a") == 5


def test_two_processes_share_a_folder(project):
    code = (
        "from pathlib import Path; from taeda._build import cc; import sys; p = Path(sys.argv[1]);"
        "cc.build([cc.Unit(p / 'a.c'), cc.Unit(p / 'b.c')], p / 'out' / 'lib.so', p / 'objects', "
        f"{CFLAGS}, ())"
    )
    command = [sys.executable, "-c", code, str(project)]
    started = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert call(project / "out" / "lib.so", "a") == 1
    assert [path.name for path in (project / "out").iterdir()] == ["lib.so"]


def test_without_a_compiler_there_are_three_lines(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(cc.NotReady, match="looked for cc, gcc, clang") as caught:
        cc.compiler()
    assert len(str(caught.value).splitlines()) == 3


def test_without_python_h_there_are_three_lines_with_the_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(
        cc.NotReady, match=r"Python\.h of Python \d\.\d+ is not installed"
    ) as caught:
        cc.python_include()
    assert str(tmp_path) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 3


def test_a_unit_may_have_a_compiler_of_its_own(project):
    """Its command is then the unit's alone: the flags of the build stay away."""
    (project / "other").write_text('#!/bin/sh\nexec cc -DVALUE_OF_B=9 "$@"\n')
    (project / "other").chmod(0o755)
    (project / "b.c").write_text("int b(void) { return VALUE_OF_B; }\n")
    unit = cc.Unit(project / "b.c", ("-fPIC",), compiler=(str(project / "other"),))
    assert call(build(project, unit, cflags=("-DVALUE_OF_B=1", "-fPIC")), "b") == 9


def test_steps_and_what_compilers_say_are_handed_on(project):
    steps: list[str] = []
    said: list[str] = []
    (project / "b.c").write_text("int b(void) { int unused = 1; return 2; }\n")
    folder = project / "objects"
    folder.mkdir()
    with cc.locked(folder):
        build = cc.Build(folder, cc.compiler(), CFLAGS, say=said.append, progress=steps.append)
        for _ in range(2):  # the second time there is nothing to do, and nothing is said
            objects = build.compile([cc.Unit(project / "a.c"), cc.Unit(project / "b.c")])
            build.link(objects, project / "lib.so", ("-shared",))
    assert {step.rpartition(" ")[2] for step in steps} == {"a.c", "b.c", "lib.so"}
    assert len(steps) == 3
    assert len(said) == 1 and "unused" in said[0]


def test_what_killed_builds_left_goes(project):
    (objects_folder := project / "objects").mkdir()
    library = build(project)
    stem = next(objects_folder.glob("a-*.o")).name
    left = [objects_folder / f".{stem}.123.o", library.with_name(".lib.so.123")]
    for path in left:
        path.write_text("half an object")
    (project / "a.c").write_text("int a(void) { return 8; }\n")
    assert call(build(project), "a") == 8
    assert not [path for path in left if path.exists()]


def test_the_lock_touches_no_file(project):
    build(project)
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    build(project)
    assert before == {path: path.stat().st_mtime_ns for path in project.rglob("*")}


def test_a_free_threaded_python_is_refused(monkeypatch):
    known = sysconfig.get_config_var
    monkeypatch.setattr(
        sysconfig, "get_config_var", lambda name: 1 if name == "Py_GIL_DISABLED" else known(name)
    )
    with pytest.raises(cc.NotReady, match="is a free-threaded build, which has none"):
        cc.require_tools()


def test_a_free_threaded_python_is_refused_at_import():
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.abiflags = 't'; import taeda"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ImportError: taeda relies on Python's global interpreter lock" in done.stderr


def test_progress_says_what_is_compiled_and_how_much_is_left(project):
    told = []
    arguments = (project / "lib.so", project / "objects", CFLAGS, ())
    units = (cc.Unit(project / "a.c", tag="wide"), cc.Unit(project / "b.c"))
    cc.build(units, *arguments, progress=told.append)
    assert {line.partition(": ")[2] for line in told[:2]} == {"a.c (wide)", "b.c"}
    assert {line.partition(":")[0] for line in told[:2]} == {"compiling 1 of 2", "compiling 2 of 2"}
    assert told[2:] == ["linking lib.so"]
    (project / "b.c").write_text("int b(void) { return 3; }\n")
    told.clear()
    cc.build(units, *arguments, progress=told.append)
    assert told == ["compiling 1 of 1: b.c", "linking lib.so"]


def test_commands_are_those_that_compile(project):
    unit = cc.Unit(project / "a.c", ("-DONE=1",))
    (command,) = cc.Build(project, ["cc"], CFLAGS).commands([unit])
    assert command["file"] == str(project / "a.c") and command["directory"] == str(project)
    assert command["command"].split() == ["cc", *CFLAGS, "-DONE=1", "-c", str(project / "a.c")]
