"""`python -m taeda run`: programs that say `import torch`."""

import subprocess
import sys

PROGRAM = """
import sys
import torch.nn.functional
import torch as t
import beside

if __name__ == "__main__":
    import taeda
    print(t.ones(2).sum().item(), t.Tensor is taeda.Tensor, beside.NAME, sys.argv[1:])
    sys.exit(3)
"""


def _run(folder, *arguments):
    (folder / "program.py").write_text(PROGRAM)
    (folder / "beside.py").write_text("NAME = 'beside'")
    command = [sys.executable, "-m", "taeda", "run", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_script_and_module_run_with_their_arguments(tmp_path):
    for named in (["program.py"], ["-m", "program"], [str(tmp_path / "program.py")]):
        ended = _run(tmp_path, *named, "--epochs", "1")
        assert ended.stdout == "2.0 True beside ['--epochs', '1']\n", ended.stderr
        assert ended.returncode == 3


def test_nothing_to_run_is_said(tmp_path):
    assert "no file 'absent.py'" in _run(tmp_path, "absent.py").stderr
    ended = _run(tmp_path)
    assert ended.returncode == 2
    assert "usage: python -m taeda run" in ended.stderr
    assert _run(tmp_path, "--help").returncode == 0


STARTS = """
import multiprocessing, subprocess, sys

def work(queue):
    import torch
    queue.put(torch.__version__)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    print(queue.get(timeout=60))
    process.join()
    said = "import torch.nn as nn, torch; print(nn.ReLU, torch.distributed.is_available())"
    print(subprocess.run([sys.executable, "-c", said], capture_output=True, text=True).stdout)
    without = "import sys; sys.modules['taeda'] = None; import torch"
    print(subprocess.run([sys.executable, "-c", without], capture_output=True, text=True).stderr)
"""


def test_processes_that_a_program_starts_import_it_too(tmp_path):
    (tmp_path / "starts.py").write_text(STARTS)
    command = [sys.executable, "-m", "taeda", "run", "starts.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    first, second, *rest = ended.stdout.splitlines()
    assert first.endswith("+taeda")
    assert "nn.modules.activation.ReLU" in second and second.endswith("False")
    assert "No module named 'torch'" in "\n".join(rest)


AT_ONCE = """
import threading

made, gate = [], threading.Barrier(8)

def work():
    gate.wait()
    import torch
    made.append(torch.ones(2).sum().item())

threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(made == [2.0] * 8)
"""

CHILDREN = """
import subprocess, sys

def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True)

for _ in range(4):
    print(run("at_once.py").stdout)
ended = run("-m", "torch.utils.collect_env")
print(ended.returncode, "version" in ended.stdout)
ended = run("-m", "torch.absent")
print(ended.returncode, "No module named torch.absent" in ended.stderr)
"""


def test_threads_of_a_child_import_it_at_once_and_its_modules_run(tmp_path):
    (tmp_path / "at_once.py").write_text(AT_ONCE)
    (tmp_path / "children.py").write_text(CHILDREN)
    command = [sys.executable, "-m", "taeda", "run", "children.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [line for line in ended.stdout.splitlines() if line]
    assert lines == ["True"] * 4 + ["0 True", "1 True"]
