"""Trains models of other projects for one epoch on the CPU and on the NPU, and prints how far the losses are apart.

``python projects.py [NAME...]`` needs torch, torch_npu, transformers, peft and accelerate, and a toolkit of the
simulator. It prints one JSON object per project.
"""

import json
import sys
import tempfile

import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")
from torch import nn


class Texts(torch.utils.data.Dataset):
    """Random texts, whose labels are the texts."""

    def __len__(self):
        return 48

    def __getitem__(self, place):
        text = torch.randint(0, 64, (24,), generator=torch.Generator().manual_seed(place))
        return {"input_ids": text, "labels": text}


def by_transformers(device):
    """Train a GPT-2 with random weights, with the trainer of transformers."""
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

    set_seed(3)
    none = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=4, **none))
    with tempfile.TemporaryDirectory() as place:
        chosen = TrainingArguments(
            place, num_train_epochs=1, per_device_train_batch_size=8, logging_steps=1, report_to=[], seed=3,
            use_cpu=device == "cpu", save_strategy="no", learning_rate=1e-3, disable_tqdm=True,
        )  # fmt: skip
        trainer = Trainer(model=model, args=chosen, train_dataset=Texts())
        trainer.train()
        assert next(model.parameters()).device.type == device
        return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def images(count=32):
    """Return a loader of random images and their classes."""
    torch.manual_seed(5)
    data = torch.utils.data.TensorDataset(torch.randn(count, 3, 64, 64), torch.randint(0, 10, (count,)))
    return torch.utils.data.DataLoader(data, batch_size=8, num_workers=2)


def epoch(model, loader, chosen, device, backward=lambda loss: loss.backward()):
    """Return the losses of one epoch."""
    losses = []
    for x, expected in loader:
        loss = nn.functional.cross_entropy(model(x.to(device)), expected.to(device))
        chosen.zero_grad()
        backward(loss)
        chosen.step()
        losses.append(loss.item())
    return losses


def by_peft(device):
    """Train the low-rank adapters that peft adds to a BERT with random weights."""
    from peft import LoraConfig, get_peft_model
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(4)
    none = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    model = BertForSequenceClassification(BertConfig(vocab_size=64, num_labels=3, **small, **none))
    model = get_peft_model(model, LoraConfig(task_type="SEQ_CLS", r=4, lora_dropout=0.0)).to(device).train()
    chosen = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], 1e-2)
    losses = []
    for place in range(8):
        texts = torch.stack([Texts()[8 * place + row]["input_ids"] for row in range(8)]).to(device)
        loss = model(input_ids=texts, labels=texts[:, 0] % 3).loss
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        losses.append(loss.item())
    return losses


def by_accelerate(device):
    """Train a perceptron as accelerate has it: it finds the device itself."""
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(reset_partial_state=True)  # it keeps the first device of a process
    accelerator = Accelerator(cpu=device == "cpu")
    assert accelerator.device.type == device
    torch.manual_seed(4)
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64 * 64, 32), nn.BatchNorm1d(32), nn.SiLU(), nn.Linear(32, 10))
    chosen = torch.optim.Adam(model.parameters(), 1e-3)
    model, chosen, loader = accelerator.prepare(model, chosen, images())
    return epoch(model, loader, chosen, device, accelerator.backward)


PROJECTS = {"transformers": by_transformers, "peft": by_peft, "accelerate": by_accelerate}


def main(names):
    """Train them all, or the named ones."""
    torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = False  # the default rounds float32 to 11 bits
    for name in names or PROJECTS:
        found = [PROJECTS[name](device) for device in ("cpu", "npu")]
        away = max(abs(one - other) for one, other in zip(*found))
        print(json.dumps({"name": name, "away": away, "cpu": found[0], "npu": found[1]}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
