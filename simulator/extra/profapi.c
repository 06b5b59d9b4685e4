/* The profiler's interface for frameworks. A hash is the number of a text plus one, because 0 means that there is no
 * text. */
#include "base/clock.h"
#include "observe/prof.h"
#include <acl/abi/extra/profapi.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_TEXT 4096

uint64_t MsprofGetHashId(const char *hashInfo, size_t length)
{
    char text[LARGEST_TEXT];
    SIM_ENTER();
    if (hashInfo == NULL || length == 0)
        return 0;
    length = strnlen(hashInfo, length < sizeof text ? length : sizeof text - 1);
    memcpy(text, hashInfo, length);
    text[length] = '\0';
    uint64_t number = sim_prof_text_number(text);
    return number != UINT64_MAX ? number + 1 : 0;
}

uint64_t MsprofSysCycleTime(void)
{
    return sim_clock_now();
}

/* Adds a span of the host to the trace; sim_prof_write discards it while nothing is being collected. */
msprofStatus MsprofReportApi(uint32_t nonPersistantFlag, const MsprofApi *api)
{
    char text[SIM_PROF_TEXT], members[64];
    SIM_ENTER();
    (void)nonPersistantFlag;
    if (api == NULL) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "api is NULL, expected a valid pointer");
        return -1;
    }
    sim_prof_text(api->itemId - 1, text);
    snprintf(members, sizeof members, "\"level\":%u,\"type\":%u", api->level, api->type);
    sim_prof_write(ACL_PROF_ACL_API,
                   &(struct sim_prof_event){.pe_name = text, .pe_category = "framework", .pe_device = -1,
                                            .pe_line = api->threadId, .pe_start = api->beginTime,
                                            .pe_end = api->endTime > api->beginTime ? api->endTime : api->beginTime,
                                            .pe_arguments = members});
    return 0;
}
