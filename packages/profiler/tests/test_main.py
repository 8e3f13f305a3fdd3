"""`python -m taeda.profiler script.py` leaves the page."""

import subprocess
import sys

import pytest

pytest.importorskip("taeda.optim", reason="programs that train need taeda-optim")
pytest.importorskip("taeda.nn", reason="programs that train need taeda-nn")

PROGRAM = """
import taeda
from taeda import nn
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = taeda.optim.Adam(model.parameters())
x = taeda.randn(128, 32)
for step in range(8):
    model(x).square().mean().backward()
    optimizer.step()
{end}
"""


@pytest.mark.parametrize(("end", "code"), [("pass", 0), ("raise SystemExit(3)", 3), ("1 / 0", 1)])
def test_the_page_is_left_whatever_the_end(tmp_path, end, code):
    (tmp_path / "script.py").write_text(PROGRAM.format(end=end))
    command = [sys.executable, "-m", "taeda.profiler", "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    text = (tmp_path / "profile.html").read_text()
    shown = (
        "aten::linear", "backward", "Optimizer.step#Adam.step", "Sequential", "\u20031: ReLU",
        "script.py:8", "no step cleared the gradients", "G operations/s",
    )  # fmt: skip
    assert [words for words in shown if words not in text] == []
