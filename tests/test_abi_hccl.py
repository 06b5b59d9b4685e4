"""The declarations of collective communication against the tables of facts, and the functions that are inline."""

import re
from collections import defaultdict

import pytest
from helpers import programs
from helpers.headers import LANGUAGES, check_c, claims, declarations, facts, includes
from helpers.tables import each

from acl import abi

ABI = abi.load_extra()
GROUPS = {"hccl", "hccl_res", "hccn_rping", "hcomm"}
FUNCTIONS = facts("hccl_functions")
VALUES = facts("hccl_values")
STRUCTS = facts("hccl_structs")
HEADERS = sorted({row[key] for row in FUNCTIONS for key in ("header", "header_9")} | {"hcomm/hcomm_team_defs.h"})
EXPORTED = [row for row in FUNCTIONS if row["inline"] == "0"]


def declared(table):
    return [item for item in table.values() if item.group in GROUPS]


def test_the_declared_functions_are_those_of_the_table():
    assert sorted(function.name for function in declared(ABI.functions)) == sorted(row["name"] for row in EXPORTED)
    assert (len(FUNCTIONS), len(EXPORTED)) == (192, 182)


@each(EXPORTED, lambda row: row["header_9"])
def test_function(row):
    function = ABI.functions[row["name"]]
    expected = abi.declare(row["returns"], f"{row['name']}({row['params']})")
    assert re.sub(r"\s", "", function.prototype) == re.sub(r"\s", "", expected)
    assert ".".join(map(str, function.since)) == row["since"]
    assert not function.shapes
    if function.group == "hccl":
        assert function.doc.endswith(".") and function.doc[0].isupper() and len(function.doc) < 150


@pytest.mark.parametrize("language", LANGUAGES)
def test_declarations_agree_with_the_compiler(language):
    table = declarations(facts("hccl_types"), FUNCTIONS, language) + claims(VALUES, STRUCTS, language)
    check_c(language, includes(HEADERS) + table)


def test_the_declared_values_are_those_of_the_table():
    found = [("", constant.name, constant.value) for constant in declared(ABI.constants)]
    found += [(enum.name, *member) for enum in declared(ABI.enums) for member in enum.members.items()]
    assert sorted(found) == sorted((row["enum"], row["name"], int(row["value"])) for row in VALUES)


def test_the_declared_structs_are_those_of_the_table():
    fields = defaultdict(list)
    for row in STRUCTS:
        if "." not in row["field"] and row["field"] not in fields[row["struct"]]:
            fields[row["struct"]].append(row["field"])
    found = {struct.name: [field.name for field in struct.fields] for struct in declared(ABI.structs)}
    assert found == fields


@pytest.mark.parametrize("language", ["gcc", "g++"])
@pytest.mark.parametrize("header", HEADERS)
def test_header_declares_what_the_vendor_declares_there(header, language):
    names = [row["name"] for row in FUNCTIONS if header in (row["header"], row["header_9"])]
    uses = "".join(f"    (void)&{name};\n" for name in names)
    check_c(language, f"{includes([header])}void use(void);\nvoid use(void)\n{{\n{uses}}}\n")


CONFIG = r"""
#include <hccl/hccl.h>
#include <stdio.h>

int main(void)
{
    HcclCommConfig config;
    uint64_t head[3];
    memset(&config, 0xAA, sizeof config);
    HcclCommConfigInit(&config);
    HcclCommConfigInit(NULL);
    memcpy(head, config.reserved, sizeof head);
    printf("%d %x %d %d\n", (int)head[0], (unsigned)head[1], (int)(head[1] >> 32), (int)head[2]);
    printf("%x %x %d %x %x %d %d ", config.hcclBufferSize, config.hcclDeterministic, config.hcclOpExpansionMode,
           config.hcclRdmaTrafficClass, config.hcclRdmaServiceLevel, config.hcclWorldRankID, (int)config.hcclJobID);
    printf("%d %d %x %d %x\n", config.aclGraphZeroCopyEnable, config.hcclExecTimeOut, config.hcclQos,
           (int)config.hcclSymWinMaxMemSizePerRank, config.hcclChannelSqDepth);
    printf("'%s' '%s' '%s' '%s' '%s' '%s'\n", config.hcclCommName, config.hcclUdi, config.hcclAlgo,
           config.hcclRetryEnable, config.hcclRetryParams, config.hcclBufferName);
    return 0;
}
"""
DEFAULTS = f"""\
2248 f0f0f0f0 11 0
{"f" * 8} {"f" * 8} 0 {"f" * 8} {"f" * 8} 0 0 0 -1 {"f" * 8} 16 {"f" * 8}
'' '' '' '' '' ''
"""


@pytest.mark.parametrize("cxx", [False, True], ids=["c", "c++"])
def test_a_configuration_has_the_defaults(tmp_path, cxx):
    program = programs.Compiler(tmp_path)(CONFIG, "-Werror", cxx=cxx, libraries=())
    assert programs.run([program]).stdout == DEFAULTS


DESCRIPTIONS = r"""
#include <hccl/hccl_channel.h>
#include <hccl/hccl_launch.h>
#include <hccl/hccl_rank_graph.h>
#include <hccl/hccl_team.h>
#include <hcomm/hcomm_channel.h>
#include <stdio.h>

#define SHOW(type, call, last) \
    do { \
        type made[2]; \
        memset(made, 0xAA, sizeof made); \
        int code = call; \
        CommAbiHeader header = made[last].header; \
        printf("%s %d: %u %x %u %u\n", #type, code, header.version, header.magicWord, header.size, header.reserved); \
    } while (0)

int main(void)
{
    SHOW(HcclChannelDesc, HcclChannelDescInit(made, 2), 1);
    SHOW(HcommChannelDesc, HcommChannelDescInit(made, 2), 1);
    SHOW(CommLink, CommLinkInit(made, 2), 1);
    SHOW(ThreadConfig, ThreadConfigInit(made, 2), 1);
    SHOW(HcclOpDesc, HcclOpDescInit(made), 0);
    SHOW(HcclKernelLaunchCfg, HcclKernelLaunchCfgInit(made), 0);
    SHOW(HcclTeamCreateDesc, HcclTeamCreateDescInit(made), 0);
    SHOW(HcclTeamCreateChannelsDesc, HcclTeamCreateChannelsDescInit(made), 0);
    printf("%d%d%d%d%d%d%d%d%d\n", HcclChannelDescInit(NULL, 1), HcommChannelDescInit(NULL, 1), CommLinkInit(NULL, 1),
           ThreadConfigInit(NULL, 1), HcclOpDescInit(NULL), HcclKernelLaunchCfgInit(NULL), HcclTeamCreateDescInit(NULL),
           HcclTeamCreateChannelsDescInit(NULL), EndpointDescInit(NULL, 1));
    HcclChannelDesc channel[2];
    HcommChannelDesc below[2];
    EndpointDesc end[2];
    HcclChannelDescInit(channel, 2);
    HcommChannelDescInit(below, 2);
    EndpointDescInit(end, 2);
    printf("%d %d %d\n", end[1].protocol, end[1].commAddr.type, end[1].loc.locType);
    printf("%d %d %d\n", channel[1].channelProtocol, channel[1].notifyNum, channel[1].memHandles == NULL);
    printf("%d %d %d\n", below[1].role, below[1].exchangeAllMems, below[1].channelName == NULL);
    return 0;
}
"""
FILLED = """\
HcclChannelDesc 0: 1 f0f0f0f 496 0
HcommChannelDesc 0: 4 fcf0f0f 360 0
CommLink 0: 1 f0e0f0f 464 0
ThreadConfig 0: 1 f0f0f2f 32 0
HcclOpDesc 0: 1 f0f0f0f 360 0
HcclKernelLaunchCfg 0: 1 f0f0f0f 128 0
HcclTeamCreateDesc 0: 1 fcf0f14 88 0
HcclTeamCreateChannelsDesc 0: 1 fcf0f15 48 0
222222222
-1 -1 -1
-1 0 1
-1 0 1
"""


@pytest.mark.parametrize("cxx", [False, True], ids=["c", "c++"])
def test_a_description_says_its_version_and_size(tmp_path, cxx):
    program = programs.Compiler(tmp_path)(DESCRIPTIONS, "-Werror", cxx=cxx, libraries=())
    assert programs.run([program]).stdout == FILLED
