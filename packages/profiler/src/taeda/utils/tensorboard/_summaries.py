"""Summaries of numbers: scalars, distributions, texts, curves, meshes, layouts of charts."""

# tensorboard is optional, and its messages are made when they are imported
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.types_pb2 import DT_DOUBLE, DT_FLOAT, DT_INT32, DT_STRING
from tensorboard.plugins.custom_scalar.layout_pb2 import Category, Chart, Layout
from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from ._values import array

__all__ = [
    "curve", "curve_raw", "histogram", "histogram_raw", "layout", "mesh", "scalar", "text", "whole",
]  # fmt: skip

Array: TypeAlias = np.ndarray[Any, Any]
#: edges that grow by a tenth, the same for every call, so that steps can be compared
_GROWING = 1e-12 * 1.1 ** np.arange(775)
_EDGES = np.concatenate([-_GROWING[::-1], [0.0], _GROWING])
_RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")
_TYPES = {"f": (DT_FLOAT, np.float32), "d": (DT_DOUBLE, np.float64), "i": (DT_INT32, np.int32)}


def _metadata(plugin: str, content: bytes = b"", data_class: int = 0) -> SummaryMetadata:
    data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return SummaryMetadata(plugin_data=data, data_class=data_class)


def _tensor(values: Any, kind: str = "f") -> TensorProto:
    dtype, numbers = _TYPES[kind]
    values = np.asarray(values, dtype=numbers)
    made = TensorProto(dtype=dtype, tensor_content=values.tobytes())
    for size in values.shape:
        made.tensor_shape.dim.add(size=size)
    return made


def scalar(tag: str, value: float, new_style: bool, double: bool) -> Summary.Value:
    """A number; as a tensor in the newer form, which alone holds doubles."""
    if not (new_style or double):
        return Summary.Value(tag=tag, simple_value=value)
    return Summary.Value(
        tag=tag,
        tensor=_tensor(value, "d" if double else "f"),
        metadata=_metadata("scalars", data_class=1),
    )


def histogram(tag: str, values: Array, bins: Any, max_bins: int | None) -> Summary.Value:
    """How values are distributed; those that are not finite are left out.

    ValueError if no value is left, for a rule of NumPy that does not exist, for fewer than one bin.
    """
    values = values.ravel().astype(np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        raise ValueError(f"add_histogram: {tag} has no finite value, and needs one at least")
    if isinstance(bins, str) and bins != "tensorflow" and bins not in _RULES:
        raise ValueError(
            f"add_histogram: bins is {bins!r}, and can be 'tensorflow' or one of {', '.join(_RULES)}"
        )
    if max_bins is not None and max_bins < 1:
        raise ValueError(f"add_histogram: max_bins is {max_bins}, and has to be 1 or more")
    growing = isinstance(bins, str) and bins == "tensorflow"
    counts, edges = np.histogram(values, _EDGES if growing else bins)
    counts, edges = _merged(counts, edges, max_bins)
    filled = np.flatnonzero(counts)
    if not filled.size:
        raise ValueError(f"add_histogram: no value of {tag} lies within the bins")
    first, last = filled[0], filled[-1]
    limits = edges[first : last + 2]  # one empty bin in front says where the first one begins
    return histogram_raw(
        tag,
        values.min(),
        values.max(),
        values.size,
        values.sum(),
        values @ values,
        limits.tolist(),
        [0, *counts[first : last + 1].tolist()],
    )


def _merged(counts: Array, edges: Array, most: int | None) -> tuple[Array, Array]:
    """Neighbouring bins together, until there are `most` at most."""
    if most is None or len(counts) <= most:
        return counts, edges
    starts = np.arange(0, len(counts), -(-len(counts) // most))
    return np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])


def histogram_raw(
    tag: str,
    least: Any,
    most: Any,
    count: Any,
    total: Any,
    squares: Any,
    limits: Sequence[float],
    counts: Sequence[float],
) -> Summary.Value:
    """A distribution that the caller counted."""
    if len(limits) != len(counts):
        raise ValueError(
            f"add_histogram_raw: {len(limits)} limits and {len(counts)} counts; they go in pairs"
        )
    made = HistogramProto(
        min=least,
        max=most,
        num=count,
        sum=total,
        sum_squares=squares,
        bucket_limit=limits,
        bucket=counts,
    )
    return Summary.Value(tag=tag, histo=made)


def text(tag: str, words: str) -> Summary.Value:
    made = TensorProto(dtype=DT_STRING, string_val=[words.encode()])
    made.tensor_shape.dim.add(size=1)
    return Summary.Value(tag=f"{tag}/text_summary", tensor=made, metadata=_metadata("text"))


def curve(
    tag: str, labels: Array, predictions: Array, thresholds: int, weights: Array | None
) -> Summary.Value:
    """Precision against recall, counted at `thresholds` places from 0 to 1."""
    labels, predictions = labels.ravel().astype(bool), predictions.ravel().astype(np.float64)
    if labels.shape != predictions.shape:
        raise ValueError(
            f"add_pr_curve: {labels.size} labels and {predictions.size} predictions; they go in pairs"
        )
    if thresholds < 2:
        raise ValueError(f"add_pr_curve: num_thresholds is {thresholds}, and has to be 2 or more")
    if predictions.size and not (0 <= predictions.min() and predictions.max() <= 1):
        raise ValueError("add_pr_curve: predictions are probabilities, from 0 to 1")
    shares = (
        np.ones(labels.size) if weights is None else np.broadcast_to(weights.ravel(), labels.shape)
    )
    where = np.floor(predictions * (thresholds - 1)).astype(int)

    def above(chosen: Array) -> Array:
        counts = np.bincount(where[chosen], shares[chosen], thresholds)
        return counts[::-1].cumsum()[::-1]

    yes, no = above(labels), above(~labels)
    return curve_raw(tag, yes, no, no[0] - no, yes[0] - yes, None, None, thresholds)


def curve_raw(
    tag: str, tp: Any, fp: Any, tn: Any, fn: Any, precision: Any, recall: Any, thresholds: int
) -> Summary.Value:
    """A curve by its counts: true and false positives, true and false negatives."""
    tp, fp, tn, fn = (array(x, "add_pr_curve_raw").astype(float) for x in (tp, fp, tn, fn))
    precision = (
        tp / np.maximum(tp + fp, 1e-7)
        if precision is None
        else array(precision, "add_pr_curve_raw")
    )
    recall = tp / np.maximum(tp + fn, 1e-7) if recall is None else array(recall, "add_pr_curve_raw")
    rows = [tp, fp, tn, fn, precision, recall]
    if any(row.shape != (thresholds,) for row in rows):
        shapes = ", ".join(str(row.shape) for row in rows)
        raise ValueError(f"add_pr_curve_raw: shapes are {shapes}, and have to be ({thresholds},)")
    content = PrCurvePluginData(version=0, num_thresholds=thresholds).SerializeToString()
    return Summary.Value(tag=tag, tensor=_tensor(rows), metadata=_metadata("pr_curves", content))


_PARTS = {"VERTEX": "f", "FACE": "i", "COLOR": "i"}


def mesh(tag: str, parts: Mapping[str, Array | None], config: Mapping[str, Any] | None) -> Summary:
    """Points, triangles and colours, each a summary of its own that names the others."""
    given = {name: part for name, part in parts.items() if part is not None}
    for name, part in given.items():
        if part.ndim != 3 or part.shape[2] != 3:
            raise AssertionError(
                f"add_mesh: {name.lower()} data are {part.shape}, and have to be (B, N, 3)"
            )
    kinds = dict(MeshPluginData.ContentType.items())
    components = sum(1 << kinds[name] for name in given)
    settings = json.dumps(dict(config or {}), sort_keys=True)
    made = Summary()
    for name, part in given.items():
        content = MeshPluginData(
            version=0,
            name=tag,
            content_type=kinds[name],
            json_config=settings,
            shape=part.shape,
            components=components,
        ).SerializeToString()
        metadata = _metadata("mesh", content)
        made.value.add(tag=f"{tag}_{name}", tensor=_tensor(part, _PARTS[name]), metadata=metadata)
    return made


def layout(charts: Any) -> Summary.Value:
    """{category: {chart: [kind, tags]}} for the tab of custom scalars."""
    made = Layout()
    try:
        for category, inside in charts.items():
            made.category.append(
                Category(title=category, chart=[_chart(name, *of) for name, of in inside.items()])
            )
    except (AttributeError, TypeError) as error:
        raise TypeError(
            "add_custom_scalars takes {category: {chart: ['Multiline' or 'Margin', [tags]]}}, "
            f"and got {charts!r}"
        ) from error
    tensor = TensorProto(dtype=DT_STRING, string_val=[made.SerializeToString()])
    return Summary.Value(
        tag="custom_scalars__config__", tensor=tensor, metadata=_metadata("custom_scalars")
    )


def _chart(title: str, kind: str, tags: Sequence[str]) -> Chart:
    made = Chart(title=title)
    if kind == "Multiline":
        made.multiline.tag.extend(tags)
    elif kind == "Margin":
        if len(tags) != 3:
            raise ValueError(f"add_custom_scalars: Margin takes value, lower and upper, not {tags}")
        value, lower, upper = tags
        made.margin.series.add(value=value, lower=lower, upper=upper)
    else:
        raise ValueError(
            f"add_custom_scalars: {kind!r} is no chart; there are Multiline and Margin"
        )
    return made


def whole(tag: str, values: Array) -> Summary.Value:
    """All numbers of an array: whole ones of up to 32 bits as they are, others as floats or doubles."""
    whole = values.dtype == np.int32 or (values.dtype.kind in "biu" and values.dtype.itemsize < 4)
    kind = "f" if values.dtype == np.float32 else "i" if whole else "d"
    return Summary.Value(
        tag=tag, tensor=_tensor(values, kind), metadata=_metadata("tensor", data_class=2)
    )
