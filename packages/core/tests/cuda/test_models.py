"""A small GPT trains on the stand-in driver with no fallback: the processor's losses, and the same
letters from it.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

SMALL = Path(__file__).resolve().parents[4] / "examples" / "small"
PROGRAM = f"""
import sys
sys.path.insert(0, {str(SMALL)!r})
import gpt, taeda
taeda.manual_seed(0)
models, losses = [], []
for device in ("cpu", "cuda"):
    taeda.set_default_device(device)
    model = gpt.make()
    if models:
        model.load_state_dict(begun)
    begun = {{name: tensor.clone() for name, tensor in model.state_dict().items()}}
    losses.append(gpt.train(model, 3))
    models.append(model)
assert all(abs(a - b) < 1e-4 for a, b in zip(*losses, strict=True)), losses
texts = [
    m.continued(taeda.tensor([[1, 2, 3]], device=d), 5).tolist()
    for m, d in zip(models, ("cpu", "cuda"))
]
assert texts[0] == texts[1], texts
"""


@pytest.mark.slow
def test_a_small_gpt_trains_without_a_fallback():
    standin.run(PROGRAM, TAEDA_CUDA_FALLBACK="")
