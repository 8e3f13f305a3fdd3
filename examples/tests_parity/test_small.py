"""Each small program, unchanged but for the name of the library, has torch's losses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from both import copy_state, script

torch = pytest.importorskip("torch")
import taeda  # noqa: E402 - after the check: without torch there is nothing to compare

FOLDER = Path(__file__).parents[1] / "small"
TOLERANCE = {"mixed_precision": 3e-2}  # bfloat16 keeps 8 bits; the rest compute in float32


@pytest.fixture(autouse=True)
def one_thread():
    """Threads gain nothing here, and where others compute too they wait for each other."""
    before = torch.get_num_threads(), taeda.get_num_threads()
    for library in (torch, taeda):
        library.set_num_threads(1)
    yield
    for library, threads in zip((torch, taeda), before, strict=True):
        library.set_num_threads(threads)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, of importing torch.func
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_same_losses(name):
    ours, theirs = (script(f"examples/small/{name}.py", lib) for lib in ("taeda", "torch"))
    torch.manual_seed(0)
    reference, model = theirs.make(), ours.make()
    copy_state(reference, model, taeda.from_numpy)
    torch_losses, losses = theirs.train(reference), ours.train(model)
    assert len(losses) == len(torch_losses) > 1
    np.testing.assert_allclose(losses, torch_losses, rtol=TOLERANCE.get(name, 1e-3), atol=1e-5)
