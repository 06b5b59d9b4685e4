"""Groups of cores, which a program on the host has none of."""

import pytest
from helpers.expect import NULL, refused

import acl
from acl._lib import ffi, lib

pytestmark = pytest.mark.needs_sim

SOCS = ["Ascend910B3", "Ascend910_9392", "Ascend910_95", "Ascend310B1", "Ascend310P3", "Ascend910A"]
INFO = ffi.cast("aclrtGroupInfo *", 0x1000)
WORD, SIZE = ffi.new("uint32_t *"), ffi.new("size_t *")
CALLS = {
    "aclrtSetGroup": lambda: acl.rt.set_group(0),
    "aclrtGetGroupCount": lambda: acl.rt.get_group_count(0)[1],
    "aclrtDestroyGroupInfo": lambda: acl.rt.destroy_group_info(0x1000),
    "aclrtGetAllGroupInfo": lambda: acl.rt.get_all_group_info(0x1000),
    "aclrtGetGroupInfoDetail": lambda: lib.aclrtGetGroupInfoDetail(INFO, 0, 0, WORD, 4, SIZE),
}


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("name", CALLS)
def test_no_chip_has_groups_for_the_host(configure, name, soc):
    configure(soc=soc)
    refused(CALLS[name](), 207000, name, soc, "cannot use groups")


def test_no_table_is_made():
    assert acl.rt.create_group_info() == 0
    assert "aclrtCreateGroupInfo failed because" in acl.get_recent_err_msg()


def test_pyacl_raises_for_the_detail():
    with pytest.raises(RuntimeError, match="207000 for group 1, attribute 2"):
        acl.rt.get_group_info_detail(0x1000, 1, 2)


ERRORS = [
    (lambda: lib.aclrtGetGroupCount(NULL), "count is NULL"),
    (lambda: lib.aclrtDestroyGroupInfo(NULL), "groupInfo is NULL"),
    (lambda: lib.aclrtGetAllGroupInfo(NULL), "groupInfo is NULL"),
    (lambda: lib.aclrtGetGroupInfoDetail(NULL, 0, 0, WORD, 4, SIZE), "groupInfo is NULL"),
    (lambda: lib.aclrtGetGroupInfoDetail(INFO, 0, 0, NULL, 4, SIZE), "attrValue is NULL"),
    (lambda: lib.aclrtGetGroupInfoDetail(INFO, 0, 0, WORD, 4, NULL), "paramRetSize is NULL"),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_errors(row):
    call, words = ERRORS[row]
    refused(call(), 100000, words)
