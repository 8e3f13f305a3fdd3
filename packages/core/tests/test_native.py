"""Where the compiled core is missing, a sentence says why: in a zip file, in sources that were not built."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import taeda

HOME = Path(taeda.__file__).parent
#: what runs before the core is asked for
NEEDED = [HOME / "__init__.py", *(HOME / "_parts").glob("*.py"), *(HOME / "_native").glob("*.py")]


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (
            True,
            "ImportError: taeda lies in the zip file {place}, and Python loads compiled modules",
        ),
        (False, "ImportError: the compiled core of taeda is not in {place}"),
    ],
)
def test_a_sentence_says_why_there_is_no_compiled_core(tmp_path, packed, message):
    place = tmp_path / "program.zip"
    if packed:
        with zipfile.ZipFile(place, "w") as archive:
            archive.writestr("__main__.py", "import taeda\n")
            for path in NEEDED:
                archive.write(path, path.relative_to(HOME.parent))
    else:
        for path in NEEDED:
            (target := place / path.relative_to(HOME.parent)).parent.mkdir(
                parents=True, exist_ok=True
            )
            target.write_text(path.read_text())
        (place / "__main__.py").write_text("import taeda\n")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(place)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and message.format(place=place) in done.stderr, done.stderr
