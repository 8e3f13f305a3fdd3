"""Points for the projector: tables beside the file of events, and the list of them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from PIL import Image

from ._files import add_to, put
from ._pictures import bytes_of

__all__ = ["write_embedding"]

Array: TypeAlias = np.ndarray[Any, Any]
_LIST = "projector_config.pbtxt"


def write_embedding(
    folder: str,
    name: str,
    points: Array,
    metadata: Sequence[Any] | None,
    images: Array | None,
    header: Sequence[str] | None,
    title: str,
) -> None:
    """Write `folder`/`name`/tensors.tsv, what belongs to the points, and add them to the list.

    AssertionError for points that are not two-dimensional, or when names or images are not as many.
    """
    if points.ndim != 2:
        raise AssertionError(f"add_embedding: mat is {points.shape}, and has to be (N, D)")
    lines = None if metadata is None else _lines(metadata, header)
    for what, given in (("metadata", metadata), ("label_img", images)):
        if given is not None and len(given) != len(points):
            raise AssertionError(f"add_embedding: {len(given)} of {what} for {len(points)} points")
    sheet = None if images is None else _sprite(images)
    rows = "".join("\t".join(map(repr, row)) + "\n" for row in points.astype(float).tolist())
    put(folder, f"{name}/tensors.tsv", rows.encode())
    facts = [("tensor_name", title), ("tensor_path", f"{name}/tensors.tsv")]
    if lines is not None:
        put(folder, f"{name}/metadata.tsv", lines.encode())
        facts.append(("metadata_path", f"{name}/metadata.tsv"))
    if sheet is not None and images is not None:
        picture = io.BytesIO()
        sheet.save(picture, format="PNG")
        put(folder, f"{name}/sprite.png", picture.getvalue())
    _list(folder, facts, name, images)


def _lines(metadata: Sequence[Any], header: Sequence[str] | None) -> str:
    """A line a point; columns where there is a header."""
    if header is None:
        rows = [[one] for one in metadata]
    else:
        rows = [list(header), *map(list, metadata)]
        if any(len(row) != len(header) for row in rows):
            raise AssertionError(
                f"add_embedding: each of metadata has to have {len(header)} fields"
            )
    text = (str(cell).replace("\t", " ").replace("\n", " ") for row in rows for cell in row)
    return "".join("\t".join(next(text) for _ in row) + "\n" for row in rows)


def _sprite(images: Array) -> Image.Image:
    """All images (N, C, H, W), which are square, in one square picture."""
    if images.ndim != 4 or images.shape[1] not in (1, 3, 4):
        raise AssertionError(
            f"add_embedding: label_img is {images.shape}, and has to be (N, C, H, W)"
        )
    count, channels, height, width = images.shape
    side = int(np.ceil(np.sqrt(count)))
    sheet = np.zeros((side * side, channels, height, width), np.uint8)
    sheet[:count] = bytes_of(images)
    table = sheet.reshape(side, side, channels, height, width).transpose(0, 3, 1, 4, 2)
    pixels = table.reshape(side * height, side * width, channels)
    return Image.fromarray(pixels[..., 0] if channels == 1 else pixels)


def _list(folder: str, facts: list[tuple[str, str]], name: str, images: Array | None) -> None:
    """Add one to the file that the projector reads."""
    lines = [f"  {key}: {json.dumps(value)}" for key, value in facts]
    if images is not None:
        height, width = images.shape[2:]
        lines += [
            "  sprite {", f"    image_path: {json.dumps(name + '/sprite.png')}",
            f"    single_image_dim: {width}", f"    single_image_dim: {height}", "  }",
        ]  # fmt: skip
    add_to(folder, _LIST, "\n".join(["embeddings {", *lines, "}", ""]).encode())
