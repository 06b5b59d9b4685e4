/* The environment is read in each call, as HCCL does when it creates a communicator. No state and no lock. */
#include "host.h"

#include "base/fail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_PORT 60000u
#define PORTS 32u      /* from the first one on */
#define LEAST_PORT 1024u
#define MOST_BASE 65520u
#define BACKLOG 64

static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

socklen_t sim_host_address_size(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

bool sim_host_read(const char *text, struct sockaddr_storage *address)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found = NULL;
    if (getaddrinfo(text, NULL, &hints, &found) != 0)
        return false;
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

static void set_port(struct sockaddr_storage *address, unsigned port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)address)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)(void *)address)->sin_port = htons((uint16_t)port);
}

void sim_host_write(const struct sockaddr_storage *address, char text[SIM_HOST_TEXT])
{
    if (getnameinfo((const struct sockaddr *)address, sim_host_address_size(address), text, SIM_HOST_TEXT, NULL, 0,
                    NI_NUMERICHOST) != 0)
        snprintf(text, SIM_HOST_TEXT, "unknown");
}

/* Processes reach each other by their numbers and by names of sockets, which are valid in one name space each, of one
 * running system. */
uint64_t sim_host_machine(void)
{
    struct stat processes = {0}, sockets = {0};
    char boot[64] = "";
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, boot, sizeof boot) : 0;
    if (file >= 0)
        close(file);
    if (stat("/proc/self/ns/pid", &processes) != 0 || stat("/proc/self/ns/net", &sockets) != 0)
        processes.st_ino = sockets.st_ino = 0;
    uint64_t hash = (uint64_t)processes.st_ino << 32 | (uint32_t)sockets.st_ino;
    for (ssize_t i = 0; i < size; i++)
        hash = hash * UINT64_C(1099511628211) + (unsigned char)boot[i];
    return hash;
}

/* ---- interfaces ---- */

/* HCCL_SOCKET_IFNAME: names, or beginnings of names, after "=" whole names, and after "^" those that are not taken. */
static bool is_wanted(const char *rule, const char *name)
{
    const bool negated = rule[0] == '^';
    rule += negated;
    const bool whole = rule[0] == '=';
    rule += whole;
    bool found = false;
    while (*rule != '\0' && !found) {
        const size_t length = strcspn(rule, ",");
        found = length != 0 && strncmp(name, rule, length) == 0 && (!whole || name[length] == '\0');
        rule += length + (rule[length] == ',');
    }
    return found != negated;
}

/* Without a rule, interfaces to other hosts come first, then those of containers, and the loopback is the last. */
static int rank_of(const char *rule, const struct ifaddrs *interface)
{
    if (rule != NULL)
        return is_wanted(rule, interface->ifa_name) ? 0 : -1;
    if ((interface->ifa_flags & IFF_LOOPBACK) != 0)
        return 2;
    return strncmp(interface->ifa_name, "docker", 6) == 0;
}

static bool is_usable(const struct ifaddrs *interface, int family)
{
    if (interface->ifa_addr == NULL || interface->ifa_addr->sa_family != family || (interface->ifa_flags & IFF_UP) == 0)
        return false;
    return family == AF_INET ||
           !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)interface->ifa_addr)->sin6_addr);
}

/* The first interface by its name among the best ones; NULL: there is none. */
static const struct ifaddrs *choose(const struct ifaddrs *all, const char *rule, int family)
{
    const struct ifaddrs *best = NULL;
    for (const struct ifaddrs *each = all; each != NULL; each = each->ifa_next) {
        const int rank = is_usable(each, family) ? rank_of(rule, each) : -1;
        if (rank < 0)
            continue;
        const int order = best != NULL ? rank - rank_of(rule, best) : -1;
        if (order < 0 || (order == 0 && strcmp(each->ifa_name, best->ifa_name) < 0))
            best = each;
    }
    return best;
}

bool sim_host_is_alone(void)
{
    struct ifaddrs *all = NULL;
    if (variable("HCCL_IF_IP") != NULL || variable("HCCL_SOCKET_IFNAME") != NULL ||
        variable("HCCL_SOCKET_FAMILY") != NULL || getifaddrs(&all) != 0)
        return false;
    const bool alone = choose(all, NULL, AF_INET) == NULL;
    freeifaddrs(all);
    return alone;
}

static HcclResult read_family(int *family)
{
    const char *text = variable("HCCL_SOCKET_FAMILY");
    SIM_ARGUMENT(text == NULL || strcmp(text, "AF_INET") == 0 || strcmp(text, "AF_INET6") == 0, HCCL_E_PARA,
                 "EI0001: HCCL_SOCKET_FAMILY is \"%s\", expected AF_INET or AF_INET6", text);
    *family = text != NULL && strcmp(text, "AF_INET6") == 0 ? AF_INET6 : AF_INET;
    return HCCL_SUCCESS;
}

HcclResult sim_host_address(struct sockaddr_storage *address)
{
    const char *text = variable("HCCL_IF_IP"), *rule = variable("HCCL_SOCKET_IFNAME");
    struct ifaddrs *all = NULL;
    int family = AF_INET;
    memset(address, 0, sizeof *address);
    SIM_ARGUMENT(text == NULL || sim_host_read(text, address), HCCL_E_PARA,
                 "EI0001: HCCL_IF_IP is \"%s\", expected an address of this host, such as 10.0.0.1", text);
    if (text != NULL)
        return HCCL_SUCCESS;
    HcclResult result = read_family(&family);
    if (result != HCCL_SUCCESS)
        return result;
    if (getifaddrs(&all) != 0)
        all = NULL;
    const struct ifaddrs *best = choose(all, rule, family);
    if (best != NULL)
        memcpy(address, best->ifa_addr, family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    freeifaddrs(all);
    SIM_ARGUMENT(best != NULL, HCCL_E_TCP_CONNECT,
                 "EI0019: this host has no interface with an address of %s%s%s, expected one that other hosts reach "
                 "(HCCL_IF_IP, HCCL_SOCKET_IFNAME)", family == AF_INET6 ? "AF_INET6" : "AF_INET",
                 rule != NULL ? " that matches HCCL_SOCKET_IFNAME=" : "", rule != NULL ? rule : "");
    return HCCL_SUCCESS;
}

/* ---- ports ---- */

/* Reads a port, or two with a hyphen between them; a comma or nothing must follow. */
static bool read_range(const char **text, unsigned *first, unsigned *last)
{
    char *end;
    if ((*text)[0] < '0' || (*text)[0] > '9')
        return false;
    unsigned long value = strtoul(*text, &end, 10);
    *first = *last = value <= UINT16_MAX ? (unsigned)value : 0;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') {
        value = strtoul(end + 1, &end, 10);
        *last = value <= UINT16_MAX ? (unsigned)value : 0;
    }
    *text = end;
    return *first != 0 && *last >= *first && (*end == '\0' || *end == ',');
}

static HcclResult check_ranges(const char *text)
{
    const char *at = text;
    unsigned first, last;
    do {
        at += at != text; /* a comma */
        SIM_ARGUMENT(read_range(&at, &first, &last), HCCL_E_PARA,
                     "EI0001: HCCL_HOST_SOCKET_PORT_RANGE is \"%s\", expected \"auto\", or ports and ranges of ports, "
                     "such as 60000,60010-60020", text);
    } while (*at != '\0');
    return HCCL_SUCCESS;
}

HcclResult sim_host_ports(struct sim_host_ports *ports)
{
    const char *ranges = variable("HCCL_HOST_SOCKET_PORT_RANGE"), *base = variable("HCCL_IF_BASE_PORT"), *at = base;
    unsigned first = FIRST_PORT, last = FIRST_PORT;
    *ports = (struct sim_host_ports){.po_ranges = "", .po_first = 1, .po_last = 0};
    if (ranges != NULL && strcmp(ranges, "auto") != 0) {
        ports->po_ranges = ranges;
        return check_ranges(ranges);
    }
    SIM_ARGUMENT(base == NULL || (read_range(&at, &first, &last) && *at == '\0' && first == last &&
                                  first >= LEAST_PORT && first <= MOST_BASE), HCCL_E_PARA,
                 "EI0001: HCCL_IF_BASE_PORT is \"%s\", expected a port from %u to %u", base, LEAST_PORT, MOST_BASE);
    last = first + PORTS - 1 <= UINT16_MAX ? first + PORTS - 1 : UINT16_MAX;
    *ports = (struct sim_host_ports){"", first, last, ranges != NULL || base == NULL};
    return HCCL_SUCCESS;
}

bool sim_host_next_port(struct sim_host_ports *ports, struct sockaddr_storage *address)
{
    if (ports->po_first > ports->po_last &&
        (*ports->po_ranges == '\0' || !read_range(&ports->po_ranges, &ports->po_first, &ports->po_last)))
        return false;
    ports->po_ranges += *ports->po_ranges == ',';
    set_port(address, ports->po_first++);
    return true;
}

static bool listen_at(struct sockaddr_storage *address, int *listener)
{
    socklen_t size = sim_host_address_size(address);
    *listener = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*listener >= 0 && bind(*listener, (struct sockaddr *)address, size) == 0 && listen(*listener, BACKLOG) == 0 &&
        getsockname(*listener, (struct sockaddr *)address, &size) == 0)
        return true;
    if (*listener >= 0)
        close(*listener);
    return false;
}

HcclResult sim_host_listen(struct sockaddr_storage *address, bool at_known_port, int *listener)
{
    struct sim_host_ports ports;
    HcclResult result = sim_host_ports(&ports);
    if (result != HCCL_SUCCESS)
        return result;
    bool listens = false;
    while (!listens && sim_host_next_port(&ports, address))
        listens = listen_at(address, listener);
    if (!listens && ports.po_or_any && !at_known_port) { /* roots of many programs on one machine */
        set_port(address, 0);
        listens = listen_at(address, listener);
    }
    char text[SIM_HOST_TEXT];
    sim_host_write(address, text);
    SIM_ARGUMENT(listens, HCCL_E_TCP_CONNECT,
                 "EI0019: no port of HCCL_HOST_SOCKET_PORT_RANGE or HCCL_IF_BASE_PORT is free at %s (%s), expected an "
                 "address of this host, and free ports", text, strerror(errno));
    return HCCL_SUCCESS;
}
