"""A script runs as the program, and leaves this one as it was."""

import sys

import pytest

from taeda.profiler._script import Script

ENDS = {
    "pass": 0,
    "raise SystemExit": 0,
    "raise SystemExit(3)": 3,
    "raise SystemExit('no')": 1,
    "1 / 0": 1,
}


@pytest.mark.parametrize("end", ENDS)
def test_exit_codes(tmp_path, end, capsys):
    path = tmp_path / "one.py"
    path.write_text(f"import sys\nassert __name__ == '__main__' and sys.argv[1:] == ['a']\n{end}\n")
    before = list(sys.argv), list(sys.path), sys.modules["__main__"]
    assert Script.read(str(path), ["a"]).run() == ENDS[end]
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(SystemExit, match="No such file"):
        Script.read(str(tmp_path / "none.py"), [])
