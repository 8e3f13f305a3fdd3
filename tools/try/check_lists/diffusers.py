"""diffusers: networks, schedulers of noise, a pipeline, files."""

from __future__ import annotations

import tempfile
from typing import Any

import diffusers
import torch

from .given import filled, gradients, normal, trained

BLOCKS = {"block_out_channels": (8, 16), "norm_num_groups": 4, "layers_per_block": 1}


def _unet() -> Any:
    return filled(
        diffusers.UNet2DModel(
            sample_size=8,
            in_channels=3,
            out_channels=3,
            **BLOCKS,
            down_block_types=("DownBlock2D", "AttnDownBlock2D"),
            up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        )
    )


def unet() -> Any:
    model = _unet()
    out = model(normal(2, 3, 8, 8), torch.tensor([1, 5])).sample
    out.square().mean().backward()
    return [out, *gradients(model)[:3]]


def unet_with_text() -> Any:
    model = filled(
        diffusers.UNet2DConditionModel(
            sample_size=8,
            in_channels=4,
            out_channels=4,
            **BLOCKS,
            cross_attention_dim=12,
            attention_head_dim=4,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        )
    )
    out = model(normal(2, 4, 8, 8), torch.tensor([1, 5]), normal(2, 5, 12)).sample
    out.square().mean().backward()
    return [out, *gradients(model)[:3]]


def unet_1d() -> Any:
    model = filled(
        diffusers.UNet1DModel(
            sample_size=64,
            in_channels=2,
            out_channels=2,
            block_out_channels=(32, 32, 64),
            extra_in_channels=64,
        )
    )
    return model(normal(2, 2, 64), torch.tensor([3])).sample


def autoencoder() -> Any:
    model = filled(
        diffusers.AutoencoderKL(
            block_out_channels=(8, 16),
            norm_num_groups=4,
            latent_channels=2,
            sample_size=8,
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
        )
    )
    x = normal(1, 3, 8, 8)
    where = model.encode(x).latent_dist
    out = model.decode(where.mode()).sample
    (out.square().mean() + where.kl().mean()).backward()
    return [out, where.kl(), *gradients(model)[:3]]


def vector_quantizer() -> Any:
    model = filled(
        diffusers.VQModel(
            block_out_channels=(8,), norm_num_groups=4, latent_channels=2, num_vq_embeddings=5
        )
    )
    return model(normal(1, 3, 8, 8)).sample


def diffusion_transformer() -> Any:
    model = filled(
        diffusers.DiTTransformer2DModel(
            num_attention_heads=2,
            attention_head_dim=4,
            in_channels=3,
            num_layers=2,
            sample_size=8,
            norm_num_groups=4,
            num_embeds_ada_norm=10,
        )
    ).eval()
    return model(
        normal(2, 3, 8, 8), timestep=torch.tensor([1, 5]), class_labels=torch.tensor([1, 2])
    ).sample


def control_net() -> Any:
    model = filled(
        diffusers.ControlNetModel(
            in_channels=4,
            **BLOCKS,
            cross_attention_dim=12,
            attention_head_dim=4,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            conditioning_embedding_out_channels=(4, 8),
        )
    )
    down, middle = model(
        normal(1, 4, 8, 8),
        torch.tensor([3]),
        normal(1, 5, 12),
        normal(1, 3, 16, 16),
        return_dict=False,
    )
    return [*down, middle]


def _steps(kind: str, **options: Any) -> list[Any]:
    made = getattr(diffusers, kind)(num_train_timesteps=50, **options)
    made.set_timesteps(6)
    x, found = normal(1, 3, 4, 4) * getattr(made, "init_noise_sigma", 1.0), []
    for time in made.timesteps:
        seen = made.scale_model_input(x, time) if hasattr(made, "scale_model_input") else x
        x = made.step(seen.tanh(), time, x).prev_sample
        found.append(x)
    if hasattr(made, "add_noise"):
        found.append(made.add_noise(normal(1, 3, 4, 4), normal(1, 3, 4, 4), made.timesteps[:1]))
    assert all(bool(one.isfinite().all()) for one in found)
    return found


def ddim() -> Any:
    return _steps("DDIMScheduler")


def ddpm() -> None:
    _steps("DDPMScheduler")


def euler() -> Any:
    return _steps("EulerDiscreteScheduler")


def euler_ancestral() -> None:
    _steps("EulerAncestralDiscreteScheduler")


def dpm_solver() -> Any:
    return _steps("DPMSolverMultistepScheduler")


def heun_and_lms() -> Any:
    return [_steps("HeunDiscreteScheduler"), _steps("LMSDiscreteScheduler")]


def pndm_and_unipc() -> Any:
    return [_steps("PNDMScheduler"), _steps("UniPCMultistepScheduler")]


def flow_matching() -> Any:
    return _steps("FlowMatchEulerDiscreteScheduler")


def pipeline_and_files() -> None:
    pipe = diffusers.DDPMPipeline(_unet(), diffusers.DDPMScheduler(num_train_timesteps=20))
    pipe.set_progress_bar_config(disable=True)
    one = pipe(
        batch_size=1,
        num_inference_steps=3,
        generator=torch.Generator().manual_seed(0),
        output_type="np",
    ).images
    with tempfile.TemporaryDirectory() as folder:
        pipe.save_pretrained(folder)
        again = diffusers.DDPMPipeline.from_pretrained(folder)
        again.set_progress_bar_config(disable=True)
    two = again(
        batch_size=1,
        num_inference_steps=3,
        generator=torch.Generator().manual_seed(0),
        output_type="np",
    ).images
    assert one.shape == (1, 8, 8, 3) and abs(one - two).max() < 1e-6


def trains_with_averages() -> Any:
    from diffusers.training_utils import EMAModel

    model, noise = _unet(), normal(2, 3, 8, 8)
    schedule = diffusers.DDPMScheduler(num_train_timesteps=20)
    times = torch.tensor([3, 15])
    seen = schedule.add_noise(normal(2, 3, 8, 8), noise, times)
    average = EMAModel(model.parameters(), decay=0.9)
    losses = trained(model, lambda: (model(seen, times).sample - noise).square().mean())
    average.step(model.parameters())
    average.copy_to(model.parameters())
    return losses
