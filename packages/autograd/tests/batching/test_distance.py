"""vmap of distances is the loop over the samples."""

from __future__ import annotations

import pytest
from vmap_of_rows import BY_RULES, check_family


@pytest.mark.parametrize("family", BY_RULES["distance"])
def test_every_row_is_its_loop(family):
    check_family(family)
