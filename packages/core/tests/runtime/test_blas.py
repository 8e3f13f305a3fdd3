"""A library of products that others use, too: what it is told, and how many are inside it at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from forks import SANITIZED

HERE = Path(__file__).parent
needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None, reason="no C compiler on this machine"
)
PROGRAM = """
import ctypes, os, threading, taeda
library = ctypes.CDLL(os.environ["TAEDA_BLAS"])
def multiply(count=1):
    x = taeda.ones(512, 512, dtype=taeda.float64)
    for _ in range(count):
        x @ x
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = tmp_path_factory.mktemp("blas") / "libblas.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(HERE / "blas.c"), "-o", str(made)], check=True)
    return str(made)


def run(library, code, **environment):
    env = {**os.environ, "TAEDA_BLAS": library, **environment}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + code], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@needs_compiler
@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_its_number_of_threads_is_one_inside_and_what_it_was_outside(library, threads):
    code = """
multiply()
print(library.openblas_get_num_threads())
library.openblas_set_num_threads(3)
many = [threading.Thread(target=multiply, args=(5,)) for _ in range(4)]
for t in many: t.start()
for t in many: t.join()
print(library.openblas_get_num_threads(), library.calls_on_several_threads(), library.calls_made() >= 21)
"""
    assert run(library, code, OMP_NUM_THREADS=threads) == ["7", "3", "0", "True"]


@needs_compiler
def test_a_number_that_somebody_chooses_meanwhile_stays(library):
    code = """
t = threading.Thread(target=multiply, args=(10,))
t.start()
while not library.calls_made(): pass
library.openblas_set_num_threads(5)
t.join()
print(library.openblas_get_num_threads())
"""
    assert run(library, code) == ["5"]


@needs_compiler
def test_no_more_are_inside_than_it_has_room_for(library):
    code = """
many = [threading.Thread(target=multiply, args=(2,)) for _ in range(80)]
for t in many: t.start()
for t in many: t.join()
print(4 < library.most_inside() <= 50, library.calls_made() >= 160)
"""
    assert run(library, code) == ["True", "True"]


@needs_compiler
@pytest.mark.skipif(
    SANITIZED,
    reason="the sanitizer's allocator is not put in order at a fork: a thread that starts just then"
    " holds its lock, and the child waits for it for ever",
)
def test_a_fork_amid_products_can_multiply(library):
    code = """
t = threading.Thread(target=multiply, args=(20,))
t.start()
while not library.calls_made(): pass
pid = os.fork()
if not pid:
    multiply()
    os._exit(library.calls_on_several_threads() == 0)
t.join()
print(os.waitpid(pid, 0)[1] >> 8)
"""
    assert run(library, code) == ["1"]


NUMPYS = """
import ctypes
from importlib.machinery import PathFinder
found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name == "scipy_openblas32" else found(name, *rest)
import taeda
path, shared = taeda._native.blas.place()
library = ctypes.CDLL(path)
library.scipy_openblas_set_num_threads64_(2)
taeda.linalg.eigh(taeda.eye(200))
print(shared, library.scipy_openblas_get_num_threads64_())
"""


@pytest.mark.skipif(
    not list(Path(np.__file__).parent.parent.glob("numpy.libs/libscipy_openblas64_*.so")),
    reason="numpy brought no OpenBLAS with 64-bit integers",
)
def test_numpys_library_keeps_its_threads():
    env = {k: v for k, v in os.environ.items() if k != "TAEDA_BLAS"}
    done = subprocess.run(
        [sys.executable, "-c", NUMPYS], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["True", "2"], done.stderr
