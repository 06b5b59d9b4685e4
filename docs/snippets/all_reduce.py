import threading

import numpy

import acl


def run(rank, size, root_info):
    with acl.Device(rank), acl.Communicator(rank, size, root_info) as comm:
        array = acl.DeviceArray.from_numpy(numpy.array([rank, 10 * rank, 1], "f4"))
        total = comm.all_reduce(array)
        rows = comm.all_gather(total[:1])
        print(f"rank {rank}: {total} {rows.shape}\n", end="")


with acl.Device(0):
    size, root_info = acl.Device.count(), acl.Communicator.root_info()
threads = [threading.Thread(target=run, args=(rank, size, root_info)) for rank in range(size)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
