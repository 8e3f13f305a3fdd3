"""What a user's editor says of a user's program: mypy and pyright, with every rule, on the programs
of `tools/hold/typing` and on every public name.

The packages are found in `build/view` (tools/hold/typing_view.py), as an installed wheel would show them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VIEW = ROOT / "build" / "view"
PACKAGES = ("taeda", "taeda.nn", "taeda.nn.functional", "taeda.nn.init", "taeda.nn.utils",
            "taeda.optim", "taeda.optim.lr_scheduler",
            "taeda.autograd", "taeda.func", "taeda.amp", "taeda.utils.data",
            "taeda.utils.checkpoint", "taeda.utils.benchmark", "taeda.linalg",
            "taeda.fft", "taeda.special", "taeda.random", "taeda.testing", "taeda.array_api",
            "taeda.distributions")  # fmt: skip


SCAFFOLD = {"annotations", "extend_path", "install_hint", "lazy_attributes"}


def imports() -> str:
    """A program that imports every public name of the packages that are looked at."""
    import importlib

    lines: list[str] = []
    for package in PACKAGES:
        module = importlib.import_module(package)
        names = set(getattr(module, "__all__", None) or dir(module)) - SCAFFOLD
        public = [n for n in sorted(names) if not n.startswith("_") and hasattr(module, n)]
        short = package.replace(".", "_")
        lines += [f"from {package} import {name} as {short}_{name}" for name in public]
    return "\n".join(lines) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / "names.py"
        names.write_text(imports())
        programs = sorted((ROOT / "tools" / "hold" / "typing").glob("*.py"))
        for program in programs:
            (Path(folder) / program.name).write_text(program.read_text())
        files = [*(program.name for program in programs), names.name]
        # follow_imports: errors inside the packages are the affair of the session's other checks
        (Path(folder) / "mypy.ini").write_text(
            "[mypy]\nstrict = True\nwarn_unused_ignores = "
            "False\n[mypy-taeda.*]\nfollow_imports = silent\n"
        )
        settings = {
            "include": files,
            "extraPaths": [str(VIEW)],
            "typeCheckingMode": "standard",
        }
        (Path(folder) / "pyrightconfig.json").write_text(json.dumps(settings))
        env = {**os.environ, "MYPYPATH": str(VIEW)}
        codes = [
            subprocess.run(["mypy", *files], cwd=folder, env=env).returncode,
            subprocess.run(
                ["pyright", "--pythonpath", sys.executable, "-p", folder], cwd=folder
            ).returncode,
        ]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
