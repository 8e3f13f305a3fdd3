"""Pictures from bytes and back, beside Pillow called by hand."""

import io

import numpy as np
import pytest

import taeda
from taeda import vision_ops  # noqa: F401  # defines the operators

pytest.importorskip("PIL", reason="pictures are decoded by Pillow")
from PIL import Image

image = taeda.ops.image
SIZE = (7, 5)  # width, height


def picture(mode, seed=0):
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}[mode]
    drawn = np.random.default_rng(seed).integers(0, 256, (*SIZE[::-1], channels), dtype=np.uint8)
    return Image.fromarray(drawn[..., 0] if channels == 1 else drawn)


def written(made, **options):
    file = io.BytesIO()
    made.save(file, **options)
    return taeda.frombuffer(bytearray(file.getvalue()), dtype=taeda.uint8)


def by_channels(made):
    values = np.array(made)
    return values[None] if values.ndim == 2 else values.transpose(2, 0, 1)


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
@pytest.mark.parametrize(
    ("wanted", "number"), [("", 0), ("L", 1), ("LA", 2), ("RGB", 3), ("RGBA", 4)]
)
def test_png_in_every_mode(mode, wanted, number):
    made = picture(mode)
    data = written(made, format="PNG")
    for decode in (image.decode_png, image.decode_image):
        found = decode(data, number)
        assert found.dtype == taeda.uint8 and found.is_contiguous()
        assert np.array_equal(found.numpy(), by_channels(made.convert(wanted or mode)))


def test_formats_are_told_apart():
    made = picture("RGB")
    for name in ("PNG", "JPEG", "WEBP"):
        decode = getattr(image, f"decode_{name.lower()}")
        data = written(made, format=name)
        with Image.open(io.BytesIO(bytes(data.numpy()))) as again:
            wanted = by_channels(again.convert("RGB"))
        assert np.array_equal(decode(data, 3).numpy(), wanted)
        assert np.array_equal(image.decode_image(data, 3).numpy(), wanted)
    with pytest.raises(RuntimeError, match="decode_png: cannot identify image file"):
        image.decode_png(written(made, format="JPEG"), 0)


def test_gray_of_a_jpeg_is_the_brightness_that_it_holds():
    flat = Image.new("RGB", (16, 16), (200, 30, 60))
    found = image.decode_jpeg(written(flat, format="JPEG", quality=100), 1)
    assert found.shape == (1, 16, 16)
    assert abs(found.float().mean().item() - (0.299 * 200 + 0.587 * 30 + 0.114 * 60)) < 1.5


def test_sixteen_bits():
    values = np.arange(35, dtype=np.uint16).reshape(5, 7) * 1800
    data = written(Image.fromarray(values), format="PNG")
    found = image.decode_png(data, 0)
    assert found.dtype == taeda.uint16 and np.array_equal(found.numpy()[0], values)
    with pytest.raises(RuntimeError, match="gray of 16 bits stays gray"):
        image.decode_png(data, 3)


def test_orientation():
    made, exif = picture("RGB"), Image.Exif()
    exif[274] = 6  # a quarter turn
    data = written(made, format="PNG", exif=exif)
    assert image.decode_png(data, 0, False).shape == (3, 5, 7)
    turned = image.decode_png(data, 0, True).numpy()
    assert np.array_equal(turned, np.rot90(by_channels(made), -1, (1, 2)))


def test_gifs():
    frames = [Image.new("RGB", SIZE, color) for color in ((255, 0, 0), (0, 0, 255), (0, 255, 0))]
    one = image.decode_gif(written(frames[0], format="GIF"))
    assert one.shape == (3, 5, 7) and one[:, 0, 0].tolist() == [255, 0, 0]
    data = written(frames[0], format="GIF", save_all=True, append_images=frames[1:])
    for found in (image.decode_gif(data), image.decode_image(data, 0)):
        assert found.shape == (3, 3, 5, 7) and found[1, :, 0, 0].tolist() == [0, 0, 255]


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_encoded_and_decoded(mode, tmp_path):
    made = taeda.from_numpy(by_channels(picture(mode)).copy())
    data = image.encode_png(made, 6)
    assert taeda.equal(image.decode_png(data, 0), made)
    assert len(image.encode_png(made, 9)) <= len(image.encode_png(made, 0))
    smooth = taeda.arange(64, dtype=taeda.uint8).reshape(1, 8, 8).expand(len(made), 8, 8)
    near = image.decode_jpeg(image.encode_jpeg(smooth, 100), 0)
    assert (near.int() - smooth.int()).abs().max() <= 3
    image.write_file(str(tmp_path / "made.png"), data)
    assert taeda.equal(image.read_file(str(tmp_path / "made.png")), data)


def test_refusals(tmp_path):
    whole = written(picture("RGB"), format="PNG")
    (tmp_path / "empty").touch()
    for call, words in (
        (lambda: image.decode_png(whole[:40], 0), "decode_png: "),
        (lambda: image.decode_image(taeda.zeros(9, dtype=taeda.uint8), 0), "cannot identify"),
        (lambda: image.decode_image(whole, 7), "a mode is one of"),
        (lambda: image.decode_image(whole.float(), 0), "float32 of shape"),
        (lambda: image.decode_image(whole[None], 0), "1-dimensional"),
        (lambda: image.decode_image(whole[:0], 0), "non empty"),
        (lambda: image.encode_png(taeda.zeros(2, 3, 3, dtype=taeda.uint8), 6), "1 or 3"),
        (lambda: image.encode_png(taeda.zeros(1, 3, 3), 6), "float32"),
        (lambda: image.encode_png(taeda.zeros(1, 3, 3, dtype=taeda.uint8), 10), "between 0 and 9"),
        (lambda: image.encode_jpeg(taeda.zeros(1, 3, 3, dtype=taeda.uint8), 0), "1 and 100"),
        (lambda: image.read_file(str(tmp_path / "none")), "No such file"),
        (lambda: image.read_file(str(tmp_path / "empty")), "non empty file"),
        (lambda: image.write_file(str(tmp_path / "a" / "b"), whole), "does not exist"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()


def test_picture_that_ends_early():
    drawn = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    for name in ("PNG", "JPEG"):
        data = written(Image.fromarray(drawn), format=name)
        with pytest.raises(RuntimeError, match=r"truncated|broken|incomplete"):
            image.decode_image(data[: len(data) // 2], 0)
