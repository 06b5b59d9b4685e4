import numpy

import acl

devices = [acl.Device(number).use() for number in range(acl.Device.count())]
comms, arrays, graphs = acl.Communicator.all(devices), [], []
for comm in comms:
    with comm.device:
        arrays.append(acl.DeviceArray.from_numpy(numpy.full(2, comm.rank + 1, "f4")))

# One call of each rank, and one wait at the end of the group.
with acl.Communicator.group():
    for comm, array in zip(comms, arrays):
        with comm.device:
            comm.all_reduce(array, out=array)
print(*arrays)

# The same with streams, captured and replayed twice.
streams = []
for comm, array in zip(comms, arrays):
    with comm.device:
        streams.append(acl.Stream())
        with acl.capture(streams[-1]) as graph:
            comm.all_reduce(array, out=array, stream=streams[-1])
        graphs.append(graph)
for _ in range(2):
    for comm, graph, stream in zip(comms, graphs, streams):
        with comm.device:
            graph.replay(stream)
for stream in streams:
    stream.synchronize()
print(*arrays)

for resource in (*graphs, *streams, *comms, *devices):
    resource.close()
