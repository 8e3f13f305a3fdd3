"""The command, on scripts."""

import subprocess
import sys

SCRIPT = """
import sys, taeda
def work():
    return (taeda.ones(40, 40) @ taeda.ones(40, 40)).sum().item()
if __name__ == "__main__":
    print("given", sys.argv[1:], work())
"""


def run(tmp_path, text, *args):
    (tmp_path / "script.py").write_text(text)
    command = [sys.executable, "-m", "taeda.utils.bottleneck", str(tmp_path / "script.py"), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_functions_and_operations_are_reported(tmp_path):
    done = run(tmp_path, SCRIPT, "-x", "--name", "y")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("given ['-x', '--name', 'y'] 64000.0") == 2
    for title in (
        "Environment",
        "Functions, by Python's profiler",
        "Operations, by taeda.profiler",
    ):
        assert f"\n{title}\n" in done.stdout
    assert "script.py:3(work)" in done.stdout and "aten::matmul" in done.stdout


def test_a_script_that_fails_is_reported_until_then(tmp_path):
    done = run(tmp_path, SCRIPT + "    raise LookupError('mine')")
    assert done.returncode == 1 and "LookupError: mine" in done.stderr
    assert "script.py:3(work)" in done.stdout


def test_exit_codes_pass(tmp_path):
    assert run(tmp_path, "raise SystemExit(7)").returncode == 7


def test_what_is_no_script(tmp_path):
    done = run(tmp_path, "this is no Python")
    assert done.returncode == 1 and "script.py: invalid syntax" in done.stderr
    assert "Traceback" not in done.stderr
