"""Run sessions on a bare machine: `python3 tools/run.py demo`, `python3 tools/run.py tests-all`.

Checks for a C compiler and Python.h, makes `.nox/bootstrap` with nox (and uv, which is faster than
pip, when it can be had), and hands over to nox. `python3 tools/run.py` alone lists the sessions.
What stands behind `--` goes to the session. Standard library only; the noxfile holds everything
else.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".nox" / "bootstrap"
NOX = "nox>=2025.5.1"


def main(arguments: list[str]) -> int:
    """Prepare, then run the sessions; the exit status is nox's, or 1 with the reason on the error stream."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file also meets the Pythons we do not support
        version = sys.version.split()[0]
        return _refuse(f"taeda needs Python 3.11 or newer; this is {version} ({sys.executable}).")
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    sessions, rest = arguments[:cut], arguments[cut:]
    if sessions and (missing := _missing_tools()):
        return _refuse(missing)
    try:
        python = _bootstrap()
    except (OSError, subprocess.CalledProcessError) as error:
        return _refuse(f"Could not prepare {HOME}: {error}")
    chosen = ["-s", *sessions] if sessions else ["--list"]  # of two `-s` nox would hear the last
    command = [python, "-m", "nox", "-f", ROOT / "noxfile.py", *chosen, *rest]
    return subprocess.run(command, check=False).returncode


def _missing_tools() -> str:
    """Why the core cannot be compiled here, in the words of the build itself, or ''."""
    path = ROOT / "packages/core/src/taeda/_build/cc.py"
    spec = importlib.util.spec_from_file_location("_taeda_cc", path)
    assert spec is not None and spec.loader is not None
    cc = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cc)
    try:
        cc.require_tools()
    except cc.NotReady as error:
        return str(error)
    return ""


def _bootstrap() -> Path:
    """The Python of an environment with nox in it, made on the first visit."""
    python = HOME / "bin" / "python"
    stamp = HOME / "stamp"
    wanted = f"{NOX} {sys.version}"
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    with_pip = importlib.util.find_spec("ensurepip") is not None
    venv.EnvBuilder(clear=True, symlinks=True, with_pip=with_pip).create(HOME)
    install = _pip(python, with_pip)
    subprocess.run([*install, NOX], check=True)
    if subprocess.run([*install, "uv>=0.5"], check=False).returncode:
        print("uv could not be installed; going on with pip, which is slower.", file=sys.stderr)
    stamp.write_text(wanted)
    return python


def _pip(python: Path, with_pip: bool) -> list[str | Path]:
    """The install command. Debian's Python without python3-venv has no ensurepip, but may have a
    pip outside.
    """
    quiet = ["--quiet", "--disable-pip-version-check"]
    if with_pip:
        return [python, "-m", "pip", "install", *quiet]
    if importlib.util.find_spec("pip") is None:
        raise OSError(
            "this Python has neither ensurepip nor pip.\n"
            "Get them: `apt install python3-venv` (Debian, Ubuntu), `dnf install python3-pip` (Fedora).\n"
            "Then run the same command again."
        )
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.check_output(ask, text=True).strip()
    return [sys.executable, "-m", "pip", "install", *quiet, "--target", site]


def _refuse(text: str) -> int:
    print(text, file=sys.stderr)
    return 1


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
