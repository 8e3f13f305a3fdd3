"""Tags: what is known of an operator beyond its schema."""

from __future__ import annotations

import enum
from collections.abc import Sequence

__all__ = ["Tag", "as_tags"]


class Tag(enum.Enum):
    """A property of an operator, given when it is defined.

    >>> library = taeda.library.Library("of_the_example", "DEF")
    >>> name = library.define("sizes(Tensor x) -> int[]", tags=[taeda.Tag.pt2_compliant_tag])
    >>> taeda.ops.of_the_example.sizes.default.tags == [taeda.Tag.pt2_compliant_tag]
    True
    """

    __module__ = "taeda"

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace = 6
    inplace_view = 7
    maybe_aliasing_or_mutating = 8
    needs_contiguous_strides = 9
    needs_exact_strides = 10
    needs_fixed_stride_order = 11
    nondeterministic_bitwise = 12
    nondeterministic_seeded = 13
    out = 14
    out_variant = 15
    pointwise = 16
    pt2_compliant_tag = 17
    reduction = 18
    view_copy = 19

    # found on the class too, as documented
    name = property(lambda self: self._name_, doc="Its name.")

    def __repr__(self) -> str:
        return f"<Tag.{self.name}: {self.value}>"


def as_tags(tags: Tag | Sequence[Tag] | None) -> tuple[Tag, ...]:
    """One tag or several, as a tuple; TypeError for anything else."""
    several = () if tags is None else (tags,) if isinstance(tags, Tag) else tuple(tags)
    for tag in several:
        if not isinstance(tag, Tag):
            raise TypeError(f"tags are taeda.Tag or a sequence of them, got {tag!r}")
    return several
