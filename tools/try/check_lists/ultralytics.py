"""ultralytics: YOLO trains, is saved, predicts, and has its other tasks."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
import torch
import yaml
from PIL import Image
from ultralytics import YOLO

from .given import filled, normal


def _pictures(folder: str) -> str:
    os.makedirs(f"{folder}/images/train")
    os.makedirs(f"{folder}/labels/train")
    for number in range(4):
        pixels = np.random.randint(0, 255, (64, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(f"{folder}/images/train/{number}.jpg")
        with open(f"{folder}/labels/train/{number}.txt", "w") as file:
            file.write("0 0.5 0.5 0.3 0.3\n")
    with open(f"{folder}/d.yaml", "w") as file:
        yaml.safe_dump(
            {"path": folder, "train": "images/train", "val": "images/train", "names": {0: "a"}},
            file,
        )
    return f"{folder}/d.yaml"


def networks() -> Any:
    model = filled(YOLO("yolov8n.yaml").model).eval()
    x = normal(1, 3, 64, 64)
    out = model(x)[0]
    classes = filled(YOLO("yolov8n-cls.yaml").model).eval()
    return [out, classes(x)[0]]


def trains_validates_and_predicts() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = _pictures(folder)
        model = YOLO("yolov8n.yaml")
        options = {
            "imgsz": 64,
            "batch": 2,
            "device": "cpu",
            "workers": 0,
            "project": folder,
            "plots": False,
            "verbose": False,
        }
        model.train(data=data, epochs=1, amp=False, **options)
        again = YOLO(str(model.trainer.last))
        found = again.predict(np.zeros((64, 64, 3), np.uint8), verbose=False, conf=0.0001)
        assert len(found) == 1 and found[0].boxes.xyxy.shape[1] == 4
        model.val(data=data, **options)


def other_tasks() -> None:
    for name in ("yolov8n-seg.yaml", "yolov8n-pose.yaml", "yolo11n.yaml"):
        found = YOLO(name).predict(
            np.zeros((64, 64, 3), np.uint8), imgsz=64, verbose=False, device="cpu"
        )
        assert len(found) == 1


def operators() -> Any:
    from ultralytics.utils import nms, ops

    boxes = ops.xywh2xyxy(torch.tensor([[10.0, 10, 4, 6], [11, 10, 4, 6]]))
    guess = torch.zeros(1, 6, 3)
    guess[0, :4] = torch.tensor([10.0, 10, 4, 6])[:, None]
    guess[0, 4] = torch.tensor([0.9, 0.8, 0.1])
    kept = nms.non_max_suppression(guess, conf_thres=0.25)
    assert kept[0].shape == (1, 6)
    return [boxes, ops.xyxy2xywh(boxes)]
