"""Names that are left to others refuse at the call, with their name and the way out."""

import pytest

from taeda.cuda._refused import refused


def test_a_refusal_names_itself_and_the_way_out():
    fly = refused("taeda.cuda.fly", "Walk.")
    assert fly.__name__ == "fly" and "Walk." in fly.__doc__
    for call in (fly, lambda: fly(1, to=2)):
        with pytest.raises(
            NotImplementedError, match=r"taeda\.cuda\.fly is not implemented\. Walk\."
        ):
            call()
