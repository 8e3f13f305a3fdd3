"""Packages run when they are asked for a name, once, and threads that begin at both ends get whole
modules.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from types import ModuleType

import pytest

import taeda
from taeda._parts import packages as _packages

INIT = """
runs = globals().get("runs", 0) + 1
from .first import here
from .second import function as second
from . import third
"""
SOURCES = {
    "__init__": INIT,
    "first": "import time\nfrom . import third\ntime.sleep(0.05)\nhere = third.value",
    "second": "from .third import value\ndef function(): return value",
    "third": "value = 3",
    "fourth": "from . import second\nfrom .second import function",
}


@pytest.fixture
def probe(tmp_path, monkeypatch):
    """A package taeda.probe of these sources, that nobody has imported."""
    folder = tmp_path / "probe"
    folder.mkdir()
    for name, text in SOURCES.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(taeda, "__path__", [*taeda.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    yield "taeda.probe"
    for name in [n for n in sys.modules if n.startswith("taeda.probe")]:
        del sys.modules[name]
    vars(taeda).pop("probe", None)


def is_waiting(package):
    return type(package) is not ModuleType


def test_an_import_runs_nothing_and_a_name_runs_all(probe):
    package = importlib.import_module(probe)
    assert is_waiting(package) and "taeda.probe.first" not in sys.modules
    assert package.here == 3 and not is_waiting(package) and package.runs == 1


def test_what_the_import_system_asks_runs_nothing(probe):
    package = importlib.import_module(probe)
    assert package.__name__ == probe and package.__path__ and package.__spec__ and package.__file__
    assert not hasattr(package, "__warningregistry__") and is_waiting(package)


@pytest.mark.parametrize("look", [dir, vars, lambda p: p.__doc__, lambda p: hasattr(p, "nothing")])
def test_looking_at_all_of_it_runs_it(probe, look):
    package = importlib.import_module(probe)
    look(package)
    assert not is_waiting(package) and {"here", "second", "third"} <= set(vars(package))


def test_a_module_may_be_imported_before_its_package(probe):
    third = importlib.import_module(f"{probe}.third")
    package = sys.modules[probe]
    assert is_waiting(package) and package.third is third and not is_waiting(package)


def test_a_function_hides_the_module_of_its_name_as_if_the_package_had_come_first(probe):
    importlib.import_module(f"{probe}.second")
    assert callable(sys.modules[probe].second)
    fourth = importlib.import_module(f"{probe}.fourth")
    assert fourth.function() == 3


def test_a_module_that_is_being_imported_gets_modules(probe):
    fourth = importlib.import_module(f"{probe}.fourth")
    assert isinstance(fourth.second, ModuleType) and is_waiting(sys.modules[probe])


def test_what_users_set_and_delete_stays(probe):
    package = importlib.import_module(probe)
    package.here = 5
    assert not is_waiting(package) and package.here == 5
    del package.here
    assert not hasattr(package, "here")


def test_an_exception_goes_to_who_asked_and_the_next_tries_again(probe, tmp_path):
    (tmp_path / "probe" / "first.py").write_text("raise ValueError('broken')")
    package = importlib.import_module(probe)
    with pytest.raises(ValueError, match="broken"):
        _ = package.here
    (tmp_path / "probe" / "first.py").write_text("here = 'mended, and longer than before'")
    importlib.invalidate_caches()
    assert package.here.startswith("mended") and not is_waiting(package)


def test_reloading_runs_it_again(probe):
    package = importlib.import_module(probe)
    assert package.runs == 1
    assert importlib.reload(package) is package and package.runs == 2


PROGRAMS = [
    lambda: importlib.import_module("taeda.probe.first").here,
    lambda: importlib.import_module("taeda.probe").here,
    lambda: importlib.import_module("taeda.probe.fourth").function(),
    lambda: importlib.import_module("taeda.probe").second(),
]


def test_threads_that_begin_at_both_ends(probe):
    """Every thread gets what it wants, and the package runs once."""
    found, gate = [], threading.Barrier(8)

    def run(program):
        gate.wait()
        try:
            found.append(program())
        except BaseException as error:  # noqa: BLE001 - it is compared below
            found.append(error)

    threads = [threading.Thread(target=run, args=(PROGRAMS[i % 4],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [3] * 8 and sys.modules[probe].runs == 1


def test_packages_that_run_at_once_exist_and_say_where_their_modules_are():
    for name in _packages.AT_ONCE:
        assert type(importlib.import_module(name)) is ModuleType
    for name in _packages.SHARED:
        assert len(set(sys.modules[name].__path__)) == len(sys.modules[name].__path__)


def test_packages_that_look_for_folders_of_other_distributions_are_known():
    """Somebody may import a module of another distribution before the package's own code has looked
    for it.
    """
    packages = Path(__file__).resolve().parents[3]
    looking = {
        ".".join(path.parent.relative_to(source).parts)
        for source in packages.glob("*/src")
        for path in source.rglob("__init__.py")
        if "extend_path(__path__" in path.read_text()
    }
    assert looking - {"taeda"} <= _packages.JOINED


def fresh(code):
    """What a fresh process prints that runs `code`."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


WAITS = """
import sys, threading
from importlib.machinery import SourceFileLoader

plain = SourceFileLoader.exec_module

def exec_module(self, module):
    if module.__name__ == "taeda._tensor":  # `taeda` imports it in the middle of its code
        thread.start()
        thread.join(0.3)
        print("waits" if thread.is_alive() else "does not wait")
    plain(self, module)

SourceFileLoader.exec_module = exec_module

def part():
    import taeda.{part}
    print(sorted({"Tensor", "ones", "__getattr__"} & vars(sys.modules["taeda"]).keys()))

thread = threading.Thread(target=part)
import taeda
thread.join()
"""


@pytest.mark.parametrize("part", ["linalg", "utils", "random"])
def test_a_part_waits_until_the_code_of_taeda_has_run(part):
    assert fresh(WAITS.replace("{part}", part)).splitlines() == [
        "waits",
        "['Tensor', '__getattr__', 'ones']",
    ]


def test_the_code_of_taeda_imports_private_modules_only():
    # A thread that imports a public one holds its lock while it waits for that code.
    code = "import sys, taeda; print(*[n for n in sys.modules if n.startswith('taeda.') and n[6] != '_'])"
    assert fresh(code).split() == []


def test_taeda_is_ready_before_a_line_of_its_code_runs():
    code = """
import importlib.util, sys
spec = importlib.util.find_spec("taeda")
module = importlib.util.module_from_spec(spec)
assert "taeda" not in sys.modules and not hasattr(module, "Tensor")
print(sys.meta_path[0].__name__, type(spec.loader).__name__, module.__file__.endswith("__init__.py"))
"""
    assert fresh(code).split() == ["_Finder", "_First", "True"]


def test_taeda_can_be_reloaded_and_imported_again():
    code = """
import importlib, sys, taeda
before = [taeda.__path__, taeda.__file__]
assert importlib.reload(taeda) is taeda and [taeda.__path__, taeda.__file__] == before
assert importlib.import_module("taeda.linalg") and taeda.linalg.inv
print("done")
"""
    assert fresh(code) == "done\n"


def test_a_start_that_fails_holds_nobody():
    code = """
import sys, threading
sys.modules["taeda._native"] = None
for attempt in range(2):
    try:
        import taeda
    except ImportError as error:
        print(error.name)
del sys.modules["taeda._native"]
thread = threading.Thread(target=__import__, args=("taeda.linalg",), daemon=True)
thread.start()
thread.join(60)
print(thread.is_alive(), sys.modules["taeda"].linalg.inv is not None)
"""
    assert fresh(code).split() == ["taeda._native", "taeda._native", "False", "True"]


SIGNALS = """
    import io, signal
    import taeda
    count = 0

    def handle(*_):
        global count
        count += 1
        x = taeda.ones(20, requires_grad=True)
        with taeda.enable_grad():  # the program may be amid a no_grad of its own thread
            (x * 2).sum().backward()
        taeda.nn.functional.relu(x)

    {thread}
    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    model = taeda.nn.Linear(5, 5)
    model(taeda.randn(4, 5)).sum().backward()
    taeda.save(model.state_dict(), io.BytesIO())
    taeda.linalg.norm(taeda.ones(3))
    while count < 3:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    import gc
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == set() and gc.isenabled()
"""


def program(code, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(code))
    return subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=100, check=False
    )


# Python before 3.12.2 (its issue 106176): an import in a handler that came amid the lock of another import
# takes away what that one has noted, whatever is imported
LOST_NOTE = re.compile(r"_bootstrap>\", line \d+, in acquire\n *KeyError: \d+\n*$")


#: the system gives a signal to any thread that takes it, and Python's main thread runs the handler
THREADS = {
    "alone": "",
    "beside a thread": "import _thread, time; _thread.start_new_thread(time.sleep, (9,))",
}


@pytest.mark.parametrize("thread", THREADS)
def test_handlers_of_signals_see_whole_modules(tmp_path, thread):
    for _ in range(3):
        ended = (program(SIGNALS.format(thread=THREADS[thread]), tmp_path) for _ in range(10))
        done = next(done for done in ended if not LOST_NOTE.search(done.stderr))
        assert done.returncode == 0, done.stderr


def test_finalizers_see_whole_modules(tmp_path):
    done = program(
        """
        import gc, sys
        import taeda

        class Round:
            def __init__(self): self.own = self
            def __del__(self): ended.append(taeda.autograd.__all__ and taeda.nn.Linear(1, 1))

        ended = []
        gc.set_threshold(1)
        for _ in range(50): Round()
        taeda.autograd.grad
        gc.collect()
        assert len(ended) == 50
    """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_tracer_that_asks_amid_an_import_is_told_so(tmp_path):
    done = program(
        """
        import sys
        import taeda

        told = set()
        def trace(frame, event, arg):
            if "/autograd/" in frame.f_code.co_filename:
                try:
                    taeda.autograd.grad
                except AttributeError as error:
                    told.add(str(error))

        sys.setprofile(trace)
        x = taeda.ones(3, requires_grad=True)
        x.sum().backward()
        sys.setprofile(None)
        (sentence,) = told
        assert sentence.startswith("taeda.autograd has no 'grad' yet: this thread is importing it.")
        assert taeda.autograd.grad and x.grad.tolist() == [1, 1, 1]
    """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_handler_imports_while_python_looks_for_it_is_there_once(probe, monkeypatch):
    """The finder has told where a module is, and the handler comes before the module is made."""
    finder = next(f for f in sys.meta_path if getattr(f, "__name__", "") == "_Finder")
    plain, seen = finder.find_spec, []

    def find_spec(fullname, path=None, target=None):
        spec = plain(fullname, path, target)
        if fullname == f"{probe}.third" and not seen:
            seen.append(None)
            seen[0] = importlib.import_module(fullname)
        return spec

    monkeypatch.setattr(finder, "find_spec", staticmethod(find_spec))
    assert importlib.import_module(f"{probe}.third") is seen[0] is sys.modules[f"{probe}.third"]
    assert not seen[0].__spec__._initializing


def test_a_second_import_is_refused_with_the_reason(tmp_path):
    done = program(
        """
        import sys, taeda
        for name in [n for n in sys.modules if n.partition(".")[0] == "taeda"]:
            del sys.modules[name]
        import taeda
    """,
        tmp_path,
    )
    assert "ImportError: taeda was imported in this process before" in done.stderr


def test_a_subinterpreter_is_told_the_reason(tmp_path):
    interpreters = pytest.importorskip(
        "_xxsubinterpreters", reason="this Python names it otherwise"
    )
    assert interpreters
    done = program(
        """
        import _xxsubinterpreters as interpreters
        interpreters.run_string(interpreters.create(), "import taeda")
    """,
        tmp_path,
    )
    assert "serves one interpreter of a process" in done.stderr
