"""torchmetrics: metrics of every kind, kept over batches, together, in files."""

from __future__ import annotations

import pickle
from typing import Any

import torch
import torchmetrics as tm

from .given import normal, uniform, whole


def classification() -> Any:
    guess, truth = normal(40, 4).softmax(-1), whole(4, 40)
    options = {"task": "multiclass", "num_classes": 4}
    names = ("Accuracy", "F1Score", "Precision", "Recall", "AUROC", "CohenKappa", "ConfusionMatrix")
    names += ("AveragePrecision", "CalibrationError", "MatthewsCorrCoef", "JaccardIndex")
    return [getattr(tm, name)(**options)(guess, truth) for name in names]


def binary_curves_and_multilabel() -> Any:
    guess, truth = uniform(40), whole(2, 40)
    curves = [tm.ROC(task="binary"), tm.PrecisionRecallCurve(task="binary", thresholds=5)]
    many = tm.F1Score(task="multilabel", num_labels=3)(uniform(9, 3), whole(2, 9, 3))
    return [*(curve(guess, truth) for curve in curves), many]


def regression() -> Any:
    guess, truth = normal(40), normal(40)
    metrics = [tm.MeanSquaredError(), tm.MeanAbsoluteError(), tm.R2Score(), tm.PearsonCorrCoef()]
    metrics += [tm.SpearmanCorrCoef(), tm.ExplainedVariance(), tm.KendallRankCorrCoef()]
    return [metric(guess, truth) for metric in metrics]


def images() -> Any:
    a, b = uniform(2, 3, 48, 48), uniform(2, 3, 48, 48)
    image = tm.image
    metrics = [image.PeakSignalNoiseRatio(data_range=1.0), image.TotalVariation()]
    metrics += [image.StructuralSimilarityIndexMeasure(data_range=1.0)]
    metrics += [image.UniversalImageQualityIndex(), image.SpectralAngleMapper()]
    return [m(a) if isinstance(m, image.TotalVariation) else m(a, b) for m in metrics]


def text_retrieval_and_audio() -> Any:
    text = tm.text
    found = [
        text.WordErrorRate()(["a b c"], ["a b d"]),
        text.BLEUScore()(["a b c d e"], [["a b c d f"]]),
    ]
    found += [
        text.Perplexity()(normal(2, 5, 7), whole(7, 2, 5)),
        text.CharErrorRate()(["ab"], ["ac"]),
    ]
    groups = torch.tensor([0, 0, 0, 1, 1, 1])
    found += [tm.retrieval.RetrievalMAP()(uniform(6), whole(2, 6), indexes=groups)]
    found += [tm.audio.SignalNoiseRatio()(normal(100), normal(100))]
    return [*found, tm.audio.ScaleInvariantSignalDistortionRatio()(normal(100), normal(100))]


def collections_over_batches() -> Any:
    options = {"task": "multiclass", "num_classes": 3}
    both = tm.MetricCollection({"right": tm.Accuracy(**options), "f": tm.F1Score(**options)})
    mean = tm.MeanMetric()
    for _ in range(3):
        both.update(normal(8, 3), whole(3, 8))
        mean.update(normal(8))
    again = pickle.loads(pickle.dumps(both))
    first = both.compute()
    assert all(bool(again.compute()[name] == value) for name, value in first.items())
    both.reset()
    track = tm.MetricTracker(tm.MeanSquaredError(), maximize=False)
    for _ in range(2):
        track.increment()
        track.update(normal(5), normal(5))
    return [first, mean.compute(), track.compute_all()]


def a_metric_of_ones_own() -> Any:
    class Worst(tm.Metric):
        def __init__(self) -> None:
            super().__init__()
            self.add_state("worst", default=torch.tensor(0.0), dist_reduce_fx="max")

        def update(self, guess: Any, truth: Any) -> None:
            self.worst = torch.maximum(self.worst, (guess - truth).abs().max())

        def compute(self) -> Any:
            return self.worst

    metric = Worst()
    metric(normal(5), normal(5))
    copy = Worst()
    metric.persistent(True)
    copy.persistent(True)
    copy.load_state_dict(metric.state_dict())
    pair = tm.MetricCollection([metric]).to(torch.float64)
    pair["Worst"].set_dtype(torch.float64)
    return [metric.compute(), copy.compute(), (metric + 1).compute()]
