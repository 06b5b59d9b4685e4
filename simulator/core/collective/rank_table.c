/* Versions 1.0 and 1.2: an object with server_list, whose members have a list of devices with a rank_id each. Numbers
 * are strings. No state and no lock. */
#include "rank_table.h"

#include "base/config_file.h"
#include "base/fail.h"
#include "host.h"
#include "root.h"

#include <stdlib.h>
#include <string.h>

/* A rank_id, which may be written as a number, too. False: it is neither. */
static bool read_number(struct sim_json value, uint64_t *number)
{
    char text[16] = "", *end;
    const size_t length = (size_t)(value.js_end - value.js_start);
    if ((value.js_kind != SIM_JSON_STRING && value.js_kind != SIM_JSON_NUMBER) || length == 0 || length >= sizeof text)
        return false;
    memcpy(text, value.js_start, length);
    *number = strtoull(text, &end, 10);
    return *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

static bool read_address(struct sim_json object, const char *name, struct sockaddr_storage *address)
{
    char text[SIM_HOST_TEXT] = "";
    return sim_json_text(object, name, text, sizeof text) && text[0] != '\0' && sim_host_read(text, address);
}

/* The address by which other hosts reach the server of rank 0; those of devices are the last choice. Family 0: none. */
static void find_address(struct sim_json server, struct sim_json device, struct sockaddr_storage *address)
{
    if (!read_address(server, "host_ip", address) && !read_address(server, "server_id", address) &&
        !read_address(device, "device_ip", address))
        address->ss_family = 0;
}

/* Notes the rank of each device of a server, one bit per rank. */
static HcclResult read_server(struct sim_json server, struct sim_rank_table *table, uint64_t *ranks)
{
    struct sim_json devices, device = {0}, id;
    uint64_t rank = 0;
    SIM_ARGUMENT(sim_json_member(server, "device", &devices) && devices.js_kind == SIM_JSON_ARRAY, HCCL_E_PARA,
                 "EI0014: a server of clusterInfo has no list named device");
    while (sim_json_next(devices, &device)) {
        SIM_ARGUMENT(sim_json_member(device, "rank_id", &id), HCCL_E_PARA,
                     "EI0014: a device of clusterInfo has no rank_id");
        SIM_ARGUMENT(read_number(id, &rank), HCCL_E_PARA, "EI0014: rank_id in clusterInfo is %.*s, expected a number",
                     SIM_SHOWN(id));
        SIM_ARGUMENT(rank < SIM_ROOT_RANKS, HCCL_E_NOT_SUPPORT,
                     "EI0014: rank_id in clusterInfo is %.*s, expected less than %u in the simulator", SIM_SHOWN(id),
                     SIM_ROOT_RANKS);
        SIM_ARGUMENT((*ranks >> rank & 1) == 0, HCCL_E_PARA,
                     "EI0014: rank_id %.*s is twice in clusterInfo, expected each number once", SIM_SHOWN(id));
        *ranks |= UINT64_C(1) << rank;
        if (rank == 0)
            find_address(server, device, &table->rt_address);
    }
    return HCCL_SUCCESS;
}

static HcclResult read_servers(struct sim_json root, uint32_t rank, struct sim_rank_table *table, uint64_t *ranks)
{
    struct sim_json servers, server = {0}, status;
    SIM_ARGUMENT(!sim_json_member(root, "status", &status) ||
                     (status.js_kind == SIM_JSON_STRING && status.js_end - status.js_start == 9 &&
                      memcmp(status.js_start, "completed", 9) == 0),
                 HCCL_E_PARA, "EI0014: status in clusterInfo is %.*s, expected completed", SIM_SHOWN(status));
    SIM_ARGUMENT(sim_json_member(root, "server_list", &servers) && servers.js_kind == SIM_JSON_ARRAY,
                 HCCL_E_NOT_SUPPORT, "EI0014: clusterInfo has no server_list, expected version 1.0 or 1.2 of a table");
    while (sim_json_next(servers, &server)) {
        const uint64_t before = *ranks, first = 1, own = rank < SIM_ROOT_RANKS ? UINT64_C(1) << rank : 0;
        HcclResult result = read_server(server, table, ranks);
        if (result != HCCL_SUCCESS)
            return result;
        table->rt_servers++;
        if (((*ranks ^ before) & first) != 0)
            table->rt_is_first = ((*ranks ^ before) & own) != 0;
    }
    SIM_ARGUMENT(table->rt_servers <= 1 || table->rt_address.ss_family != 0, HCCL_E_PARA,
                 "EI0014: the server of rank 0 in clusterInfo has no address, expected one in host_ip or server_id");
    return HCCL_SUCCESS;
}

static HcclResult read_text(const char *text, size_t size, uint32_t rank, struct sim_rank_table *table)
{
    struct sim_json root;
    const char *why;
    size_t where;
    uint64_t ranks = 0;
    SIM_ARGUMENT(sim_json_parse(text, size, &root, &where, &why), HCCL_E_PARA,
                 "EI0014: clusterInfo is not JSON: %s at byte %zu", why, where);
    HcclResult result = read_servers(root, rank, table, &ranks);
    if (result != HCCL_SUCCESS)
        return result;
    table->rt_count = (uint32_t)__builtin_popcountll(ranks);
    SIM_ARGUMENT((ranks & (ranks + 1)) == 0, HCCL_E_PARA,
                 "EI0014: the %u numbers of rank_id in clusterInfo have gaps, expected 0 to %u", table->rt_count,
                 table->rt_count - 1);
    SIM_ARGUMENT(rank < table->rt_count, HCCL_E_PARA,
                 "EI0014: rank is %u, expected a rank_id of clusterInfo, which has %u", rank, table->rt_count);
    return HCCL_SUCCESS;
}

HcclResult sim_rank_table_read(const char *path, uint32_t rank, struct sim_rank_table *table)
{
    char *text;
    size_t size;
    aclError code = sim_config_file_read(path, "clusterInfo", &text, &size);
    SIM_ARGUMENT(code == ACL_SUCCESS, HCCL_E_OPEN_FILE_FAILURE,
                 "EI0004: clusterInfo is \"%.200s\", which cannot be read, expected the path of a rank table", path);
    *table = (struct sim_rank_table){.rt_digest = UINT64_C(14695981039346656037)};
    for (size_t i = 0; i < size; i++)
        table->rt_digest = (table->rt_digest ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    HcclResult result = read_text(text, size, rank, table);
    free(text);
    return result;
}
