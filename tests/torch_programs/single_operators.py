"""Trains with jit_compile=True, where torch_npu calls operators by their GE type, beside the CPU."""

import json
import re

import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")


class Classifier(torch.nn.Module):
    """Tokens, a normalization, an attention of one head, an activation."""

    def __init__(self):
        super().__init__()
        self.tokens, self.norm = torch.nn.Embedding(16, 8), torch.nn.LayerNorm(8)
        self.queries, self.values = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
        self.last = torch.nn.Sequential(torch.nn.GELU(approximate="tanh"), torch.nn.Linear(8, 4))

    def forward(self, places):
        x = self.norm(self.tokens(places))
        weights = torch.softmax(self.queries(x) @ x.transpose(1, 2) / 8**0.5, -1)
        return self.last((weights @ self.values(x)).mean(1))


def train(device):
    """Return the losses of ten steps."""
    torch.manual_seed(3)
    model, places = Classifier().to(device), torch.randint(0, 16, (12, 5)).to(device)
    wanted, losses = torch.arange(12).remainder(4).to(device), []
    chosen = torch.optim.Adam(model.parameters(), 0.05)
    for _ in range(10):
        chosen.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(places), wanted)
        loss.backward()
        chosen.step()
        losses.append(loss.item())
    return losses


def missing():
    """Return the name of an operator that the simulator does not know, from the error of torch_npu."""
    try:
        chances, lengths = torch.zeros(7, 2, 5, device="npu").log_softmax(2), torch.tensor([3, 3])
        loss = torch.nn.functional.ctc_loss(chances, torch.ones(2, 3).long().npu(), 2 * lengths, lengths)
        return loss.tolist()
    except RuntimeError as error:
        return re.search(r"does not know operator (\w+)", str(error)).group(1)


if __name__ == "__main__":
    expected = train("cpu")
    torch.npu.set_compile_mode(jit_compile=True)
    torch.npu.matmul.allow_hf32 = False
    losses = train("npu")
    away = max(abs(one - other) for one, other in zip(losses, expected))
    picked = torch.eye(2, device="npu").flip(0).nonzero().tolist()
    print(json.dumps({"away": away, "first": losses[0], "last": losses[-1], "picked": picked, "missing": missing()}))
