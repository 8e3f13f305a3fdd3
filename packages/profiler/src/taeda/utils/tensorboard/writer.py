"""The calls with which a program says what TensorBoard shows."""

# tensorboard is optional, and its messages are made when they are imported
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
import socket
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from . import _pictures, _summaries
from ._events import EventFile, Fill, restarted
from ._live import LivePlot, display_of_notebook
from ._values import MOST_STEPS, array, folder_of, number, step_of, tag_of, time_of

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]


class FileWriter:
    """Events and summaries, made by the caller, to a new file in `log_dir`.

    Args:
        log_dir: a folder, made if it is not there, or an address that fsspec opens
        max_queue: after how many events the thread writes (default: 10)
        flush_secs: seconds after which it writes whatever there is, more than 0 (default: 120)
        filename_suffix: what the name of the file ends with (default: "")

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = FileWriter(folder)
    ...     writer.flush()
    ...     writer.close()
    ...     len(os.listdir(folder))
    1
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        folder = os.fspath(log_dir)
        if flush_secs <= 0:
            raise ValueError(
                f"SummaryWriter: flush_secs is {flush_secs}, and has to be more than 0"
            )
        self._log_dir = folder
        self._hold(EventFile(folder, max_queue, flush_secs, filename_suffix))

    def _hold(self, file: EventFile) -> None:
        self.event_writer = file
        weakref.finalize(self, file.leave).atexit = False  # _events closes all at exit

    def get_logdir(self) -> str:
        """The folder."""
        return self._log_dir

    def add_event(
        self, event: Event, step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write an event; its time and, if given, its step are set.

        Args:
            event: the message; it is copied
            step: the step it belongs to; None to leave it as it is
            walltime: when it happened, in seconds since 1970; None for now
        """
        self._fill(lambda made: made.MergeFrom(event), step, walltime)

    def add_summary(
        self, summary: Summary, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a summary.

        Args:
            summary: the message; it is copied
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
        """
        self._fill(lambda made: made.summary.CopyFrom(summary), global_step, walltime)

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """Write a graph; of a pair of graph and its profile, the graph.

        Args:
            graph_profile: a GraphDef, or a pair of one and its RunMetadata
            walltime: when it happened, in seconds since 1970; None for now
        """
        graph = graph_profile[0] if isinstance(graph_profile, tuple) else graph_profile
        data = graph.SerializeToString()
        self._fill(lambda made: setattr(made, "graph_def", data), None, walltime)

    def _fill(self, fill: Fill, step: Any, walltime: float | None) -> None:
        if step is not None and (type(step) is not int or not -MOST_STEPS <= step < MOST_STEPS):
            step = step_of(step)
        if walltime is not None:
            walltime = time_of(walltime)
        self.event_writer.add(fill, step, walltime)

    def flush(self) -> None:
        """Return when all that was added is in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and end the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Go on in a new file."""
        old = self.event_writer
        if old.closed:
            self._hold(EventFile(old.folder, old.max_queue, old.flush_secs, old.suffix))


class SummaryWriter:
    """Writes what a run says of itself to `log_dir`, for TensorBoard to show.

    Calls return at once; a thread writes, `max_queue` events together, or what there is after
    `flush_secs` seconds. The end of the program, an exception and SIGTERM leave nothing unwritten. A
    disk that is full is a warning, once, and the run goes on.

    A `log_dir` as "s3://bucket/run" is an address that fsspec opens. Stores take whole files, so the
    events wait on this machine, and the file there is replaced every `flush_secs` seconds, at `flush`
    and at the end.

    Args:
        log_dir: a folder, made if it is not there, or an address that fsspec opens; None for
        runs/TIME_HOST and `comment`
        comment: what the folder's name ends with where `log_dir` is None (default: "")
        purge_step: TensorBoard forgets what earlier files have from this step on; None for nothing
        max_queue: after how many events the thread writes (default: 10)
        flush_secs: seconds after which it writes whatever there is, more than 0 (default: 120)
        filename_suffix: what the name of the file ends with (default: "")

    >>> import tempfile
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 1 / (step + 1), step)
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if log_dir is None or log_dir == "":
            now = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir, self.purge_step = os.fspath(log_dir), purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = (
            max_queue,
            flush_secs,
            filename_suffix,
        )
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._laid_out = False
        self._live: LivePlot | None = None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None:
            self.file_writer = self._new(self.log_dir)
            self.all_writers = {self.log_dir: self.file_writer}
            if self.purge_step is not None:
                self.file_writer._fill(restarted, self.purge_step, None)
        return self.file_writer

    def _new(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _value(self, make: Any, step: Any, walltime: float | None, *args: Any) -> None:
        """Write the value that `make(*args)` gives, in the writing thread."""
        self._get_file_writer()._fill(
            lambda event: event.summary.value.append(make(*args)), step, walltime
        )

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    # ---- numbers ----

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A number at a step. `new_style` writes it as a tensor; `double_precision` too, of 64 bits.

        Args:
            tag: the name under which TensorBoard shows it
            scalar_value: a number, a text of one, or a tensor or array of one element
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
            new_style: whether it is written as a tensor (default: False)
            double_precision: whether it is written as a tensor of 64 bits (default: False)
        """
        found = number(scalar_value, "add_scalar")
        made = _summaries.scalar
        self._value(
            made,
            global_step,
            walltime,
            tag_of(tag, "add_scalar"),
            found,
            new_style,
            double_precision,
        )
        if self._live is not None:
            self._live.add(tag, found, float(number(global_step or 0, "global_step")))

    def show(self, *tags: str, seconds: float = 1.0) -> None:
        """In a notebook: draw the scalars that are added from now on, as curves below this cell, anew
        while the cells below it run. RuntimeError outside of a notebook.

        Args:
            *tags: those that are drawn; none: all
            seconds: how long a picture stands at least (default: 1)

        >>> import tempfile
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     try:
        ...         writer.show("loss")
        ...     except RuntimeError as error:
        ...         print(str(error)[:48])
        SummaryWriter.show draws below the cell of a not
        """
        self._live = LivePlot(tags, seconds, display_of_notebook)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers in one chart, each in a run of its own below this one.

        Args:
            main_tag: the name of the chart
            tag_scalar_dict: numbers by the names of their lines
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
        """
        now = time.time() if walltime is None else walltime
        self._get_file_writer()
        writers = self.all_writers
        assert writers is not None
        for tag, value in tag_scalar_dict.items():
            found = number(value, "add_scalars")
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            if folder not in writers:
                writers[folder] = self._new(folder)
            made = _summaries.scalar(tag_of(main_tag, "add_scalars"), found, False, False)
            writers[folder].add_summary(Summary(value=[made]), global_step, now)

    def add_tensor(
        self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """All numbers of a tensor, for programs that read the file.

        Args:
            tag: the name under which TensorBoard shows it
            tensor: a tensor or array of any shape and a dtype of numbers
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
        """
        made = _summaries.whole(tag_of(tag, "add_tensor"), array(tensor, "add_tensor"))
        self._value(lambda: made, global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How values are distributed. `bins` is "tensorflow" (the same at every step), a rule, a
        number or edges as `numpy.histogram` takes them; neighbours are put together until there are
        `max_bins` at most. Values that are not finite are left out.

        ValueError if no value is left, or for bins that are none.

        Args:
            tag: the name under which TensorBoard shows it
            values: a tensor, array or list of numbers, of any shape
            global_step: the step it belongs to; None is 0
            bins: "tensorflow", a rule of `numpy.histogram`, a number of bins, or their edges
            walltime: when it happened, in seconds since 1970; None for now
            max_bins: the most bins; None for as many as there are
        """
        found = array(values, "add_histogram")
        made = _summaries.histogram(tag_of(tag, "add_histogram"), found, bins, max_bins)
        self._value(lambda: made, global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A distribution that the caller counted: upper edges of the buckets, and how many in each.

        ValueError unless there are as many of both.

        Args:
            tag: the name under which TensorBoard shows it
            min: the least value
            max: the greatest value
            num: how many values there are
            sum: their sum
            sum_squares: the sum of their squares
            bucket_limits: the upper edge of each bucket, rising
            bucket_counts: how many values each bucket has
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
        """
        counted = (min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        made = _summaries.histogram_raw(tag_of(tag, "add_histogram_raw"), *counted)
        self._value(lambda: made, global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Precision and recall of probabilities, against labels that are 0 or 1, at thresholds.

        Args:
            tag: the name under which TensorBoard shows it
            labels: what is true, 0 or 1 each, of any shape
            predictions: probabilities of 1, as many as `labels`
            global_step: the step it belongs to; None is 0
            num_thresholds: at how many thresholds both are counted (default: 127)
            weights: what each label counts, as many as `labels`; None for 1
            walltime: when it happened, in seconds since 1970; None for now
        """
        shares = None if weights is None else array(weights, "add_pr_curve")
        made = _summaries.curve(
            tag_of(tag, "add_pr_curve"),
            array(labels, "add_pr_curve"),
            array(predictions, "add_pr_curve"),
            num_thresholds,
            shares,
        )
        self._value(lambda: made, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """A curve that the caller counted, `num_thresholds` numbers each. Counts hold their weights
        already: `weights` has to be None.

        Args:
            tag: the name under which TensorBoard shows it
            true_positive_counts: rightly taken for 1, by threshold
            false_positive_counts: wrongly taken for 1
            true_negative_counts: rightly taken for 0
            false_negative_counts: wrongly taken for 0
            precision: the share of 1 among those taken for 1
            recall: the share taken for 1 among those that are 1
            global_step: the step it belongs to; None is 0
            num_thresholds: how many thresholds there are (default: 127)
            weights: None
            walltime: when it happened, in seconds since 1970; None for now
        """
        if weights is not None:
            raise ValueError("add_pr_curve_raw: the counts hold their weights; leave weights out")
        made = _summaries.curve_raw(
            tag_of(tag, "add_pr_curve_raw"),
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
            num_thresholds,
        )
        self._value(lambda: made, global_step, walltime)

    # ---- charts of charts ----

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Charts that put tags together: {category: {chart: ["Multiline", tags]}}, or "Margin" with
        three tags. Once for each writer: RuntimeError for a second call.

        Args:
            layout: charts by category and title, each a pair of its kind and its tags
        """
        if self._laid_out:
            raise RuntimeError("add_custom_scalars can be called once for each SummaryWriter")
        made = _summaries.layout(layout)
        self._laid_out = True
        self._value(lambda: made, None, None)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """`add_custom_scalars` with one chart of lines.

        Args:
            tags: tags of scalars, a line each
            category: the group of charts it stands in (default: "default")
            title: the name of the chart (default: "untitled")
        """
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """`add_custom_scalars` with one chart of a line between two others. AssertionError unless
        there are three tags.

        Args:
            tags: three tags of scalars: the line, the one below, the one above
            category: the group of charts it stands in (default: "default")
            title: the name of the chart (default: "untitled")
        """
        if len(tags) != 3:
            raise AssertionError(f"add_custom_scalars_marginchart takes 3 tags, not {len(tags)}")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """What a run was set to and what came of it, in a run of its own below this one, named
        `run_name` or by the time.

        Args:
            hparam_dict: settings by name: bool, text or number
            metric_dict: results by name: a number each, which no scalar of this run is named like
            hparam_domain_discrete: for some settings, all values that they may have; None for none
            run_name: the name of the run below this one; None for the time
            global_step: the step of the results; None is 0
        """
        from ._hparams import hparams

        values = hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        numbers = {name: number(value, "add_hparams") for name, value in metric_dict.items()}
        with SummaryWriter(os.path.join(self.log_dir, run_name or str(time.time()))) as inner:
            for value in values:
                inner._get_file_writer().add_summary(Summary(value=[value]))
            for name, found in numbers.items():
                inner.add_scalar(name, found, global_step)

    # ---- pictures, sounds, words ----

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """A picture, its axes named by `dataformats`: fractions from 0 to 1 or bytes.

        AssertionError unless they fit.

        Args:
            tag: the name under which TensorBoard shows it
            img_tensor: pixels: fractions from 0 to 1, or bytes from 0 to 255
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
            dataformats: its axes: CHW, HWC, HW, or with N for several (default: "CHW")
        """
        pixels = _pictures.images_of(array(img_tensor, "add_image"), dataformats, "add_image")
        self._value(_pictures.image, global_step, walltime, tag_of(tag, "add_image"), pixels)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Pictures in a grid.

        Args:
            tag: the name under which TensorBoard shows it
            img_tensor: pixels: fractions from 0 to 1, or bytes from 0 to 255
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
            dataformats: its axes, N among them (default: "NCHW")
        """
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """A picture with frames (left, top, right, bottom), and a label each if given.

        Args:
            tag: the name under which TensorBoard shows it
            img_tensor: pixels: fractions from 0 to 1, or bytes from 0 to 255
            box_tensor: (boxes, 4): left, top, right and bottom in pixels
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
            rescale: by how much the picture is enlarged (default: 1)
            dataformats: its axes: CHW, HWC or HW (default: "CHW")
            labels: a text for each box; None for none
        """
        who = "add_image_with_boxes"
        pixels = _pictures.images_of(array(img_tensor, who), dataformats, who)
        names = [labels] if isinstance(labels, str) else labels
        drawn = _pictures.with_boxes(pixels, array(box_tensor, who), rescale, names)
        self._value(_pictures.image, global_step, walltime, tag_of(tag, who), drawn)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """A figure of matplotlib, or several of one size, as a picture; closed unless told otherwise.

        Args:
            tag: the name under which TensorBoard shows it
            figure: a figure of matplotlib, or a list of them
            global_step: the step it belongs to; None is 0
            close: whether matplotlib forgets it afterwards (default: True)
            walltime: when it happened, in seconds since 1970; None for now
        """
        pixels = _pictures.figures(figure, close)
        self._value(_pictures.image, global_step, walltime, tag_of(tag, "add_figure"), pixels)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: int | None = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Videos (N, T, C, H, W) beside each other, as an animated GIF. ValueError for another rank.

        Args:
            tag: the name under which TensorBoard shows it
            vid_tensor: (N, T, C, H, W), pixels: fractions from 0 to 1, or bytes from 0 to 255
            global_step: the step it belongs to; None is 0
            fps: pictures a second, more than 0 (default: 4)
            walltime: when it happened, in seconds since 1970; None for now
        """
        frames = array(vid_tensor, "add_video")
        if frames.ndim != 5 or not frames.size or frames.shape[2] not in (1, 3, 4) or not fps > 0:
            raise ValueError(
                f"add_video takes (N, T, C, H, W) with 1, 3 or 4 channels and fps above 0, "
                f"not {frames.shape} and {fps}"
            )
        self._value(_pictures.video, global_step, walltime, tag_of(tag, "add_video"), frames, fps)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """A sound of one channel, from -1 to 1. AssertionError for several channels.

        Args:
            tag: the name under which TensorBoard shows it
            snd_tensor: (samples,) or (1, samples), from -1 to 1
            global_step: the step it belongs to; None is 0
            sample_rate: samples a second (default: 44100)
            walltime: when it happened, in seconds since 1970; None for now
        """
        sound = _pictures.sound_of(array(snd_tensor, "add_audio"))
        rate = number(sample_rate, "add_audio")
        if not 1 <= rate < 1 << 32:
            raise ValueError(f"add_audio: sample_rate is {sample_rate}, and has to be 1 or more")
        self._value(
            _pictures.audio,
            global_step,
            walltime,
            tag_of(tag, "add_audio"),
            sound,
            int(rate),
        )

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Words, which TensorBoard reads as Markdown.

        Args:
            tag: the name under which TensorBoard shows it
            text_string: the words
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
        """
        if not isinstance(text_string, str):
            raise TypeError(
                f"add_text: text_string is {type(text_string).__name__}, and has to be a text"
            )
        self._value(_summaries.text, global_step, walltime, tag_of(tag, "add_text"), text_string)

    # ---- shapes, points, models ----

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Mapping[str, Any] | None = None,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Points (B, N, 3), with colours from 0 to 255 (bytes) or to 1, and triangles by their points.

        AssertionError for other shapes. `config_dict` sets camera, light and material of Three.js.

        Args:
            tag: the name under which TensorBoard shows it
            vertices: (B, N, 3), the points
            colors: (B, N, 3), their colours; None for one colour
            faces: (B, triangles, 3), numbers of points; None to show points
            config_dict: settings of Three.js; None for its own
            global_step: the step it belongs to; None is 0
            walltime: when it happened, in seconds since 1970; None for now
        """
        parts = {"VERTEX": vertices, "FACE": faces, "COLOR": colors}
        found = {
            name: None if part is None else array(part, "add_mesh") for name, part in parts.items()
        }
        if (painted := found["COLOR"]) is not None:
            found["COLOR"] = _pictures.bytes_of(painted)
        made = _summaries.mesh(tag_of(tag, "add_mesh"), found, config_dict)
        self._get_file_writer().add_summary(made, global_step, walltime)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Points (N, D) for the projector, with a name or a picture each. Written at once.

        AssertionError for another rank, or when names or pictures are not as many.

        Args:
            mat: (N, D), the points
            metadata: a name for each point, or a row of several; None for none
            label_img: (N, C, H, W), a square picture for each point; None for none
            global_step: the step it belongs to; None is 0
            tag: the name of this set of points (default: "default")
            metadata_header: names of the columns of `metadata`; None for one column
        """
        from ._embedding import write_embedding

        step = 0 if global_step is None else step_of(global_step)
        name = f"{step:05d}/{folder_of(tag_of(tag, 'add_embedding'))}"
        images = None if label_img is None else array(label_img, "add_embedding")
        write_embedding(
            self.log_dir,
            name,
            array(mat, "add_embedding"),
            metadata,
            images,
            metadata_header,
            f"{tag}:{step:05d}",
        )

    def add_graph(
        self,
        model: Any,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """The operations of a model, as it runs once in eval mode on `input_to_model`, within its
        modules. `verbose` prints the nodes. A recorded run may return any containers, so
        `use_strict_trace` has to be a bool and changes nothing.

        Args:
            model: a Module
            input_to_model: what it is called with: a tensor, or a tuple of arguments (default:
                None)
            verbose: whether the nodes are printed (default: False)
            use_strict_trace: True or False, which are the same here (default: True)
        """
        from ._graph import recorded

        graph = recorded(model, input_to_model)
        if verbose:
            print(graph)
        self._get_file_writer().add_graph(graph)

    # ---- the end ----

    def flush(self) -> None:
        """Return when all that was added is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and end the files. An add after it begins a new file."""
        if self._live is not None:
            self._live.draw()
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
