"""Each call of `SummaryWriter`, read back by TensorBoard, and each refusal."""

import io
import itertools

import numpy as np
import pytest
from tensorboard_reading import read, scalars, tensor

import taeda
from taeda.utils.tensorboard import SummaryWriter


@pytest.fixture
def writer(tmp_path):
    with SummaryWriter(tmp_path) as made:
        yield made


NUMBERS = [1, 1.5, True, "2.5", taeda.tensor(3.0), taeda.tensor([4]), np.float32(5), np.array([[6]]),
           taeda.tensor(7.0, dtype=taeda.bfloat16), taeda.tensor(8.0, requires_grad=True)]  # fmt: skip


@pytest.mark.parametrize("style", [(False, False), (True, False), (True, True), (False, True)])
def test_scalars_of_every_kind(writer, tmp_path, style):
    for step, value in enumerate(NUMBERS):
        writer.add_scalar("a", value, taeda.tensor(step), 100.0 + step, *style)
    writer.flush()
    wanted = [1, 1.5, 1, 2.5, 3, 4, 5, 6, 7, 8]
    if style == (False, False):
        assert [value for _, value in scalars(tmp_path, "a")] == wanted
        assert [e.wall_time for e in read(tmp_path).Scalars("a")] == [
            100.0 + s for s in range(len(wanted))
        ]
    else:
        found = read(tmp_path).Tensors("a")
        assert [event.step for event in found] == list(range(len(wanted)))
        assert tensor(tmp_path, "a").dtype == (np.float64 if style[1] else np.float32)


def test_double_precision_keeps_64_bits(writer, tmp_path):
    writer.add_scalar("a", 1 / 3, 0, double_precision=True)
    writer.flush()
    assert tensor(tmp_path, "a") == 1 / 3


def test_groups_are_runs(writer, tmp_path):
    writer.add_scalars("all/loss", {"train": 1.0, "test": taeda.tensor(2.0)}, 4)
    writer.flush()
    assert scalars(tmp_path / "all_loss_train", "all/loss") == [(4, 1.0)]
    assert scalars(tmp_path / "all_loss_test", "all/loss") == [(4, 2.0)]


@pytest.mark.parametrize("bins", ["tensorflow", "auto", "sqrt", 5, [-10.0, 0.0, 10.0]])
@pytest.mark.parametrize("max_bins", [None, 1, 4])
def test_histograms_count_every_value_once(writer, tmp_path, bins, max_bins):
    values = taeda.randn(500, generator=taeda.Generator().manual_seed(0))
    writer.add_histogram("h", values, 2, bins, max_bins=max_bins)
    writer.flush()
    found = read(tmp_path).Histograms("h")[0].histogram_value
    numbers = values.numpy().astype(float)
    assert (found.min, found.max, found.num) == (numbers.min(), numbers.max(), 500)
    assert found.sum == pytest.approx(numbers.sum()) and found.sum_squares == pytest.approx(
        numbers @ numbers
    )
    assert max_bins is None or len(found.bucket) <= max_bins + 1
    assert sum(found.bucket) == 500 and found.bucket[0] == 0
    for low, high, count in zip(
        found.bucket_limit, found.bucket_limit[1:], found.bucket[1:], strict=False
    ):
        closed = numbers <= high if high == found.bucket_limit[-1] else numbers < high
        assert count == ((numbers >= low) & closed).sum()


def test_histograms_leave_out_what_is_not_finite(writer, tmp_path):
    writer.add_histogram("h", taeda.tensor([1.0, float("nan"), float("inf")]))
    writer.flush()
    assert read(tmp_path).Histograms("h")[0].histogram_value.num == 1


def test_raw_histograms(writer, tmp_path):
    writer.add_histogram_raw("h", 0, 4, 3, 6, 14, [2, 4], [1, 2], 0)
    writer.flush()
    found = read(tmp_path).Histograms("h")[0].histogram_value
    assert list(found.bucket) == [1, 2] and list(found.bucket_limit) == [2, 4]


def decoded(image):
    from PIL import Image

    return np.array(Image.open(io.BytesIO(image.encoded_image_string)))


FORMATS = ["".join(p) for p in itertools.permutations("CHW")]


@pytest.mark.parametrize("formats", [*FORMATS, "HW", "WH"])
@pytest.mark.parametrize("kind", [taeda.uint8, taeda.float32])
def test_images_by_the_names_of_their_axes(writer, tmp_path, formats, kind):
    sizes = {"C": 3, "H": 4, "W": 5}
    bytes_ = taeda.arange(60 if "C" in formats else 20, dtype=taeda.uint8) * 4
    value = bytes_.reshape([sizes[letter] for letter in formats])
    wanted = value.numpy().transpose([formats.index(x) for x in "HWC" if x in formats])
    writer.add_image(
        "i", value if kind is taeda.uint8 else value.to(kind) / 255, 1, dataformats=formats
    )
    writer.flush()
    found = read(tmp_path).Images("i")[0]
    assert (found.height, found.width) == (4, 5)
    assert np.abs(decoded(found).astype(int) - wanted).max() <= (kind is not taeda.uint8)


@pytest.mark.parametrize("count", [1, 3, 8, 9, 17])
def test_several_images_are_a_grid(writer, tmp_path, count):
    value = taeda.arange(count, dtype=taeda.uint8).reshape(count, 1, 1, 1).expand(count, 1, 2, 3)
    writer.add_images("i", value, 0)
    writer.flush()
    found = decoded(read(tmp_path).Images("i")[0])
    columns = min(8, count)
    for number in range(count):
        row, column = divmod(number, columns)
        assert (found[2 * row : 2 * row + 2, 3 * column : 3 * column + 3] == number).all()


def test_images_are_those_of_the_call(writer, tmp_path):
    value = taeda.zeros(3, 2, 2)
    writer.add_image("i", value)
    value.fill_(1)
    writer.flush()
    assert (decoded(read(tmp_path).Images("i")[0]) == 0).all()


def test_boxes(writer, tmp_path):
    writer.add_image_with_boxes("b", taeda.zeros(3, 10, 10), [[2, 2, 7, 7]], rescale=2, labels="x")
    writer.flush()
    found = decoded(read(tmp_path).Images("b")[0])
    assert found.shape == (20, 20, 3) and found[4, 10].tolist() == [255, 0, 0]


def test_figures_are_drawn_and_closed(writer, tmp_path):
    pyplot = pytest.importorskip(
        "matplotlib.pyplot", reason="figures are matplotlib's, which is optional"
    )
    for close in (False, True):
        figure = pyplot.figure(figsize=(2, 1), dpi=50)
        writer.add_figure("f", figure, close=close)
        assert pyplot.fignum_exists(figure.number) != close
    pyplot.close("all")
    writer.flush()
    assert decoded(read(tmp_path).Images("f")[0]).shape == (50, 100, 4)


def test_videos_are_moving_pictures(writer, tmp_path):
    from PIL import Image

    frames = taeda.arange(6, dtype=taeda.uint8).reshape(2, 3, 1, 1, 1).expand(2, 3, 1, 4, 4) * 40
    writer.add_video("v", frames, 0, fps=10)
    writer.flush()
    found = Image.open(io.BytesIO(read(tmp_path).Images("v")[0].encoded_image_string))
    assert found.n_frames == 3 and found.info["duration"] == 100 and found.size == (8, 4)


def test_sounds(writer, tmp_path):
    import wave

    writer.add_audio("s", taeda.tensor([[0.0, 1.0, -1.0, 2.0]]), 0, sample_rate=8000)
    writer.flush()
    found = read(tmp_path).Audio("s")[0]
    with wave.open(io.BytesIO(found.encoded_audio_string)) as file:
        assert file.getframerate() == 8000
        assert np.frombuffer(file.readframes(9), "<i2").tolist() == [0, 32767, -32767, 32767]


def test_texts(writer, tmp_path):
    writer.add_text("t", "**ünï**", 3)
    writer.flush()
    assert tensor(tmp_path, "t/text_summary")[0].decode() == "**ünï**"


def test_whole_tensors(writer, tmp_path):
    for number, value in enumerate(
        [taeda.rand(2, 3), taeda.arange(3), taeda.rand(2, dtype=taeda.float64)]
    ):
        writer.add_tensor(f"x{number}", value)
        writer.flush()
        assert (tensor(tmp_path, f"x{number}") == value.numpy()).all()


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 3.0]])
def test_curves_of_precision_and_recall(writer, tmp_path, weights):
    labels, guesses = [0, 1, 1, 0], [0.1, 0.4, 0.8, 0.9]
    writer.add_pr_curve("p", taeda.tensor(labels), guesses, 0, num_thresholds=11, weights=weights)
    writer.flush()
    tp, fp, tn, fn, precision, recall = tensor(tmp_path, "p")
    shares, y, p = np.array(weights or [1.0] * 4), np.array(labels), np.array(guesses)
    for number in range(11):
        above = np.floor(p * 10) >= number
        for found, chosen in ((tp, above & (y == 1)), (fp, above & (y == 0)),
                              (tn, ~above & (y == 0)), (fn, ~above & (y == 1))):  # fmt: skip
            assert found[number] == pytest.approx(shares[chosen].sum())
        total = tp[number] + fp[number]
        assert precision[number] == pytest.approx(tp[number] / total if total else 0)
        assert recall[number] == pytest.approx(tp[number] / (tp[number] + fn[number]))


def test_raw_curves(writer, tmp_path):
    writer.add_pr_curve_raw("p", *[[1, 2, 3]] * 6, num_thresholds=3)
    writer.flush()
    assert tensor(tmp_path, "p").tolist() == [[1, 2, 3]] * 6


def test_layouts_of_charts(writer, tmp_path):
    from tensorboard.plugins.custom_scalar.layout_pb2 import Layout

    writer.add_custom_scalars(
        {"c": {"m": ["Multiline", ["x", "y"]], "n": ["Margin", ["x", "y", "z"]]}}
    )
    writer.flush()
    found = Layout.FromString(tensor(tmp_path, "custom_scalars__config__").item())
    assert [chart.title for chart in found.category[0].chart] == ["m", "n"]
    assert list(found.category[0].chart[0].multiline.tag) == ["x", "y"]
    assert found.category[0].chart[1].margin.series[0].upper == "z"
    with pytest.raises(RuntimeError, match="once"):
        writer.add_custom_scalars_multilinechart(["x"])


def test_meshes(writer, tmp_path):
    points = taeda.rand(1, 4, 3)
    writer.add_mesh("m", points, taeda.ones(1, 4, 3), taeda.tensor([[[0, 1, 2]]]), {"camera": {}})
    writer.flush()
    assert (tensor(tmp_path, "m_VERTEX") == points.numpy()).all()
    assert tensor(tmp_path, "m_FACE").tolist() == [[[0, 1, 2]]]
    assert (tensor(tmp_path, "m_COLOR") == 255).all()


def test_hyperparameters_are_a_run(writer, tmp_path):
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    given = {"lr": 0.1, "big": True, "name": "x", "none": None, "size": np.int64(3)}
    writer.add_hparams(
        given, {"acc": taeda.tensor(0.5)}, {"lr": [0.1, 0.2]}, run_name="first", global_step=7
    )
    assert scalars(tmp_path / "first", "acc") == [(7, 0.5)]
    plugin = read(tmp_path / "first").PluginTagToContent("hparams")
    start = HParamsPluginData.FromString(plugin["_hparams_/session_start_info"]).session_start_info
    found = {name: getattr(v, v.WhichOneof("kind")) for name, v in start.hparams.items()}
    assert found == {"lr": 0.1, "big": True, "name": "x", "size": 3.0}
    experiment = HParamsPluginData.FromString(plugin["_hparams_/experiment"]).experiment
    domains = {info.name: list(info.domain_discrete) for info in experiment.hparam_infos}
    assert domains["lr"] == [0.1, 0.2]


def test_hyperparameters_as_summaries_of_a_library(writer, tmp_path):
    from taeda.utils.tensorboard.summary import hparams

    for made in hparams({"lr": 0.1}, {"acc": 0.5}):
        writer._get_file_writer().add_summary(made, 3)
    writer.close()
    found = read(tmp_path).PluginTagToContent("hparams")
    names = ("experiment", "session_start_info", "session_end_info")
    assert set(found) == {f"_hparams_/{name}" for name in names}
    with pytest.raises(TypeError, match="hparam_dict is NoneType"):
        hparams()


def test_embeddings_are_listed(writer, tmp_path):
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    points = taeda.rand(5, 3)
    writer.add_embedding(points, list("abcde"), taeda.rand(5, 3, 4, 6), 2, "one")
    writer.add_embedding(points, [["a", 1]] * 5, None, 3, "two/x", ["letter", "number"])
    listed = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    first, second = listed.embeddings
    assert np.loadtxt(tmp_path / first.tensor_path) == pytest.approx(points.numpy())
    assert (tmp_path / first.metadata_path).read_text().split() == list("abcde")
    assert list(first.sprite.single_image_dim) == [6, 4]
    assert (tmp_path / second.metadata_path).read_text().splitlines()[:2] == [
        "letter\tnumber",
        "a\t1",
    ]


@pytest.mark.parametrize("tag", ["a/b", "a_b", "..", ".", "", "a%2Fb", "\u00e4 b"])
def test_each_set_of_points_has_a_folder_within_the_run(writer, tmp_path, tag):
    for one in (tag, "a/b" if tag == "a_b" else "a_b"):
        writer.add_embedding(taeda.rand(2, 3), tag=one)
    folders = [path.parent for path in tmp_path.rglob("tensors.tsv")]
    assert len(set(folders)) == 2
    assert {folder.parent for folder in folders} == {tmp_path / "00000"}


REFUSED = {
    "several numbers": (lambda w: w.add_scalar("a", taeda.ones(2)), AssertionError, "one number, and got 2"),
    "a text": (lambda w: w.add_scalar("a", "x"), ValueError, "'x' is a text"),
    "no tag": (lambda w: w.add_scalar(3, 1.0), TypeError, "tag is int"),
    "no number": (lambda w: w.add_scalar("a", object()), TypeError, "takes tensors, arrays and numbers"),
    "complex": (lambda w: w.add_scalar("a", 1j), TypeError, "takes tensors"),
    "empty histogram": (lambda w: w.add_histogram("h", []), ValueError, "no finite value"),
    "unknown rule": (lambda w: w.add_histogram("h", [1.0], bins="x"), ValueError, "bins is 'x'"),
    "no bins": (lambda w: w.add_histogram("h", [1.0], max_bins=0), ValueError, "max_bins is 0"),
    "raw pairs": (lambda w: w.add_histogram_raw("h", 0, 1, 1, 1, 1, [1], []), ValueError, "in pairs"),
    "rank": (lambda w: w.add_image("i", taeda.rand(3, 3)), AssertionError, "does not fit"),
    "letters": (lambda w: w.add_image("i", taeda.rand(3, 3), dataformats="HX"), AssertionError, "letters"),
    "channels": (lambda w: w.add_image("i", taeda.rand(2, 3, 3)), AssertionError, "1, 3 or 4"),
    "boxes": (lambda w: w.add_image_with_boxes("i", taeda.rand(3, 3, 3), [1]), AssertionError, "N, 4"),
    "labels": (lambda w: w.add_image_with_boxes("i", taeda.rand(3, 3, 3), [[1] * 4], labels=["a", "b"]),
               AssertionError, "in pairs"),
    "video": (lambda w: w.add_video("v", taeda.rand(2, 3, 4, 4)), ValueError, "N, T, C, H, W"),
    "stereo": (lambda w: w.add_audio("s", taeda.rand(2, 9)), AssertionError, "one channel"),
    "words": (lambda w: w.add_text("t", 3), TypeError, "has to be a text"),
    "curve": (lambda w: w.add_pr_curve("p", [1], [0.1, 0.2]), ValueError, "in pairs"),
    "probability": (lambda w: w.add_pr_curve("p", [1], [1.5]), ValueError, "from 0 to 1"),
    "chart": (lambda w: w.add_custom_scalars({"a": {"b": ["Pie", []]}}), ValueError, "'Pie' is no chart"),
    "layout": (lambda w: w.add_custom_scalars([1]), TypeError, "takes {category"),
    "margin": (lambda w: w.add_custom_scalars_marginchart(["a"]), AssertionError, "3 tags"),
    "mesh": (lambda w: w.add_mesh("m", taeda.rand(4, 3)), AssertionError, "B, N, 3"),
    "hparams": (lambda w: w.add_hparams([], {}), TypeError, "hparam_dict is list"),
    "hparam": (lambda w: w.add_hparams({"a": []}, {}), ValueError, "a is list"),
    "domain": (lambda w: w.add_hparams({"a": 1}, {}, {"b": [1]}), ValueError, "hparam_dict lacks"),
    "points": (lambda w: w.add_embedding(taeda.rand(3)), AssertionError, "N, D"),
    "names": (lambda w: w.add_embedding(taeda.rand(3, 2), ["a"]), AssertionError, "for 3 points"),
    "sprites": (lambda w: w.add_embedding(taeda.rand(3, 2), label_img=taeda.rand(2, 1, 2, 2)),
                AssertionError, "for 3 points"),
    "model": (lambda w: w.add_graph(print), TypeError, "has to be a Module"),
    "figure": (lambda w: w.add_figure("f", "x"), TypeError, "figures of matplotlib, not str"),
    "rate": (lambda w: w.add_audio("s", taeda.rand(9), sample_rate=0), ValueError, "sample_rate is 0"),
    "far step": (lambda w: w.add_scalar("a", 1.0, 2**63), ValueError, "64 bits"),
    "no step": (lambda w: w.add_scalar("a", 1.0, float("nan")), ValueError, "global_step is nan"),
    "no time": (lambda w: w.add_scalar("a", 1.0, 1, walltime="now"), ValueError, "'now' is a text"),
    "endless time": (lambda w: w.add_scalar("a", 1.0, 1, walltime=np.inf), ValueError, "walltime is inf"),
    "far number": (lambda w: w.add_scalar("a", 10**400), ValueError, "no float"),
    "address": (lambda w: SummaryWriter("nowhere://x/y"), ValueError, "nowhere"),
    "never": (lambda w: SummaryWriter(w.log_dir, flush_secs=0), ValueError, "flush_secs is 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(writer, tmp_path, case):
    call, error, words = REFUSED[case]
    if case == "model":
        pytest.importorskip("taeda.nn", reason="models come with taeda-nn")
    if case == "figure":
        pytest.importorskip("matplotlib", reason="figures are matplotlib's, which is optional")
    with pytest.raises(error, match=words):
        call(writer)
    writer.flush()
    assert not any(tags for kind, tags in read(tmp_path).Tags().items() if isinstance(tags, list))
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_the_folder_is_named_by_time_and_host_and_comment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_lr0.1") as writer:
        assert writer.get_logdir().startswith("runs/") and writer.get_logdir().endswith("_lr0.1")
    with SummaryWriter("here", comment="no") as writer:
        assert writer.log_dir == "here" and (tmp_path / "here").is_dir()
