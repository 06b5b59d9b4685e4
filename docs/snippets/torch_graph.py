import torch
import torch_npu  # noqa: F401 (gives torch the device "npu")

x = torch.zeros(4, device="npu")
with torch.npu.stream(torch.npu.Stream()):
    y = (x + 1) * 2  # once before the capture, as with CUDA graphs
torch.npu.synchronize()

graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    y = (x + 1) * 2
for value in (1, 5):
    x.fill_(value)
    graph.replay()
    torch.npu.synchronize()
    print(y.cpu().tolist())
