"""Run the commands of a page: its blocks marked `sh`, in order, in one shell that starts in an empty folder.

    python tools/ship/tutorial.py docs/tutorial-custom-op.md --wheels dist

The first command that fails ends the run with its status. The commands meet a reader's environment: `WHEELS`
is set, as the page asks for, and nothing else is that the page does not set itself.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

#: variables that a reader does not have: of pip, of Python, of an activated environment, of taeda
OTHERS = ("PIP_", "PYTHON", "VIRTUAL_ENV", "UV_", "TAEDA_")
#: but these: how this machine reaches its index
INDEX = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_CERT", "PIP_PROXY", "PIP_CACHE_DIR",
    "PIP_TIMEOUT", "PIP_RETRIES")  # fmt: skip
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)


def script(page: str) -> str:
    """One shell script of all blocks; each command is shown before it runs."""
    return "set -eu\ntrap 'echo \"\\$ $BASH_COMMAND\"' DEBUG\n" + "".join(BLOCK.findall(page))


def environment(wheels: Path, folder: Path) -> dict[str, str]:
    """What a reader has who followed no other page: of pip's variables only where its index is."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OTHERS)}
    kept |= {name: os.environ[name] for name in INDEX if name in os.environ}
    return kept | {
        "PIP_CONFIG_FILE": os.environ.get("PIP_CONFIG_FILE", os.devnull),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_QUIET": "1",
        "TAEDA_EXTENSIONS_DIR": f"{folder}/cache",
        "WHEELS": str(wheels.resolve()),
    }


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
        start = Path(folder) / "start"
        start.mkdir()
        env = environment(options.wheels, Path(folder))
        return subprocess.run(["bash", "-c", commands], cwd=start, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
