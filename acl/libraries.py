"""Names of the libraries that a toolkit has, without ``lib`` and ``.so``.

``acl._lib`` opens them, and the simulator's Makefile runs this file to learn which ones to build. It imports nothing.
"""

# The libraries of a toolkit that export the declared names, in the order of opening; only the first is required.
VENDOR = (
    "ascendcl",
    "acl_rt",
    "acl_mdl",
    "acl_op_executor",
    "acl_op_compiler",
    "acl_cblas",
    "acl_tdt_channel",
    "acl_tdt_queue",
    "msprofiler",
    "nnopbase",
    "opapi",
    "opapi_math",
    "opapi_nn",
    "opapi_cv",
    "opapi_transformer",
    "ascend_dump",
    "platform",
    "acl_prof",
    "profapi",
)
# Other libraries that programs link beside AscendCL; their names are declared in acl/abi/extra.
OTHERS = (
    "hccl",
    "hcomm",
    "hccl_plf",
    "ge_runner",
    "graph",
    "fmk_parser",
    "acl_rt_impl",
    "runtime",
    "c_sec",
    "ascend_hal",
    "acl_dvpp",
    "ms_tools_ext",
)

if __name__ == "__main__":
    print(*VENDOR, *OTHERS)
