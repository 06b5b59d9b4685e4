"""Names of libraries beside AscendCL that programs link: where they are, what they do, and how the rest refuses."""

import ctypes
import errno
import re
from pathlib import Path

import pytest
from helpers import programs

import acl
from acl import abi, libraries

ROOT = Path(__file__).resolve().parent.parent
EXTRA = abi.load_extra()
LIB64 = Path(acl.get_lib())
pytestmark = pytest.mark.needs_sim

# What public programs link or look up, by the library that the vendor has it in.
LINKED = {
    "runtime": "rtDevBinaryRegister rtFunctionRegister rtGetC2cCtrlAddr rtKernelLaunch",
    "profapi": "MsprofGetHashId MsprofRegisterCallback MsprofReportAdditionalInfo MsprofReportApi "
    "MsprofReportCompactInfo MsprofSysCycleTime",
    "c_sec": "memcpy_s memmove_s memset_s strcpy_s strncpy_s strcat_s strncat_s strtok_s sprintf_s vsprintf_s "
    "snprintf_s vsnprintf_s",
    "ascend_hal": "drvGetDevNum halGetAPIVersion halGetDeviceInfo",
    "ms_tools_ext": "mstxMarkA mstxRangeStartA mstxRangeEnd mstxDomainCreateA mstxDomainDestroy mstxDomainMarkA "
    "mstxDomainRangeStartA mstxDomainRangeEnd mstxGetToolId",
}


def declared(*groups):
    return [name for name, function in EXTRA.functions.items() if function.group in groups]


COLLECTIVE = " ".join(declared("hccl", "hccl_res", "hcomm"))  # clients look for all names in both libraries
PLANS = " ".join(declared("nnopbase"))  # clients look for them in the library of operators
FILES = {
    **LINKED, "hccl": COLLECTIVE, "hcomm": COLLECTIVE, "hccl_plf": " ".join(declared("hccn_rping")), "nnopbase": PLANS,
    "opapi": PLANS,
}  # fmt: skip


def test_the_names_are_those_that_programs_link():
    named = {name for names in FILES.values() for name in names.split()}
    media = declared("dvpp")
    assert set(EXTRA.functions) == named | set(media)
    assert len(media) == 177 and all(re.match("acl(dvpp|vdec|venc)[A-Z]", name) for name in media)


def test_they_are_counted_apart():
    assert not set(EXTRA.functions) & set(abi.load().functions)


LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        puts(dlerror());
        return 1;
    }
    for (int i = 2; i < argc; i++)
        if (dlsym(library, argv[i]) == NULL)
            puts(argv[i]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def loader(tmp_path_factory):
    return programs.Compiler(tmp_path_factory.mktemp("loader"))(LOADER, "-ldl", libraries=())


@pytest.mark.parametrize("name", sorted({*libraries.OTHERS, *FILES}))
def test_a_library_loads_at_once_with_its_names(name, loader):
    done = programs.run([loader, LIB64 / f"lib{name}.so", *FILES.get(name, "aclInit").split()])
    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture(scope="module")
def library():
    return ctypes.CDLL(str(LIB64 / "libacl_dvpp.so"))


def message():
    return acl.get_recent_err_msg()


REFUSED = {
    "rtKernelLaunch": 207000,
    "rtGetC2cCtrlAddr": 207000,
    "MsprofRegisterCallback": -1,
    "MsprofReportCompactInfo": -1,
    "halGetDeviceInfo": 0xFFFE,
    "acldvppVpcResizeAsync": 207000,
    "acldvppCreatePicDesc": 0,
}


@pytest.mark.parametrize("name, code", REFUSED.items())
def test_what_has_no_behaviour_refuses_and_says_so(library, name, code):
    arguments = [None] * len(EXTRA.functions[name].params)
    message()
    assert library[name](*arguments) == code
    assert f"{name} failed because this simulator exports only its name" in message()


def test_parts_of_collectives_refuse(library):
    for name in declared("hccl_res", "hccn_rping", "hcomm"):
        if name not in ("HcommMemAlloc", "HcommMemFree"):
            arguments = [None] * len(EXTRA.functions[name].params)
            assert library[name](*arguments) == (2 if name.startswith("Hccn") else 5), name
            assert f"{name} failed because this simulator exports only its name" in message()


def test_memory_for_media(library):
    assert acl.rt.set_device(0) == 0
    address = ctypes.c_void_p()
    assert library.acldvppMalloc(ctypes.byref(address), ctypes.c_size_t(100)) == 0
    assert acl.rt.memset(address.value, 100, 7, 100) == 0
    assert library.acldvppFree(address) == 0
    assert acl.rt.memset(address.value, 100, 7, 100) == 107000
    assert library.acldvppMalloc(None, ctypes.c_size_t(1)) == 100000
    assert "acldvppMalloc failed because devPtr is NULL" in message()
    assert library.acldvppMalloc(ctypes.byref(address), ctypes.c_size_t(0)) == 100000
    assert "acldvppMalloc failed because size is 0, expected at least 1" in message()
    assert library.acldvppMallocWithCfg(ctypes.byref(address), ctypes.c_size_t(64), 0, None) == 0
    assert library.acldvppFree(address) == 0
    assert library.acldvppFree(None) == 100000
    assert "acldvppFree failed because devPtr is NULL" in message()
    assert acl.rt.reset_device(0) == 0


def test_the_driver_counts_devices(library):
    count = ctypes.c_uint32()
    assert library.drvGetDevNum(ctypes.byref(count)) == 0
    assert (count.value, 0) == acl.rt.get_device_count()
    assert library.drvGetDevNum(None) == 3
    assert "drvGetDevNum failed because num_dev is NULL" in message()


def test_hashes_and_the_time(library):
    library.MsprofGetHashId.restype = library.MsprofSysCycleTime.restype = ctypes.c_uint64
    hashes = [library.MsprofGetHashId(text, ctypes.c_size_t(len(text))) for text in (b"conv", b"relu", b"conv")]
    assert hashes[0] == hashes[2] != hashes[1] and 0 not in hashes
    assert library.MsprofGetHashId(b"conv2", ctypes.c_size_t(4)) == hashes[0]
    assert library.MsprofGetHashId(None, ctypes.c_size_t(4)) == 0
    before = library.MsprofSysCycleTime()
    assert 0 < before <= library.MsprofSysCycleTime()
    assert library.MsprofReportApi(1, None) == -1
    assert "MsprofReportApi failed because api is NULL" in message()


# ---- bounded copies ----

SIZE = ctypes.c_size_t
COPIES = [
    ("memcpy_s", (8, b"abcd", 4), 0, b"abcdxxxx"),
    ("memcpy_s", (2, b"abcd", 4), 162, b"\0\0xxxxxx"),
    ("memcpy_s", (8, None, 4), 150, b"\0" * 8),
    ("memcpy_s", (0, b"abcd", 4), errno.ERANGE, b"xxxxxxxx"),
    ("memmove_s", (8, b"abcd", 3), 0, b"abcxxxxx"),
    ("memset_s", (8, ord("z"), 3), 0, b"zzzxxxxx"),
    ("memset_s", (2, ord("z"), 3), 162, b"zzxxxxxx"),
    ("strcpy_s", (8, b"abc"), 0, b"abc\0xxxx"),
    ("strcpy_s", (3, b"abc"), 162, b"\0xxxxxxx"),
    ("strncpy_s", (8, b"abcdef", 2), 0, b"ab\0xxxxx"),
    ("strcpy_s", (8, None), 150, b"\0xxxxxxx"),
]


@pytest.mark.parametrize("name, arguments, code, left", COPIES)
def test_a_bounded_copy(library, name, arguments, code, left):
    target = ctypes.create_string_buffer(b"x" * 8, 8)
    size, source, *count = arguments
    assert library[name](target, SIZE(size), source, *(SIZE(each) for each in count)) == code
    assert target.raw == left


def test_copies_without_a_target(library):
    for name in ("memcpy_s", "memmove_s", "strncpy_s", "strncat_s"):
        assert library[name](None, SIZE(4), b"abc", SIZE(3)) == errno.EINVAL
    assert library.memset_s(None, SIZE(4), 0, SIZE(3)) == errno.EINVAL


def test_texts_are_appended(library):
    target = ctypes.create_string_buffer(b"ab", 6)
    assert library.strcat_s(target, SIZE(6), b"cd") == 0 and target.value == b"abcd"
    assert library.strncat_s(target, SIZE(6), b"efgh", SIZE(1)) == 0 and target.value == b"abcde"
    assert library.strcat_s(target, SIZE(6), b"f") == 162 and target.value == b""
    full = ctypes.create_string_buffer(b"xxxxxx", 6)
    assert library.strcat_s(full, SIZE(6), b"f") == 150 and full.value == b""


def test_copies_that_overlap(library):
    text = ctypes.create_string_buffer(b"abcdef", 8)
    start = ctypes.addressof(text)
    assert library.memmove_s(ctypes.c_void_p(start + 1), SIZE(7), ctypes.c_void_p(start), SIZE(4)) == 0
    assert text.raw == b"aabcdf\0\0"
    assert library.memcpy_s(ctypes.c_void_p(start + 1), SIZE(7), ctypes.c_void_p(start), SIZE(4)) == 182
    assert text.raw == b"a" + b"\0" * 7


def test_prints(library):
    text = ctypes.create_string_buffer(6)
    assert library.sprintf_s(text, SIZE(6), b"%d-%s", 12, b"ab") == 5 and text.value == b"12-ab"
    assert library.sprintf_s(text, SIZE(6), b"%d-%s", 12, b"abc") == -1 and text.value == b""
    assert library.snprintf_s(text, SIZE(6), SIZE(3), b"%s", b"abcdefgh") == -1 and text.value == b"abc"
    assert library.snprintf_s(text, SIZE(6), SIZE(5), b"%s", b"ab") == 2 and text.value == b"ab"
    assert library.sprintf_s(None, SIZE(6), b"x") == -1


def test_a_text_is_cut(library):
    library.strtok_s.restype = ctypes.c_char_p
    text, context = ctypes.create_string_buffer(b"a,b;c"), ctypes.c_void_p()
    parts = [library.strtok_s(first, b",;", ctypes.byref(context)) for first in (text, None, None, None)]
    assert parts == [b"a", b"b", b"c", None]
