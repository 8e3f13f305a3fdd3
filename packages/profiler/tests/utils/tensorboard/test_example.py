"""The example: what it logs is what TensorBoard reads, and its profile is a trace."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tensorboard_reading import read

EXAMPLE = Path(__file__).parents[5] / "examples" / "digits" / "train.py"

pytest.importorskip("taeda.optim", reason="the example trains with taeda-optim")
pytest.importorskip("taeda.utils.data", reason="the example loads with taeda-data")
for needed in ("sklearn", "tqdm", "matplotlib"):
    pytest.importorskip(needed, reason="the example's data, progress and pictures")


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the example is not beside these tests")
def test_everything_that_is_logged_is_read_back(tmp_path):
    logged = tmp_path / "runs"
    command = [sys.executable, str(EXAMPLE), "--log", str(logged), "--epochs", "2", "--out", "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = read(logged)
    tags = found.Tags()
    assert sorted(tags["scalars"]) == ["accuracy/validation", "loss/train"]
    losses = [event.value for event in found.Scalars("loss/train")]
    assert len(losses) == 2 and losses[1] < losses[0]
    weights = found.Histograms("weights/head.2.weight")
    assert [one.histogram_value.num for one in weights] == [2560, 2560]
    assert tags["images"] == ["digits"] and tags["graph"]
    assert any(node.op == "aten::convolution" for node in found.Graph().node)
    (trace,) = logged.glob("*.pt.trace.json")
    names = {event["name"] for event in json.loads(trace.read_text())["traceEvents"]}
    assert {"aten::convolution", "Optimizer.step#Adam.step", "ProfilerStep#0"} <= names
