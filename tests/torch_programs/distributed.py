"""``torchrun --nproc-per-node N distributed.py calls|data|sharded|tensor|speed`` with the backend ``hccl``.

Rank 0 prints JSON objects: that all calls were right, how far losses are away from those of one process, or times.
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401 (gives torch the device "npu")
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

RANK, COUNT = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
NPU = torch.device("npu", int(os.environ["LOCAL_RANK"]))
STEPS, BATCH, WORDS, CONTEXT, DIM, HEADS = 50, 8, 40, 12, 32, 4


def say(**found):
    """Print an object on rank 0."""
    if RANK == 0:
        print(json.dumps(found), flush=True)


# ---- every kind of call ----


def full(value, *shape, dtype=torch.float32):
    return torch.full(shape or (5,), value, dtype=dtype, device=NPU)


def all_reduce():
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64):
        x = full(RANK + 1, dtype=dtype)
        dist.all_reduce(x)
        yield x, COUNT * (COUNT + 1) // 2
    for op, expected in ((dist.ReduceOp.MAX, COUNT), (dist.ReduceOp.MIN, 1), (dist.ReduceOp.AVG, (COUNT + 1) / 2)):
        x = full(float(RANK + 1))
        dist.all_reduce(x, op=op)
        yield x, expected
    x = full(RANK == 1, dtype=torch.bool)
    dist.all_reduce(x)
    yield x, True


def gather_and_scatter():
    parts = [full(-1.0) for _ in range(COUNT)]
    dist.all_gather(parts, full(float(RANK)))
    yield torch.stack(parts)[:, 0], torch.arange(COUNT)
    whole = full(-1.0, 3 * COUNT)
    dist.all_gather_into_tensor(whole, full(float(RANK), 3))
    yield whole.reshape(COUNT, 3)[:, 2], torch.arange(COUNT)
    mine = full(-1.0)
    dist.reduce_scatter(mine, [full(float(place)) for place in range(COUNT)])
    yield mine, RANK * COUNT
    mine = full(-1.0, 2)
    dist.reduce_scatter_tensor(mine, torch.arange(2.0 * COUNT, device=NPU))
    yield mine, torch.tensor([2.0 * RANK, 2.0 * RANK + 1]) * COUNT
    mine = full(-1.0)
    dist.scatter(mine, [full(float(place)) for place in range(COUNT)] if RANK == 0 else None)
    yield mine, RANK
    parts = [full(-1.0) for _ in range(COUNT)] if RANK == 0 else None
    dist.gather(full(float(RANK)), parts)
    if RANK == 0:
        yield torch.stack(parts)[:, 0], torch.arange(COUNT)


def one_to_all():
    x = full(float(RANK))
    dist.broadcast(x, COUNT - 1)
    yield x, COUNT - 1
    x = full(float(RANK + 1))
    dist.reduce(x, 0)
    if RANK == 0:
        yield x, COUNT * (COUNT + 1) // 2
    everyone, first = [None] * COUNT, [{"rank": RANK}]
    dist.all_gather_object(everyone, "x" * RANK)
    dist.broadcast_object_list(first, 0)
    yield torch.tensor([len(each) for each in everyone]), torch.arange(COUNT)
    yield torch.tensor(first[0]["rank"]), 0
    dist.barrier()


def all_to_all():
    x = full(-1.0, COUNT)
    dist.all_to_all_single(x, torch.arange(float(COUNT), device=NPU) + 10 * RANK)
    yield x, 10 * torch.arange(COUNT) + RANK
    sent, received = [place + 1 for place in range(COUNT)], [RANK + 1] * COUNT
    x = full(-1.0, sum(received))
    dist.all_to_all_single(x, full(float(RANK), sum(sent)), received, sent)
    yield x, torch.arange(COUNT).repeat_interleave(RANK + 1)
    parts = [full(-1.0) for _ in range(COUNT)]
    dist.all_to_all(parts, [full(float(10 * RANK + place)) for place in range(COUNT)])
    yield torch.stack(parts)[:, 0], 10 * torch.arange(COUNT) + RANK


def messages():
    following, before = (RANK + 1) % COUNT, (RANK - 1) % COUNT
    x = full(-1.0)
    pairs = [dist.P2POp(dist.isend, full(float(RANK)), following), dist.P2POp(dist.irecv, x, before)]
    for work in dist.batch_isend_irecv(pairs):
        work.wait()
    yield x, before
    x = full(-1.0, 5000)
    if RANK == 0:
        dist.send(full(7.0, 5000), 1)
    if RANK == 1:
        dist.recv(x, 0)
        yield x, 7


def groups():
    halves = [dist.new_group(list(range(start, COUNT, 2))) for start in (0, 1)]
    x = full(1.0)
    dist.all_reduce(x, group=halves[RANK % 2])
    yield x, (COUNT + 1 - RANK % 2) // 2
    inner = init_device_mesh("npu", (2, COUNT // 2), mesh_dim_names=("outer", "inner"))["inner"].get_group()
    x = full(float(RANK))
    dist.all_reduce(x, group=inner)
    half = COUNT // 2
    start = RANK // half * half
    yield x, sum(range(start, start + half))


def calls():
    """Make all kinds of calls; each says what it got and what it should have got."""
    for function in (all_reduce, gather_and_scatter, one_to_all, all_to_all, messages, groups):
        for number, (found, expected) in enumerate(function()):
            found = found.cpu().double()
            wrong = (found != torch.as_tensor(expected).double()).any().item()
            assert not wrong, (function.__name__, number, found.tolist(), expected)
    say(calls="right")


# ---- training ----


class Block(torch.nn.Module):
    """Attention and two layers, whose matrices can be divided among ranks by heads and columns."""

    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(DIM) for _ in range(2))
        self.q, self.k, self.v, self.o = (torch.nn.Linear(DIM, DIM, bias=False) for _ in range(4))
        self.up, self.down = torch.nn.Linear(DIM, 4 * DIM), torch.nn.Linear(4 * DIM, DIM)

    def forward(self, x):
        inner = self.norms[0](x)
        heads = [layer(inner).unflatten(-1, (-1, DIM // HEADS)).transpose(1, 2) for layer in (self.q, self.k, self.v)]
        scores = heads[0] @ heads[1].transpose(-1, -2) / (DIM // HEADS) ** 0.5
        late = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(late, -1e4).softmax(-1)
        x = x + self.o((weights @ heads[2]).transpose(1, 2).flatten(-2))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x)), approximate="tanh"))


class Gpt(torch.nn.Module):
    """Two blocks over words and places."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.words, self.places = torch.nn.Embedding(WORDS, DIM), torch.nn.Embedding(CONTEXT, DIM)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(2))
        self.last = torch.nn.Linear(DIM, WORDS)

    def forward(self, x):
        x = self.words(x) + self.places(torch.arange(CONTEXT, device=x.device))
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def train(model, divides):
    """Train for some steps; return the losses over the whole batch, of which a rank may have a part."""
    chosen = torch.optim.SGD(model.parameters(), 0.1, foreach=False)
    losses = []
    for step in range(STEPS):
        x = torch.randint(WORDS, (BATCH, CONTEXT + 1), generator=torch.Generator().manual_seed(step))
        if divides:
            x = x.chunk(COUNT)[RANK]
        x = x.to(NPU)
        chosen.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        chosen.step()
        losses.append(loss.detach())
    losses = torch.stack(losses)
    if divides:
        dist.all_reduce(losses)
        losses /= COUNT
    return losses.cpu()


def compare(kind, model, divides=True):
    """Compare losses with those of one process that has the whole batch."""
    losses, alone = train(model, divides), train(Gpt().to(NPU), False)
    say(kind=kind, away=(losses - alone).abs().max().item(), first=alone[0].item(), last=alone[-1].item())


def data():
    compare("DistributedDataParallel", DistributedDataParallel(Gpt().to(NPU), device_ids=[NPU.index]))


def sharded():
    compare("FullyShardedDataParallel", FullyShardedDataParallel(Gpt().to(NPU), device_id=NPU.index))
    model = Gpt().to(NPU)
    for block in model.blocks:
        fully_shard(block, mesh=init_device_mesh("npu", (COUNT,)))
    compare("fully_shard", fully_shard(model, mesh=init_device_mesh("npu", (COUNT,))))


def tensor():
    mesh, model = init_device_mesh("npu", (COUNT,)), Gpt().to(NPU)
    plan = {name: ColwiseParallel() for name in ("q", "k", "v", "up")}
    plan.update({name: RowwiseParallel() for name in ("o", "down")})
    for block in model.blocks:
        parallelize_module(block, mesh, plan)
    compare("parallelize_module", model, divides=False)


# ---- time ----


def speed():
    """Time a sum of 64 MiB beside gloo, and small sums that are queued and then awaited."""
    gloo = dist.new_group(backend="gloo")
    big, host, small = full(1.0, 16 << 20), torch.ones(16 << 20), full(1.0, 1)

    def seconds(action):
        times = []
        for _ in range(8):
            dist.barrier(gloo)
            start = time.perf_counter()
            action()
            torch.npu.synchronize()
            times.append(time.perf_counter() - start)
        return min(times[3:])

    def queue():
        for _ in range(1000):
            dist.all_reduce(small)

    say(big=seconds(lambda: dist.all_reduce(big)), gloo=seconds(lambda: dist.all_reduce(host, group=gloo)))
    say(small=seconds(queue) / 1000)


torch.npu.set_device(NPU)
torch.npu.matmul.allow_hf32 = False
dist.init_process_group("hccl")
globals()[sys.argv[1]]()
dist.destroy_process_group()
