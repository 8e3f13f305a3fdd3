"""captum: attributions of a network."""

from __future__ import annotations

from typing import Any

import torch
from captum import attr

from .given import filled, normal

KINDS = (
    "IntegratedGradients",
    "Saliency",
    "InputXGradient",
    "DeepLift",
    "GuidedBackprop",
    "Deconvolution",
)


def _net() -> Any:
    nn = torch.nn
    return filled(
        nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3))
    ).eval()


def by_gradients() -> Any:
    net, x = _net(), normal(2, 1, 6, 6)
    return [
        getattr(attr, kind)(net).attribute(x.clone().requires_grad_(), target=1) for kind in KINDS
    ]


def by_changes() -> Any:
    net, x = _net(), normal(2, 1, 6, 6)
    occluded = attr.Occlusion(net).attribute(x, (1, 3, 3), target=1, strides=(1, 3, 3))
    drawn = attr.ShapleyValueSampling(net).attribute(x, target=1, n_samples=2)
    assert (
        drawn.shape == x.shape
        and attr.GradientShap(net).attribute(x, torch.zeros_like(x), target=1).shape == x.shape
    )
    return [occluded, attr.FeatureAblation(net).attribute(x, target=1)]


def of_layers() -> Any:
    net, x = _net(), normal(2, 1, 6, 6)
    found = [
        attr.LayerGradCam(net, net[0]).attribute(x, target=1),
        attr.LayerActivation(net, net[1]).attribute(x),
    ]
    found += [
        attr.LayerConductance(net, net[0]).attribute(x, target=1),
        attr.NeuronGradient(net, net[0]).attribute(x, (0, 1, 1)),
    ]
    noisy = attr.NoiseTunnel(attr.Saliency(net)).attribute(x, nt_samples=2, target=1)
    assert noisy.shape == x.shape
    return found
