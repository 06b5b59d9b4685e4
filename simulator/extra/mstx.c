/* Marks and ranges of MSTX, the interface for tools. A domain handle is the number of the domain's name plus one; its
 * marks are named "domain: message". */
#include "observe/prof.h"
#include <stdio.h>
#include <string.h>
#include <mstx/ms_tools_ext.h>

/* Puts the domain in front of the message. Returns false if there is nothing to mark: the message is NULL, which is
 * reported, or nothing is being collected. */
static bool compose(mstxDomainHandle_t domain, const char *message, char text[SIM_PROF_TEXT])
{
    char name[SIM_PROF_TEXT];
    if (message == NULL) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "message is NULL, expected a string");
        return false;
    }
    if (!sim_prof_collects(ACL_PROF_MSPROFTX))
        return false;
    if (domain == NULL) {
        snprintf(text, SIM_PROF_TEXT, "%s", message);
        return true;
    }
    sim_prof_text((uintptr_t)domain - 1, name);
    snprintf(text, SIM_PROF_TEXT, "%.60s: %.60s", name, message);
    return true;
}

static void mark(mstxDomainHandle_t domain, const char *message, aclrtStream stream, void *site)
{
    char text[SIM_PROF_TEXT];
    if (!compose(domain, message, text))
        return;
    sim_prof_mark(text);
    if (stream != NULL)
        sim_prof_mark_stream(text, strnlen(text, sizeof text), stream, site);
}

static mstxRangeId start(mstxDomainHandle_t domain, const char *message, aclrtStream stream, void *site)
{
    char text[SIM_PROF_TEXT];
    uint32_t number = 0;
    if (!compose(domain, message, text) || sim_prof_range_begin(text, &number) != ACL_SUCCESS)
        return 0;
    if (stream != NULL)
        sim_prof_mark_stream(text, strnlen(text, sizeof text), stream, site);
    return number;
}

/* A range that began while nothing was being collected has id 0. */
static void end(mstxRangeId id)
{
    if (id != 0 && sim_prof_collects(ACL_PROF_MSPROFTX))
        sim_prof_span_end(SIM_SPAN_RANGE, id <= UINT32_MAX ? (uint32_t)id : 0);
}

void mstxMarkA(const char *message, aclrtStream stream)
{
    SIM_ENTER();
    mark(NULL, message, stream, SIM_SITE());
}

mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream)
{
    SIM_ENTER();
    return start(NULL, message, stream, SIM_SITE());
}

void mstxRangeEnd(mstxRangeId id)
{
    SIM_ENTER();
    end(id);
}

mstxDomainHandle_t mstxDomainCreateA(const char *name)
{
    SIM_ENTER();
    if (name == NULL) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "name is NULL, expected a string");
        return NULL;
    }
    uint64_t number = sim_prof_text_number(name);
    return number != UINT64_MAX ? (mstxDomainHandle_t)(uintptr_t)(number + 1) : NULL;
}

/* Does nothing, because names keep their numbers: a later domain of the same name is the same domain. */
void mstxDomainDestroy(mstxDomainHandle_t domain)
{
    (void)domain;
}

void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream)
{
    SIM_ENTER();
    mark(domain, message, stream, SIM_SITE());
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream)
{
    SIM_ENTER();
    return start(domain, message, stream, SIM_SITE());
}

void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id)
{
    SIM_ENTER();
    (void)domain;
    end(id);
}

void mstxGetToolId(uint64_t *id)
{
    SIM_ENTER();
    if (id == NULL) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "id is NULL, expected a valid pointer");
        return;
    }
    *id = sim_prof_collects(ACL_PROF_MSPROFTX) ? MSTX_TOOL_MSPROF_ID : MSTX_TOOL_INVALID_ID;
}
