"""kornia: colours, filters, geometry, features, losses and augmentation of images."""

from __future__ import annotations

from typing import Any

import kornia as K
import torch

from .given import filled, normal, uniform


def _image(*more: int) -> Any:
    return uniform(2, 3, *(more or (24, 32))).requires_grad_()


def _with_gradient(*functions: Any) -> list[Any]:
    found = []
    for function in functions:
        x = _image()
        out = function(x)
        out.square().mean().backward()
        assert x.grad.isfinite().all()
        found += [out, x.grad]
    return found


def colours() -> Any:
    c = K.color
    return _with_gradient(
        c.rgb_to_grayscale,
        c.rgb_to_hsv,
        c.rgb_to_lab,
        c.rgb_to_yuv,
        c.rgb_to_ycbcr,
        c.rgb_to_xyz,
        c.rgb_to_hls,
        c.rgb_to_luv,
        c.linear_rgb_to_rgb,
        c.sepia,
    )


def filters() -> Any:
    f = K.filters
    return _with_gradient(
        lambda x: f.gaussian_blur2d(x, (5, 5), (1.5, 1.5)),
        f.sobel,
        f.laplacian_of_gaussian
        if hasattr(f, "laplacian_of_gaussian")
        else lambda x: f.laplacian(x, 3),
        lambda x: f.median_blur(x, 3),
        lambda x: f.box_blur(x, 3),
        lambda x: f.bilateral_blur(x, 3, 0.1, (1.0, 1.0)),
        lambda x: f.unsharp_mask(x, (3, 3), (1.0, 1.0)),
        lambda x: f.motion_blur(x, 5, 30.0, 0.5),
        f.spatial_gradient,
    )


def edges() -> Any:
    return K.filters.canny(_image().detach())


def enhancement() -> Any:
    e = K.enhance
    return _with_gradient(
        lambda x: e.adjust_brightness(x, 0.1),
        lambda x: e.adjust_contrast(x, 0.8),
        lambda x: e.adjust_gamma(x, 1.5),
        lambda x: e.adjust_hue(x, 0.3),
        lambda x: e.adjust_saturation(x, 1.2),
        lambda x: e.normalize(x, torch.tensor([0.5] * 3), torch.tensor([0.2] * 3)),
        lambda x: e.sharpness(x, 0.5),
    )


def histograms() -> Any:
    x = _image().detach()
    return [
        K.enhance.equalize(x),
        K.enhance.equalize_clahe(x, grid_size=(4, 4)),
        K.enhance.posterize(x, 3),
    ]


def warps() -> Any:
    g = K.geometry
    turn = torch.tensor([[0.9, -0.2, 1.0], [0.1, 1.1, -2.0], [0.0, 0.0, 1.0]])[None].expand(2, 3, 3)
    return _with_gradient(
        lambda x: g.rotate(x, torch.tensor([30.0])),
        lambda x: g.resize(x, (12, 20), antialias=True),
        lambda x: g.warp_affine(x, turn[:, :2], (24, 32)),
        lambda x: g.warp_perspective(x, turn, (24, 32)),
        lambda x: g.hflip(x) + g.vflip(x),
        lambda x: g.pyrdown(x),
        lambda x: g.translate(x, torch.ones(2, 2)),
        lambda x: g.scale(x, torch.tensor([1.5])),
        lambda x: g.shear(x, torch.full((2, 2), 0.2)),
    )


def homographies() -> Any:
    g = K.geometry
    a, b = uniform(1, 8, 2) * 20, uniform(1, 8, 2) * 20
    exact = torch.tensor([[[1.0, 0.1, 2], [0, 1.2, 1], [0.01, 0, 1]]])
    b = g.transform_points(exact, a)
    found = g.find_homography_dlt(a, b)
    assert torch.allclose(found / found[..., 2:, 2:], exact, atol=1e-2)
    square = g.get_perspective_transform(a[:, :4], b[:, :4])
    return [found, square]


def rotations() -> Any:
    g = K.geometry.conversions
    axis = normal(4, 3)
    matrix = g.axis_angle_to_rotation_matrix(axis)
    four = g.rotation_matrix_to_quaternion(matrix)
    return [matrix, four.abs(), g.quaternion_to_axis_angle(four), g.deg2rad(normal(3))]


def cameras() -> Any:
    k = torch.tensor([[[50.0, 0, 16], [0, 50, 12], [0, 0, 1]]])
    points = uniform(1, 6, 3) + 1
    flat = K.geometry.project_points(points, k[:, None])
    back = K.geometry.unproject_points(flat, points[..., 2:], k[:, None])
    assert torch.allclose(back, points, atol=1e-4)
    return [flat, K.geometry.depth_to_3d_v2(uniform(1, 6, 8) + 1, k)]


def features() -> Any:
    x = K.filters.gaussian_blur2d(uniform(1, 1, 48, 48), (5, 5), (1.5, 1.5))
    f = K.feature
    return [
        f.harris_response(x),
        f.gftt_response(x),
        f.hessian_response(x),
        f.dog_response_single(x, 1.0, 1.6),
    ]


def descriptors_and_matches() -> Any:
    described = K.feature.SIFTDescriptor(16)(uniform(6, 1, 16, 16))
    distances, which = K.feature.match_nn(described, described.flip(0))
    assert which[:, 1].tolist() == [5, 4, 3, 2, 1, 0]
    return [described, distances]


def losses() -> Any:
    loss = K.losses
    other = uniform(2, 3, 24, 32)
    labels = torch.from_numpy((uniform(2, 24, 32) * 3).long().numpy())
    return _with_gradient(
        lambda x: loss.ssim_loss(x, other, 5),
        lambda x: loss.psnr_loss(x, other, 1.0),
        lambda x: loss.total_variation(x),
        lambda x: loss.dice_loss(x, labels),
        lambda x: loss.focal_loss(x, labels, 0.5),
        lambda x: loss.tversky_loss(x, labels, 0.5, 0.5),
        lambda x: loss.charbonnier_loss(x, other),
        lambda x: loss.inverse_depth_smoothness_loss(x[:, :1], other),
    )


def morphology() -> Any:
    kernel = torch.ones(3, 3)
    m = K.morphology
    return _with_gradient(
        *(
            lambda x, f=f: f(x, kernel)
            for f in (m.dilation, m.erosion, m.opening, m.closing, m.gradient)
        )
    )


def augmentation_by_numbers() -> None:
    a = K.augmentation
    chain = a.AugmentationSequential(
        a.RandomHorizontalFlip(p=1.0),
        a.RandomAffine(20.0, p=1.0),
        a.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0),
        a.RandomPerspective(0.3, p=1.0),
        data_keys=["input", "mask", "keypoints"],
    )
    x, mask, points = _image(), (uniform(2, 1, 24, 32) > 0.5).float(), uniform(2, 5, 2) * 20
    out, where, moved = chain(x, mask, points)
    out.sum().backward()
    assert out.shape == x.shape and where.shape == mask.shape and x.grad.isfinite().all()
    back = chain.inverse(out, where, moved)[2]
    assert torch.allclose(back, points, atol=1e-2)


def augmentation_of_many_kinds() -> None:
    a = K.augmentation
    kinds = [
        a.RandomErasing(p=1.0),
        a.RandomGaussianBlur((3, 3), (0.1, 2.0), p=1.0),
        a.RandomSolarize(p=1.0),
    ]
    kinds += [
        a.RandomCrop((16, 16), p=1.0),
        a.RandomResizedCrop((16, 16), p=1.0),
        a.RandomGrayscale(p=1.0),
    ]
    kinds += [
        a.RandomElasticTransform(p=1.0),
        a.RandomMotionBlur(3, 35.0, 0.5, p=1.0),
        a.CenterCrop(16),
    ]
    kinds += [a.RandomGaussianNoise(p=1.0), a.RandomPosterize(p=1.0), a.RandomEqualize(p=1.0)]
    for kind in kinds:
        assert kind(_image().detach()).isfinite().all(), kind
    mixed, labels = a.RandomMixUpV2(p=1.0, data_keys=["input", "class"])(
        _image().detach(), torch.tensor([0, 1])
    )
    assert mixed.shape == (2, 3, 24, 32) and len(labels) == 2


def networks() -> Any:
    net = filled(K.feature.HardNet(pretrained=False)).eval()
    out = net(uniform(3, 1, 32, 32))
    out.sum().backward()
    return out
