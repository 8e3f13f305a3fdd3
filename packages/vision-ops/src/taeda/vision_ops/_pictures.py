"""Pictures from bytes and bytes from pictures, by Pillow, under the names of torchvision's `io`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.files import atomic_write

__all__ = [
    "OPERATORS",
    "decode_gif",
    "decode_image",
    "encode_jpeg",
    "encode_png",
    "read_file",
    "write_file",
]

#: torchvision's numbers of modes: what Pillow calls them; 0 takes the picture as it is
MODES = {0: "", 1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
#: Pillow's modes of the pictures that have more than 8 bits, or 1, a channel
WIDE = ("I;16", "I;16B", "I;16L", "I;16N", "I")
EXIF = ("JPEG", "PNG")


def _pillow() -> Any:
    try:
        import PIL.Image
        import PIL.ImageOps
        import PIL.ImageSequence
    except ModuleNotFoundError:
        raise ModuleNotFoundError("pictures are decoded by Pillow: pip install pillow") from None
    return PIL


def read_file(filename: str) -> Tensor:
    """The bytes of a file as uint8 of one dimension. RuntimeError if it cannot be read, or is empty."""
    try:
        read = Path(filename).read_bytes()
    except OSError as error:
        raise RuntimeError(f"read_file: {error}") from None
    if not read:
        raise RuntimeError(f"read_file: {filename} is empty: expected a non empty file")
    return taeda.frombuffer(bytearray(read), dtype=taeda.uint8)


def write_file(filename: str, data: Tensor) -> None:
    """Write the bytes of `data`, uint8 of one dimension, as a file."""
    written = _bytes("write_file", data)
    try:
        with atomic_write(filename, len(written)) as file:
            file.write(written)
    except OSError as error:
        raise RuntimeError(f"write_file: {error}") from None


def decode_image(data: Tensor, mode: int, apply_exif_orientation: bool = False) -> Tensor:
    """A picture of any format that Pillow knows, [channels, height, width], uint8; uint16 for PNGs of
    16 bits. An animated GIF has its pictures along a first dimension.

    data: the bytes of the file, uint8 of one dimension. mode: 0 as the file has it, 1 gray, 2 gray and
    alpha, 3 RGB, 4 RGB and alpha. apply_exif_orientation: turn the picture as its EXIF says, for JPEG
    and PNG. RuntimeError for what is no picture, or ends early.
    """
    return _decoded("decode_image", data, mode, apply_exif_orientation)


def _of_format(name: str) -> Any:
    op = f"decode_{name.lower()}"

    def decode(data: Tensor, mode: int, apply_exif_orientation: bool = False) -> Tensor:
        """As `decode_image`, for this format alone."""
        return _decoded(op, data, mode, apply_exif_orientation, (name,))

    return decode


def decode_gif(data: Tensor) -> Tensor:
    """The pictures of a GIF in RGB: [3, height, width] of one, else [pictures, 3, height, width]."""
    return _decoded("decode_gif", data, 3, False, ("GIF",))


def _decoded(op: str, data: Tensor, mode: int, turn: bool, formats: Any = None) -> Tensor:
    if mode not in MODES:
        raise RuntimeError(f"{op}: a mode is one of {list(MODES)}, got {mode}")
    pillow, encoded = _pillow(), _bytes(op, data)
    with _told(op), pillow.Image.open(io.BytesIO(encoded), "r", formats) as image:
        if image.format == "GIF":
            return _frames(pillow, image)
        if image.format == "JPEG" and mode in (1, 2):
            image.draft("L", None)  # the brightness that the file holds
        if turn and image.format in EXIF:
            image = pillow.ImageOps.exif_transpose(image)
        return _tensor(_in_mode(op, image, MODES[mode]))


def _in_mode(op: str, image: Any, mode: str) -> Any:
    if image.mode in WIDE:
        if mode not in ("", "L"):
            raise RuntimeError(f"{op}: gray of 16 bits stays gray: use the mode UNCHANGED or GRAY")
        return image
    if mode == "":
        return image.convert("L") if image.mode == "1" else image
    return image if image.mode == mode else image.convert(mode)


def _frames(pillow: Any, image: Any) -> Tensor:
    found = [_tensor(frame.convert("RGB")) for frame in pillow.ImageSequence.Iterator(image)]
    return found[0] if len(found) == 1 else taeda.stack(found)


def _tensor(image: Any) -> Tensor:
    dtype = taeda.uint8
    if image.mode in WIDE:
        image, dtype = image if image.mode == "I;16" else image.convert("I;16"), taeda.uint16
    flat = taeda.frombuffer(bytearray(image.tobytes()), dtype=dtype)
    width, height = image.size
    return flat.reshape(height, width, -1).permute(2, 0, 1).contiguous()


def encode_png(data: Tensor, compression_level: int) -> Tensor:
    """The bytes of a PNG file of a picture, uint8 of [channels, height, width] with 1 or 3 channels.

    compression_level: 0, the fastest, to 9, the smallest.
    """
    if not 0 <= compression_level <= 9:
        raise RuntimeError(
            f"encode_png: compression level is between 0 and 9, got {compression_level}"
        )
    return _encoded("encode_png", data, format="PNG", compress_level=compression_level)


def encode_jpeg(data: Tensor, quality: int) -> Tensor:
    """The bytes of a JPEG file of a picture, uint8 of [channels, height, width] with 1 or 3 channels.

    quality: 1, the smallest, to 100, the best.
    """
    if not 1 <= quality <= 100:
        raise RuntimeError(f"encode_jpeg: quality is between 1 and 100, got {quality}")
    return _encoded("encode_jpeg", data, format="JPEG", quality=quality)


def _encoded(op: str, data: Tensor, **options: Any) -> Tensor:
    pillow = _pillow()
    if data.dtype is not taeda.uint8 or data.ndim != 3 or data.shape[0] not in (1, 3):
        raise RuntimeError(
            f"{op}: a picture is uint8 of shape [1 or 3, height, width], got {data.dtype} of "
            f"{list(data.shape)}"
        )
    rows = data.detach().permute(1, 2, 0)
    kind = "L" if len(data) == 1 else "RGB"
    image = pillow.Image.frombytes(kind, (data.shape[2], data.shape[1]), _plain(rows))
    file = io.BytesIO()
    with _told(op):
        image.save(file, **options)
    return taeda.frombuffer(bytearray(file.getvalue()), dtype=taeda.uint8)


def _bytes(op: str, data: Tensor) -> bytes:
    if data.dtype is not taeda.uint8 or data.ndim != 1 or not data.numel():
        raise RuntimeError(
            f"{op}: wanted the bytes of a file, a non empty 1-dimensional uint8 tensor, got "
            f"{data.dtype} of shape {list(data.shape)}"
        )
    return _plain(data.detach())


def _plain(data: Tensor) -> bytes:
    return bytes(memoryview(data.cpu().contiguous()))


@contextlib.contextmanager
def _told(op: str) -> Iterator[None]:
    """What Pillow says of a file it cannot read or write, as torchvision's kind of error."""
    try:
        yield
    except (OSError, SyntaxError, ValueError, _pillow().Image.DecompressionBombError) as error:
        raise RuntimeError(f"{op}: {error}") from error


_DECODER = "(Tensor data, int mode, bool apply_exif_orientation=False) -> Tensor"
OPERATORS: dict[str, Any] = {
    "read_file(str filename) -> Tensor": read_file,
    "write_file(str filename, Tensor data) -> ()": write_file,
    f"decode_image{_DECODER}": decode_image,
    **{f"decode_{name}{_DECODER}": _of_format(name.upper()) for name in ("png", "jpeg", "webp")},
    "decode_gif(Tensor data) -> Tensor": decode_gif,
    "encode_png(Tensor data, int compression_level) -> Tensor": encode_png,
    "encode_jpeg(Tensor data, int quality) -> Tensor": encode_jpeg,
}
