"""What a program sees of the chip: its properties, products, a training step, saturation, determinism, formats.

``python chips.py`` needs torch and torch_npu, and a toolkit of the simulator. It prints one JSON object.
"""

import json

import torch
import torch_npu

ND, BLOCKS = 2, {"NC1HWC0": 3, "FRACTAL_Z": 4, "FRACTAL_NZ": 29}


def said(function):
    """Return what a function returns, or the message of its exception."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001 (any error of the framework is a result)
        return "error: " + " ".join(str(error).split())


def products():
    """Return by type how far products are from those of the CPU, relative to the largest number."""
    found = {}
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        x, y = torch.randn(5, 20).to(kind), torch.randn(20, 7).to(kind)
        expected = x.float() @ y.float()

        def away(x=x, y=y, expected=expected):
            return ((x.npu() @ y.npu()).cpu().float() - expected).abs().max().item() / expected.abs().max().item()

        found[str(kind).removeprefix("torch.")] = said(away)
    return found


def train(device, optimizer):
    """Return the losses of a few steps."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).to(device)
    chosen = optimizer(model.parameters(), 0.1)
    x, wanted = torch.randn(6, 4).to(device), torch.tensor([0, 1, 2, 0, 1, 2]).to(device)
    losses = []
    for _ in range(4):
        chosen.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), wanted)
        loss.backward()
        chosen.step()
        losses.append(loss.item())
    return losses


def training():
    """Return by optimizer how far losses are from those of the CPU."""
    found = {}
    for optimizer in (torch.optim.SGD, torch.optim.AdamW):
        expected = train("cpu", optimizer)

        def away(optimizer=optimizer, expected=expected):
            return max(abs(one - other) for one, other in zip(train("npu", optimizer), expected))

        found[optimizer.__name__] = said(away)
    return found


def images(device):
    """Return the losses of a network of convolutions and pools."""
    torch.manual_seed(1)
    layers = [torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Conv2d(8, 8, 3)]
    layers += [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 4)]
    model, x = torch.nn.Sequential(*layers).to(device), torch.randn(4, 3, 12, 12).to(device)
    chosen, losses = torch.optim.SGD(model.parameters(), 0.1), []
    for _ in range(4):
        chosen.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), torch.arange(4).to(device))
        loss.backward()
        chosen.step()
        losses.append(loss.item())
    return losses


def overflow():
    """Return products that overflow, and what the flag of the overflow says before, after and cleared."""
    utils = torch_npu.npu.utils
    large = torch.full((2,), 60000.0, dtype=torch.float16, device="npu")
    flags = [said(utils.get_npu_overflow_flag)]
    doubled = (large * 2).tolist()
    flags += [said(utils.get_npu_overflow_flag), utils.npu_check_overflow(large * 2)]
    utils.clear_npu_overflow_flag()
    return {"keeps": utils.is_support_inf_nan(), "doubled": [str(one) for one in doubled],
            "flags": [*flags, said(utils.get_npu_overflow_flag)]}  # fmt: skip


def determinism():
    """Return whether a sum is the same twice under the switch."""
    torch.use_deterministic_algorithms(True)
    x = torch.randn(64, 64).npu()
    sums = [(x @ x).sum().item() for _ in range(2)]
    torch.use_deterministic_algorithms(False)
    return sums[0] == sums[1]


def formats():
    """Return by format what a cast gives, its bytes, and whether the values are the same; and a product."""
    x = torch.randn(2, 3, 20, 18).half().npu()
    found = {"default": int(torch_npu.get_npu_format(x))}
    for name, number in BLOCKS.items():
        y = torch_npu.npu_format_cast(x, number)
        back = torch_npu.npu_format_cast(y, found["default"])
        same = [torch.equal(one.cpu(), x.cpu()) for one in (y, back)]
        found[name] = [int(torch_npu.get_npu_format(y)), y.untyped_storage().nbytes(), *same]
    x, weight = torch.randn(5, 20).half().npu(), torch.randn(20, 33).half().npu()
    packed = torch_npu.npu_format_cast(weight, BLOCKS["FRACTAL_NZ"])
    same = torch.equal((x @ packed).cpu(), (x @ weight).cpu())
    found["product"] = [int(torch_npu.get_npu_format(packed)), same]
    return found


def main():
    """Print everything."""
    torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = False
    of = torch.npu.get_device_properties(0)
    result = {
        "name": torch.npu.get_device_name(0),
        "properties": [of.name, of.total_memory >> 20, of.cube_core_num, of.vector_core_num],
        "added": (torch.ones(3, device="npu") + 1).tolist(),
        "products": products(),
        "training": training(),
        "images": said(lambda: max(abs(one - other) for one, other in zip(images("npu"), images("cpu")))),
        "overflow": overflow(),
        "deterministic": determinism(),
        "plain": said(formats),
    }
    torch_npu.npu.config.allow_internal_format = True
    print(json.dumps({**result, "formats": said(formats)}))


if __name__ == "__main__":
    main()
