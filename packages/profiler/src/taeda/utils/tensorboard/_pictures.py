"""Images, videos and sounds, checked here and encoded by the writing thread."""

# tensorboard is optional, and its messages are made when they are imported
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import io
import wave
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from PIL import Image, ImageDraw

from tensorboard.compat.proto.summary_pb2 import Summary

__all__ = ["audio", "bytes_of", "figures", "image", "images_of", "sound_of", "video", "with_boxes"]

Array: TypeAlias = np.ndarray[Any, Any]


def bytes_of(pixels: Array) -> Array:
    """Whole numbers from 0 to 255 as they are; fractions from 0 to 1 times 255."""
    if pixels.dtype == np.uint8:
        return pixels
    scale = 255 if pixels.dtype.kind in "fb" else 1
    return np.nan_to_num(pixels.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)


def images_of(pixels: Array, formats: str, who: str) -> Array:
    """One picture of height, width and channels; several lie in a grid of eight columns at most.

    AssertionError for a format that does not fit.
    """
    letters = formats.upper()
    if sorted(letters) not in ([*"CHNW"], [*"CHW"], [*"HW"]):
        raise AssertionError(
            f"{who}: dataformats is {formats!r}, and has to have the letters of NCHW, CHW or HW"
        )
    if len(letters) != pixels.ndim:
        raise AssertionError(
            f"{who}: dataformats {formats!r} does not fit a shape of {pixels.shape}"
        )
    for letter in "NC":  # axes that are missing
        if letter not in letters:
            pixels, letters = pixels[None], letter + letters
    pixels = pixels.transpose([letters.index(letter) for letter in "NHWC"])
    if pixels.shape[3] not in (1, 3, 4) or not pixels.size:
        raise AssertionError(
            f"{who}: {pixels.shape[0]} pictures of {pixels.shape[3]} channels; there have to be 1, 3 or 4"
        )
    return _grid(bytes_of(pixels))


def _grid(pixels: Array) -> Array:
    count, height, width, channels = pixels.shape
    columns = min(8, count)
    rows = -(-count // columns)
    filled = np.zeros((rows * columns, height, width, channels), np.uint8)
    filled[:count] = pixels
    table = filled.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return table.reshape(rows * height, columns * width, channels)


def _pil(pixels: Array) -> Image.Image:
    return Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)


def image(tag: str, pixels: Array) -> Summary.Value:
    """A picture of (height, width, channels) bytes as PNG."""
    height, width, channels = pixels.shape
    out = io.BytesIO()
    _pil(pixels).save(out, format="PNG")
    made = Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=out.getvalue()
    )
    return Summary.Value(tag=tag, image=made)


def with_boxes(pixels: Array, boxes: Array, rescale: float, labels: Sequence[str] | None) -> Array:
    """The picture, scaled, with frames (left, top, right, bottom) and what they hold."""
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise AssertionError(
            f"add_image_with_boxes: boxes are {boxes.shape}, and have to be (N, 4)"
        )
    if labels is not None and len(labels) != len(boxes):
        raise AssertionError(
            f"add_image_with_boxes: {len(labels)} labels for {len(boxes)} boxes; they go in pairs"
        )
    drawn = _pil(pixels).convert("RGB")
    if rescale != 1:
        drawn = drawn.resize((int(drawn.width * rescale), int(drawn.height * rescale)))
    pen = ImageDraw.Draw(drawn)
    for number, box in enumerate((boxes * rescale).tolist()):
        left, right = sorted((box[0], box[2]))
        top, bottom = sorted((box[1], box[3]))
        pen.rectangle((left, top, right, bottom), outline=(255, 0, 0))
        if labels is not None:
            pen.text((left + 2, top + 2), str(labels[number]), fill=(255, 0, 0))
    return np.array(drawn)


def figures(given: Any, close: bool) -> Array:
    """Figures of matplotlib as pictures of one size beside each other, or one."""
    try:
        from matplotlib import pyplot as plt
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("add_figure draws with matplotlib: pip install matplotlib") from error

    drawn = []
    several = given if isinstance(given, (list, tuple)) else [given]
    for figure in several:
        if not isinstance(figure, Figure):
            raise TypeError(f"add_figure takes figures of matplotlib, not {type(figure).__name__}")
        canvas = FigureCanvasAgg(figure)
        canvas.draw()  # type: ignore[no-untyped-call]  # it has no types
        drawn.append(np.array(canvas.buffer_rgba()))  # type: ignore[no-untyped-call]  # it has no types
        if close:
            plt.close(figure)
    if len({one.shape for one in drawn}) != 1:
        raise ValueError(
            "add_figure: figures of one call have to have one size, and there has to be one"
        )
    return _grid(np.stack(drawn))


def video(tag: str, frames: Array, fps: float) -> Summary.Value:
    """Videos (N, T, C, H, W) beside each other, as one animated GIF."""
    pages = [images_of(frames[:, at], "NCHW", "add_video") for at in range(frames.shape[1])]
    out = io.BytesIO()
    first, *others = [_pil(page) for page in pages]
    first.save(
        out,
        format="GIF",
        save_all=True,
        append_images=others,
        duration=max(1, round(1000 / fps)),
        loop=0,
    )
    height, width, channels = pages[0].shape
    made = Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=out.getvalue()
    )
    return Summary.Value(tag=tag, image=made)


def sound_of(sound: Array) -> Array:
    """One channel of numbers from -1 to 1. AssertionError for another shape."""
    sound = sound.squeeze()
    if sound.ndim > 1:
        raise AssertionError(f"add_audio: sound is {sound.shape}, and has to have one channel")
    return np.nan_to_num(sound.reshape(-1).astype(np.float32)).clip(-1, 1)


def audio(tag: str, sound: Array, rate: int) -> Summary.Value:
    """Sound as a WAV file of 16 bits."""
    out = io.BytesIO()
    # half-written: it is memory
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((sound * 32767).round().astype("<i2").tobytes())
    made = Summary.Audio(
        sample_rate=rate,
        num_channels=1,
        length_frames=sound.size,
        encoded_audio_string=out.getvalue(),
        content_type="audio/wav",
    )
    return Summary.Value(tag=tag, audio=made)
