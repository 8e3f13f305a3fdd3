"""Images with argparse, meters that are reduced, synchronized batch norm and a validation: the form
of the large example.
"""

import argparse
import os
import random

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.utils.data
import torch.utils.data.distributed

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", default=2, type=int)
parser.add_argument("-b", "--batch-size", default=16, type=int)
parser.add_argument("--dist-backend", default="gloo")
parser.add_argument("--dist-url", default="env://")
parser.add_argument("--world-size", default=int(os.environ.get("WORLD_SIZE", 1)), type=int)
parser.add_argument(
    "--local-rank", "--local_rank", default=int(os.environ.get("LOCAL_RANK", 0)), type=int
)
args = parser.parse_args()


class AverageMeter:
    def __init__(self):
        self.sum = self.count = self.avg = 0.0

    def update(self, val, n=1):
        self.sum, self.count = self.sum + val * n, self.count + n
        self.avg = self.sum / self.count

    def all_reduce(self):
        total = torch.tensor([self.sum, self.count], dtype=torch.float32)
        dist.all_reduce(total, dist.ReduceOp.SUM, async_op=False)
        self.sum, self.count = total.tolist()
        self.avg = self.sum / self.count


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [
            correct[:k].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / target.size(0))
            for k in topk
        ]


random.seed(0)
torch.manual_seed(0)
args.distributed = args.world_size > 1
if args.distributed:
    dist.init_process_group(backend=args.dist_backend, init_method=args.dist_url)
model = nn.Sequential(
    nn.Conv2d(3, 8, 3),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(8, 4),
)
if args.distributed:
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model = torch.nn.parallel.DistributedDataParallel(model)
else:
    model = torch.nn.DataParallel(model)
labels = torch.arange(64) % 4
images = torch.randn(64, 3, 8, 8) * 0.1 + labels.view(-1, 1, 1, 1)
data = torch.utils.data.TensorDataset(images, labels)
sampler = torch.utils.data.distributed.DistributedSampler(data) if args.distributed else None
loader = torch.utils.data.DataLoader(
    data, batch_size=args.batch_size // args.world_size, shuffle=(sampler is None), sampler=sampler
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)
for epoch in range(args.epochs):
    if args.distributed:
        sampler.set_epoch(epoch)
    model.train()
    for batch, target in loader:
        loss = criterion(model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    losses, top1 = AverageMeter(), AverageMeter()
    model.eval()
    with torch.no_grad():
        for batch, target in loader:
            output = model(batch)
            losses.update(criterion(output, target).item(), batch.size(0))
            top1.update(accuracy(output, target, (1, 3))[0][0].item(), batch.size(0))
    if args.distributed:
        losses.all_reduce()
        top1.all_reduce()
if not args.distributed or dist.get_rank() == 0:
    print("well", losses.count == 64)
