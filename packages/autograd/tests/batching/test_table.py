"""vmap of every row of the op table is the loop over its samples: here the families whose rules
have no file of their own.
"""

from __future__ import annotations

import pytest
from vmap_of_rows import REST, check_family


@pytest.mark.parametrize("family", REST)
def test_every_row_is_its_loop(family):
    check_family(family)
