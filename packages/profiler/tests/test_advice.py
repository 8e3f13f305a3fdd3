"""Programs that waste, and the same programs mended; the page that shows them."""

import re
import subprocess
import sys

import pytest

pytest.importorskip("taeda.optim", reason="programs that train need taeda-optim")
pytest.importorskip("taeda.nn", reason="programs that train need taeda-nn")

PROGRAM = """
import taeda
from taeda import nn
import taeda.nn.functional as F
taeda.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = taeda.optim.Adam(model.parameters(){form})
x, y = taeda.randn(128, 32), taeda.randint(0, 4, (128,))
big = taeda.randn(256, 256{dtype})
total = taeda.zeros(())
for step in range(8):
    {clear}
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    {read}
    big @ big
    {loop}
"""
GOOD = {"form": "", "dtype": "", "clear": "optimizer.zero_grad()", "read": "total += loss.detach()",
        "loop": "x.square().sum(1)"}  # fmt: skip
WASTES = {
    "form": (", foreach=False, fused=False", "runs .* operations in one step"),
    "dtype": (", dtype=taeda.float64", "computes in float64"),
    "clear": ("pass", "No step cleared the gradients"),
    "read": ("total += loss.item()", "makes a number of a tensor in every step"),
    "loop": (
        "[x[i].sum() for i in range(128)]",
        "operation on a few numbers 128 times in one step",
    ),
}


def page(tmp_path, **parts):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM.format(**GOOD | parts))
    command = [sys.executable, "-m", "taeda.profiler", "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return (tmp_path / "profile.html").read_text()


def wastes(text):
    return text.partition('<ul id="advice">')[2].partition("</ul>")[0]


@pytest.mark.parametrize("waste", WASTES)
def test_each_waste_is_found_and_no_other(tmp_path, waste):
    part, words = WASTES[waste]
    said = wastes(page(tmp_path, **{waste: part}))
    assert re.search(words, said) and said.count("<li>") == 1, said


def test_a_program_that_wastes_nothing_hears_nothing(tmp_path):
    text = page(tmp_path)
    assert wastes(text) == "<li>None was found.</li>"
    assert "http" not in text and "src=" not in text and "@TITLE" not in text
    for shown in (
        "aten::linear",
        "backward",
        "Optimizer.step#Adam.step",
        "Sequential",
        "\u2003ReLU",
    ):
        assert shown in text
