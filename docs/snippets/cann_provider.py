import numpy
import onnxruntime

provider = ("CANNExecutionProvider", {"enable_cann_graph": "1"})
session = onnxruntime.InferenceSession("add.onnx", providers=[provider])
a = numpy.arange(6, dtype="f4").reshape(2, 3)
print(session.get_providers()[0], session.run(None, {"a": a, "b": a})[0].tolist())
