"""Libraries with threads of their own, as public ones have by OpenMP: their threads call operators while
the function that Python called waits for them. Run in a child of bounded time: what fails waits for ever.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

TORCH = r"""
#include <torch/extension.h>
torch::Tensor sums(torch::Tensor x)
{
    auto y = torch::zeros({x.size(0)}, x.options());
#pragma omp parallel for num_threads(3)
    for (int64_t i = 0; i < x.size(0); i++) y[i] = x[i].sum();
    return y;
}
void count(torch::Tensor y)
{
#pragma omp parallel for num_threads(3)
    for (int64_t i = 0; i < y.size(0); i++) y[i] = double(i);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("sums", &sums);
    m.def("count", &count);
}
"""
OURS = r"""
#include <taeda/taeda.hpp>
using taeda::Tensor;
static Tensor sums(const Tensor &x)
{
    Tensor y = taeda::empty({x.size(0)});
    float *to = y.mutable_data<float>();
#pragma omp parallel for num_threads(3)
    for (int64_t i = 0; i < x.size(0); i++) to[i] = taeda::sum(taeda::select(x, 0, i)).item<float>();
    return y;
}
static void count(const Tensor &y)
{
#pragma omp parallel for num_threads(3)
    for (int64_t i = 0; i < y.size(0); i++) taeda::call("fill_.Scalar", taeda::select(y, 0, i), double(i));
}
TAEDA_EXTENSION(m)
{
    m.def("sums(Tensor x) -> Tensor", sums);
    m.def("count(Tensor(a!) y) -> ()", count);
}
"""
PROGRAM = """
import taeda
from taeda.utils.cpp_extension import load_inline
m = load_inline("threads", {source!r}, build_directory={folder!r}, extra_cflags=["-O0", "-fopenmp"])
x = taeda.arange(192.0).reshape(64, 3)
for _ in range(30):
    assert taeda.equal(m.sums(x), x.sum(1))
y = taeda.zeros(64)
m.count(y)
assert y.tolist() == list(range(64))
"""


@pytest.mark.parametrize("source", [TORCH, OURS], ids=["torch", "taeda"])
def test_threads_of_the_library_call_operators(source, tmp_path):
    program = PROGRAM.format(source=source, folder=str(tmp_path))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_handle_that_nobody_holds_takes_no_assignment(tmp_path):
    from taeda.utils.cpp_extension import include_paths

    path = tmp_path / "lost.cpp"
    path.write_text(
        "#include <taeda/taeda.hpp>\n"
        "void f(taeda::Tensor y, taeda::Tensor x) { y = x; taeda::select(y, 0, 0) = x; }\n"
    )
    command = ["c++", "-std=c++17", "-fsyntax-only", "-DTAEDA_EXTENSION_NAME=lost"]
    command += [f"-I{folder}" for folder in include_paths()]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    lines = {line.split(":")[1] for line in done.stderr.splitlines() if "error:" in line}
    assert lines == {"2"} and done.stderr.count("error:") == 1


WITHOUT_A_FLAG = r"""
#include <torch/extension.h>
#include <thread>
torch::Tensor doubled(torch::Tensor x)
{
    torch::Tensor y;
    std::string said;
    std::thread other([&] {
        try {
            y = x * 2;
        } catch (const std::exception &error) {
            said = error.what();
        }
    });
    other.join();
    TORCH_CHECK(said.empty(), said);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("doubled", &doubled); }
"""


def test_a_thread_is_waited_for_without_a_flag_of_the_compiler(tmp_path):
    program = (
        "import taeda\n"
        "from taeda.utils.cpp_extension import load_inline\n"
        f"m = load_inline('own_thread', {WITHOUT_A_FLAG!r}, build_directory={str(tmp_path)!r})\n"
        "assert m.doubled(taeda.ones(3)).tolist() == [2, 2, 2]\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
