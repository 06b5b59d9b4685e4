"""The names that torch_npu links, or looks up when it runs, in the libraries of CANN: four versions from the index."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import acl

pytestmark = [pytest.mark.client, pytest.mark.needs_sim]

VERSIONS = ["2.5.1", "2.8.0", "2.13.0", "2.14.0"]
HEAD = 16  # bytes of a constant that compilers put together strings of
PREFIX = (
    r"acl(?:[a-z]*[A-Z]|shmemx?_)|shmem_|mstx[A-Z]|mspti[A-Z]|Msprof[A-Z]|hal[A-Z]|Aml[A-Z]|Aoe[A-Z]|L(?:cal|ccl)[A-Z]"
    r"|dcmi(?:v2)?_|PTA[A-Z]|(?:Un)?Init(?:HugeMem|PTA)|ReleaseHuge|SetPTA|CanUsePTA|AddTensorAddr"
)
NAME = re.compile(rf"(?<!\w)(?:{PREFIX})\w+(?=\0)".encode())
# Functions of collective communication have tests of their own.
LINKED = re.compile(r"(?:acl|mstx|Msprof|hal|drv|rt)[A-Z]?\w*[A-Z]\w*")

# Names that are not here, by the reason why programs run without them.
ABSENT = {
    "torch_npu asks for them, and goes another way without them": """
        InitHugeMemThreadLocal ReleaseHugeMem UnInitHugeMemThreadLocal aclprofGetSupportedFeatures
        aclprofGetSupportedFeaturesV2 aclprofRegisterDeviceCallback aclprofWarmup mstxMemHeapRegister
        mstxMemHeapUnregister mstxMemRegionsRegister mstxMemRegionsUnregister""",
    "names of functions inside torch_npu, in messages": """
        AmlAicoreDetectOnlineFace AmlP2PDetectOnlineFace LcclAllgather LcclAllreduce LcclCommInit LcclCommInitRankLocal
        aclProfilingCreateConfig aclProfilingDestroyConfig aclProfilingInit aclProfilingStart aclProfilingStop
        aclQueryEventRecordedStatus aclQueryEventWaitStatus aclStressDetect aclnnNotFound aclnnNotFoundV2
        mstxDomainExclude mstxDomainInclude""",
    "libraries beside CANN, each opened by the one call of torch_npu that needs it, which names what is missing": """
        AmlAicoreDetectOnline AmlP2PDetectOnline AoeCreateSession AoeDestroySession AoeFinalize AoeInitialize
        AoeSetDependGraphs AoeSetDependGraphsInputs AoeSetGeSession AoeSetTuningGraph AoeSetTuningGraphInput
        AoeTuningGraph LcalCommInit LcalCommInitRankLocal LcclAllGather LcclAllReduce LcclBroadcast LcclCommDestroy
        LcclReduceScatter aclshmem_finalize aclshmem_free aclshmem_malloc aclshmem_ptr aclshmemx_get_uniqueid
        aclshmemx_getmem_on_stream aclshmemx_init_attr aclshmemx_putmem_on_stream aclshmemx_set_attr_uniqueid_args
        aclshmemx_set_conf_store_tls aclskOptimize aclskScopeBegin aclskScopeEnd
        dcmi_get_affinity_cpu_info_by_device_id dcmi_get_card_num_list dcmi_get_device_id_in_card
        dcmi_get_device_pcie_info_v2 dcmi_init dcmiv2_get_affinity_cpu_info_by_dev_id
        dcmiv2_get_affinity_cpu_info_by_device_id dcmiv2_get_device_list dcmiv2_init msptiActivityDisable
        msptiActivityEnable msptiActivityFlushAll msptiActivityGetNextRecord msptiActivityIsEnabled
        msptiActivityPopExternalCorrelationId msptiActivityPushExternalCorrelationId msptiActivityRegisterCallbacks
        msptiSubscribe msptiUnsubscribe shmem_finalize shmem_free shmem_get_uniqueid shmem_malloc shmem_ptr
        shmem_set_attr shmem_set_attr_uniqueid_args shmem_set_conf_store_tls""",
    "functions that no document of CANN describes; torch_npu names them when it misses them": """
        aclnnReselectStaticKernel aclnnReselectStaticKernelWithPath""",
}
# Operators that no release of CANN documents, or only its experimental part. Without them torch_npu calls an older
# operator, or raises an exception that names them.
OPERATORS = """
    AscendFlashAttention AscendFlashAttentionGrad DropoutV3Tensor FusedAdam KvQuantSparseFlashAttention LessScalar
    MatmulAbftVerify MhcPreBackwardV2 MoeReRouting ObfuscationCalculateV2 ObfuscationSetupV2
    QuantFlashAttentionScoreGrad ROIAlign ROIAlignBackward SparseLightningIndexerGradKLLossV2
    StatelessExponentialTensor TopkV2
"""
MAY_BE_ABSENT = {name for names in ABSENT.values() for name in names.split()}
MAY_BE_ABSENT |= {f"aclnn{name}{phase}" for name in OPERATORS.split() for phase in ("", "GetWorkspaceSize")}

# Libraries of the wheels that need C++ classes of CANN, which are not here. All but the last are loaded on demand.
CLASSES = {
    "_abi_compat_ge_apis.so": "part of torchair, which compiles graphs",
    "_npu_graph_executor.so": "part of torchair",
    "_torchair.so": "part of torchair",
    "libop_plugin_atb.so": "for operators of ATB; torch_npu reports that libatb.so is missing",
    "libtorch_npu.so": "only 2.5.1, which therefore cannot be imported: it registers operators of graphs at once",
}


def names_of(path, which):
    """Return the names in the dynamic symbol table of a library, with their versions."""
    command = ["nm", "--dynamic", which, "--format=posix", str(path)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines()
    return {line.split()[0] for line in lines}


class Wheel:
    """What the libraries of one version ask for."""

    def __init__(self, version, directory):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        command += ["--implementation", "cp", "--python-version", "3.11", "-d", directory, f"torch_npu=={version}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=400)
        if "No matching distribution found" in done.stdout:
            pytest.skip(f"not run: the index has no wheel of torch_npu {version}")
        assert done.returncode == 0, done.stdout
        self.linked = {}  # by library
        self.asked = set()
        self.heads = set()  # of names that code puts together from constants
        (path,) = directory.glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            for member in wheel.namelist():
                if member.endswith(".so"):
                    self.read(wheel.extract(member, directory), member.rsplit("/", 1)[-1])

    def read(self, path, name):
        self.linked[name] = names_of(path, "--undefined-only")
        with open(path, "rb") as file:
            data = file.read()
        for found in NAME.finditer(data):
            text = found.group().decode()
            # Constants that follow each other read like one name.
            joined = found.start() % HEAD == 0 and (len(text) == HEAD or re.search(PREFIX, text[HEAD:]))
            (self.heads if joined else self.asked).add(text[:HEAD] if joined else text)
        at = data.find(b"acl")
        while at != -1:
            head = data[at : at + HEAD]
            # Neither part of a C++ type, whose name has its length in front, nor of a message.
            is_text = data[at - 1 : at].isdigit() or re.match(rb"\w+[ -~]", data[at : at + 4 * HEAD])
            if at % HEAD == 0 and not is_text and re.fullmatch(rb"acl[a-z]*[A-Z]\w+", head):
                self.heads.add(head.decode())
            at = data.find(b"acl", at + 1)


@pytest.fixture(scope="module")
def here():
    return set().union(*(names_of(path, "--defined-only") for path in Path(acl.get_lib()).glob("*.so")))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    made = {}

    def wheel(version):
        if version not in made:
            made[version] = Wheel(version, tmp_path_factory.mktemp(version))
        return made[version]

    return wheel


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_linked_is_here(wheels, here, version):
    linked = wheels(version).linked
    assert "libtorch_npu.so" in linked
    names = {name for library in linked.values() for name in library if LINKED.fullmatch(name)}
    assert len(names) >= 60 and names <= here, sorted(names - here)
    classes = {library for library, of in linked.items() if any(re.match("_ZNK?(2ge|3atb)", name) for name in of)}
    assert classes <= CLASSES.keys() and ("libtorch_npu.so" in classes) == (version == "2.5.1")
    print(f"torch_npu {version}: {len(names)} functions are linked")


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_looked_up_is_here_or_is_not_needed(wheels, here, version):
    wheel = wheels(version)
    missing = wheel.asked - here
    assert len(wheel.asked) >= 1400
    assert missing <= MAY_BE_ABSENT, sorted(missing - MAY_BE_ABSENT)
    known = here | MAY_BE_ABSENT
    assert not [head for head in wheel.heads if not any(name.startswith(head) for name in known)]
    print(f"torch_npu {version}: {len(wheel.asked)} names are looked up, {len(missing)} are not here")


def test_the_table_has_no_name_that_nothing_asks_for(wheels):
    asked = set().union(*(wheels(version).asked | wheels(version).heads for version in VERSIONS))
    assert not MAY_BE_ABSENT - asked
