"""Run the notebooks of examples/notebooks from top to bottom, without Jupyter.

    python tools/ship/notebooks.py            each cell runs; the exit status is 1 where one raises
    python tools/ship/notebooks.py --write    what the cells print goes into the files, as their outputs

Each notebook runs in a process of its own, in an empty folder.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "notebooks"


def outputs_of(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and the value of its last line, as a notebook keeps them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "cell", "exec"), names)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    made: list[dict[str, Any]] = []
    if said.getvalue():
        made.append({"name": "stdout", "output_type": "stream", "text": _lines(said.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        made.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return made


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def run(path: Path, write: bool) -> int:
    """Run the cells of one notebook, in the folder at hand; 1 where one raises."""
    book = json.loads(path.read_text())
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        try:
            made = outputs_of("".join(cell["source"]), names)
        except Exception:  # noqa: BLE001 - a cell may raise anything, and it is shown
            print(f"{path.name}: cell {number} of code raised\n{traceback.format_exc()}")
            return 1
        cell["outputs"], cell["execution_count"] = made, number
    if write:
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n")
    print(f"{path.name}: {len(cells)} cells")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--here", type=Path, help="this one, in this process and folder")
    options = parser.parse_args()
    if options.here:
        return run(options.here, options.write)
    wrong = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--here", str(path), *["--write"] * options.write]
            wrong += subprocess.run(command, cwd=folder, env=os.environ, check=False).returncode
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
