/* A field of the configuration wins over the environment, which wins over the default. No state and no lock. */
#include "comm_config.h"

#include "base/clock.h"
#include "base/config.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define EXEC_SECONDS 1836
#define CONNECT_SECONDS 120
#define CONNECT_SPARE 20 /* so that all ranks learn why the first one gave up */
#define PATIENCE_SECONDS 10
#define MAGIC UINT32_C(0xF0F0F0F0)
#define UNSET UINT32_C(0xFFFFFFFF)

/* The first 24 bytes of HcclCommConfig, which HcclCommConfigInit writes. */
struct head {
    size_t hd_size;
    uint32_t hd_magic, hd_version;
    uint64_t hd_reserved;
};

static uint64_t scaled(uint64_t seconds)
{
    return seconds == 0 ? SIM_FOREVER : (uint64_t)((double)(seconds * SECOND) * sim_config()->cf_hccl_time_scale);
}

/* Reads whole seconds from the environment; the default if the variable is not set. */
static HcclResult read_seconds(const char *name, uint64_t least, uint64_t most, uint64_t *seconds)
{
    const char *text = getenv(name);
    char *end;
    if (text == NULL || text[0] == '\0')
        return HCCL_SUCCESS;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool whole = end != text && (*end == '\0' || (*end == '.' && strspn(end + 1, "0123456789") == strlen(end + 1)));
    SIM_ARGUMENT(whole && errno == 0 && text[0] != '-' && value >= least && value <= most, HCCL_E_PARA,
                 "EI0001: %s is \"%s\", expected seconds from %llu to %llu", name, text, (unsigned long long)least,
                 (unsigned long long)most);
    *seconds = value;
    return HCCL_SUCCESS;
}

uint64_t sim_comm_connect_timeout(void)
{
    uint64_t seconds = CONNECT_SECONDS;
    read_seconds("HCCL_CONNECT_TIMEOUT", 120, 7200, &seconds);
    return scaled(seconds + CONNECT_SPARE);
}

uint64_t sim_comm_patience(void)
{
    return scaled(PATIENCE_SECONDS);
}

/* ---- HcclCommConfig ---- */

static HcclResult check_choice(const char *name, uint32_t value, uint32_t least, uint32_t most)
{
    SIM_ARGUMENT(value == UNSET || (value >= least && value <= most), HCCL_E_PARA,
                 "config->%s is %u, expected %u to %u, or the value that HcclCommConfigInit writes", name, value, least,
                 most);
    return HCCL_SUCCESS;
}

/* A program may have been compiled with an older, shorter structure: the rest has its defaults. */
static HcclResult copy_config(const HcclCommConfig *given, HcclCommConfig *config)
{
    struct head head;
    HcclCommConfigInit(config);
    memcpy(&head, given, sizeof head);
    SIM_ARGUMENT(head.hd_magic == MAGIC, HCCL_E_PARA,
                 "config does not begin as HcclCommConfigInit writes it (%#x instead of %#x)", head.hd_magic, MAGIC);
    SIM_ARGUMENT(head.hd_size >= sizeof head, HCCL_E_PARA, "config says that its size is %zu, expected at least %zu",
                 head.hd_size, sizeof head);
    memcpy((char *)config + sizeof head, (const char *)given + sizeof head,
           (head.hd_size < sizeof *config ? head.hd_size : sizeof *config) - sizeof head);
    return HCCL_SUCCESS;
}

static HcclResult check_config(const HcclCommConfig *config)
{
    SIM_ARGUMENT(config->hcclBufferSize >= 1, HCCL_E_PARA,
                 "config->hcclBufferSize is 0, expected megabytes from 1 on");
    SIM_ARGUMENT(memchr(config->hcclCommName, '\0', sizeof config->hcclCommName) != NULL, HCCL_E_PARA,
                 "config->hcclCommName has no end, expected at most %zu characters", sizeof config->hcclCommName - 1);
    HcclResult result = check_choice("hcclDeterministic", config->hcclDeterministic, 0, 2);
    if (result == HCCL_SUCCESS)
        result = check_choice("hcclOpExpansionMode", config->hcclOpExpansionMode, 0, 6);
    if (result == HCCL_SUCCESS)
        result = check_choice("hcclRdmaServiceLevel", config->hcclRdmaServiceLevel, 0, 7);
    if (result == HCCL_SUCCESS)
        result = check_choice("hcclRdmaTrafficClass", config->hcclRdmaTrafficClass, 0, 255);
    SIM_ARGUMENT(result != HCCL_SUCCESS || config->hcclRdmaTrafficClass == UNSET ||
                     config->hcclRdmaTrafficClass % 4 == 0, HCCL_E_PARA,
                 "config->hcclRdmaTrafficClass is %u, expected a multiple of 4", config->hcclRdmaTrafficClass);
    SIM_ARGUMENT(result != HCCL_SUCCESS || config->hcclExecTimeOut >= -1, HCCL_E_PARA,
                 "config->hcclExecTimeOut is %d, expected -1 (as the environment says), 0 (no limit) or seconds",
                 config->hcclExecTimeOut);
    return result;
}

HcclResult sim_comm_read_options(const HcclCommConfig *given, struct sim_comm_options *options)
{
    uint64_t seconds = EXEC_SECONDS;
    HcclCommConfig config;
    HcclResult result = read_seconds("HCCL_EXEC_TIMEOUT", 0, INT32_MAX, &seconds);
    HcclCommConfigInit(&config);
    if (result == HCCL_SUCCESS && given != NULL)
        result = copy_config(given, &config);
    if (result == HCCL_SUCCESS)
        result = check_config(&config);
    memcpy(options->op_name, config.hcclCommName, sizeof options->op_name);
    options->op_timeout = scaled(config.hcclExecTimeOut >= 0 ? (uint64_t)config.hcclExecTimeOut : seconds);
    return result;
}
