"""The program of docs/tutorial-sharding.md, on four processes: it compares its losses itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ranks import all_well, run_ranks

PAGE = Path(__file__).parents[4] / "docs" / "tutorial-sharding.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside these tests")
def test_its_losses_are_those_of_one_process_on_a_mesh_of_two_machines():
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(blocks) == 5
    all_well(run_ranks("\n".join(blocks), 4, 120))
