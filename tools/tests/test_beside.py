"""Data of a package is read by `taeda._parts.data`, and modules are listed by `pkgutil`. `__file__` stands
where a real file is wanted: a compiler or another program opens it, or a path is what is told.
"""

from __future__ import annotations

import re

import pytest
from by_path import ROOT

#: below packages, with the reason
ALLOWED = {
    "benchmark/src/taeda/utils/benchmark/callgrind.py": "a program for another process",
    "compile/src/taeda/compiler/_call/wrapper.py": "the file that code is said to stand in",
    "compile/src/taeda/fx/_to_folder.py": "text of a module that it writes",
    "core/src/taeda/_device_text/expand.py": "tools read it before taeda is built",
    "core/src/taeda/_doctor/facts.py": "a path that is told",
    "core/src/taeda/_native/__init__.py": "a path that is told",
    "core/src/taeda/_parts/advice.py": "is it a checkout?",
    "core/src/taeda/_parts/packages.py": "a name of modules",
    "core/src/taeda/_pyinstaller/__init__.py": "a folder for another program",
    "core/src/taeda/_pyinstaller/hook-taeda.py": "a folder for another program",
    "core/src/taeda/_storage/shared_files.py": "a program for another process",
    "core/src/taeda/_table/_docs.py": "read before taeda is built",
    "core/src/taeda/_table/_generate.py": "read before taeda is built",
    "core/src/taeda/_table/_meanings.py": "read before taeda is built",
    "core/src/taeda/_torch_names/as_torch.py": "a name of modules",
    "core/src/taeda/_torch_names/for_children/torch.py": "a folder of the import path",
    "core/src/taeda/_torch_names/programs.py": "a folder for other processes' import path",
    "core/src/taeda/_torch_names/tensor_facts.py": "the folder that is asked about",
    "core/src/taeda/cuda/_sanitizer.py": "which frames are ours",
    "core/src/taeda/version.py": "where metadata lies",
    "cpp-extension/src/taeda/utils/cpp_extension/_build.py": "headers for a compiler",
    "cpp-extension/src/taeda/utils/cpp_extension/_module.py": "a name of modules",
    "distributed/src/taeda/distributed/_calls.py": "which frames are ours",
    "distributed/src/taeda/distributed/_mpi/world.py": "a program for another process, a library",
    "onnx/src/taeda/onnx/_verify.py": "a program for another process",
    "profiler/src/taeda/profiler/_callers.py": "which frames are the library's",
    "profiler/src/taeda/profiler/_collect.py": "which frames are ours",
    "profiler/src/taeda/profiler/_script.py": "a name of modules",
    "vision-ops/src/taeda/vision_ops/_kernels.py": "a library to open",
}
FILES = sorted(
    str(path.relative_to(ROOT / "packages"))
    for path in ROOT.glob("packages/*/src/**/*.py")
    if re.search(r"\b__file__\b", path.read_text())
)


@pytest.mark.parametrize("place", FILES)
def test_files_beside_a_module_are_resources(place):
    assert place in ALLOWED, (
        f"packages/{place} uses __file__: read data by taeda._parts.data.read, list "
        "modules by pkgutil.iter_modules, or say here why a real file is wanted"
    )


def test_no_reason_stands_for_nothing():
    assert set(ALLOWED) == set(FILES)
