"""Follow the README's install lines, each in a new environment, with pip and with uv, and use what
they installed.

    python tools/ship/install_lines.py                 every line, with both
    python tools/ship/install_lines.py --first         the first line alone, which installs everything
    python tools/ship/install_lines.py --with uv       one installer

The first block marked `sh` under "Use it" holds alternatives, a command each; what stands in the
second follows on the first alternative. After each line the self-test runs, and after the first the
README's ten-line example.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.M | re.S)


def commands(block: str) -> list[str]:
    r"""The commands of a block, without comments and with what a backslash broke joined.

    >>> commands("pip install a \\\n    b   # all\n\npip install c\n")
    ['pip install a b', 'pip install c']
    """
    joined = re.sub(r"\\\n\s*", "", block)
    lines = (re.sub(r"\s+# .*", "", line).strip() for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def section(text: str, title: str) -> list[tuple[str, str]]:
    """The (language, code) blocks under a heading. ValueError if there is no such heading."""
    parts = re.split(r"^## (.*)$", text, flags=re.M)
    if title not in parts[1::2]:
        raise ValueError(f"the README has no heading {title!r}")
    return BLOCK.findall(parts[parts.index(title) + 1])


def follow(line: str, installer: str, root: Path, after: list[str]) -> None:
    """Run `line` and `after` in a new environment, in `root`. CalledProcessError if a command fails."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "env"
        venv.create(home, with_pip=installer == "pip")
        env = {**os.environ, "VIRTUAL_ENV": str(home), "REPOSITORY": root.as_uri()}
        env["PATH"] = f"{home / 'bin'}{os.pathsep}{env['PATH']}"
        env["TAEDA_EXTENSIONS_DIR"] = f"{folder}/extensions"
        for name in ("PYTHONPATH", "UV_PYTHON"):  # nox points uv at the environment of its session
            env.pop(name, None)
        for command in [line, *after]:
            words = f"uv {command}" if installer == "uv" and command.startswith("pip ") else command
            begun = time.perf_counter()
            print(f"$ {words}", flush=True)
            subprocess.run(["bash", "-euc", words], cwd=root, env=env, check=True)
            print(f"  took {time.perf_counter() - begun:.0f} s", flush=True)


def main(arguments: list[str] | None = None) -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--first", action="store_true", help="the line that installs everything")
    parser.add_argument("--with", dest="installers", action="append", choices=("pip", "uv"))
    options = parser.parse_args(arguments)
    readme = (ROOT / "README.md").read_text()
    alternatives, following = (
        commands(code) for language, code in section(readme, "Use it") if language == "sh"
    )
    example = section(readme, "Ten lines")[0][1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ten_lines.py"
        path.write_text(example)
        for installer in options.installers or ["pip", "uv"]:
            if installer == "uv" and shutil.which("uv") is None:  # environments bring their pip
                print("uv is not installed here; `--with pip` does without", file=sys.stderr)
                return 1
            first, *others = alternatives
            follow(first, installer, ROOT, [f"python {path}", *following])
            for line in [] if options.first else others:
                follow(line, installer, ROOT, ["python -m taeda --test"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
