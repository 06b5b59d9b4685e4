import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")

model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).npu()
optimizer = torch.optim.AdamW(model.parameters(), 0.02)
points = torch.randn(64, 2, device="npu")
wanted = points.prod(1, keepdim=True)
for _ in range(100):
    loss = torch.nn.functional.mse_loss(model(points), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("learned" if loss < 0.1 else loss)
