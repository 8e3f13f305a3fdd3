"""Run the commands of a page: its blocks marked `sh`, in order, in one shell that starts in an empty folder.

    python tools/ship/tutorial.py docs/tutorial-custom-op.md --wheels dist

The first command that fails ends the run with its status. taeda's distributions come from
`--wheels` and from nowhere else; what else pip installs comes from where pip is set up to look.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)


def script(page: str) -> str:
    """One shell script of all blocks; each command is shown before it runs."""
    return "set -eu\ntrap 'echo \"\\$ $BASH_COMMAND\"' DEBUG\n" + "".join(BLOCK.findall(page))


def constraints(wheels: Path) -> str:
    """Lines that tie each distribution in `wheels` to its file, so that pip takes a name from no index."""
    lines = []
    for path in sorted(wheels.glob("*.whl")):
        name = path.name.partition("-")[0].replace("_", "-")
        lines.append(f"{name} @ {path.resolve().as_uri()}")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("page", type=Path)
    parser.add_argument(
        "--wheels", type=Path, required=True, help="folder with a wheel of every package"
    )
    options = parser.parse_args(arguments)
    commands = script(options.page.read_text())
    with tempfile.TemporaryDirectory() as folder:
        tied = Path(folder) / "constraints.txt"
        tied.write_text(constraints(options.wheels))
        start = Path(folder) / "start"
        start.mkdir()
        env = {**os.environ, "PIP_CONSTRAINT": str(tied), "PIP_BUILD_CONSTRAINT": str(tied)}
        env |= {
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_QUIET": "1",
            "TAEDA_EXTENSIONS_DIR": f"{folder}/cache",
            "WHEELS": str(options.wheels.resolve()),
        }
        env.pop("PYTHONPATH", None)
        return subprocess.run(["bash", "-c", commands], cwd=start, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
