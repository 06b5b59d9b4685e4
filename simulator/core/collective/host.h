/* The addresses of this host. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include <hccl/hccl_types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* The same number in all processes that reach each other by the exchange: those of one running system, in the same name
 * spaces. */
uint64_t sim_host_machine(void);

/* Whether this host has no address by which others reach it, and the environment names none. */
bool sim_host_is_alone(void);

/* Chooses the address by which other hosts reach this one: HCCL_IF_IP, else that of an interface (HCCL_SOCKET_IFNAME,
 * HCCL_SOCKET_FAMILY). HCCL_E_PARA (EI0001) if a variable is wrong, HCCL_E_TCP_CONNECT without an address. */
HcclResult sim_host_address(struct sockaddr_storage *address);

/* The ports at which hosts listen: HCCL_HOST_SOCKET_PORT_RANGE, else 32 from HCCL_IF_BASE_PORT or 60000 on. HCCL_E_PARA
 * (EI0001) if these are wrong. */
struct sim_host_ports {
    const char *po_ranges; /* the rest of HCCL_HOST_SOCKET_PORT_RANGE */
    unsigned po_first, po_last;
    bool po_or_any; /* any other port may be taken */
};
HcclResult sim_host_ports(struct sim_host_ports *ports);
/* Sets the next port of an address. False after the last one. */
bool sim_host_next_port(struct sim_host_ports *ports, struct sockaddr_storage *address);

/* Listens at an address, and sets its port: to one of those above only, if other hosts have to look for it. HCCL_E_PARA
 * (EI0001) as above, HCCL_E_TCP_CONNECT (EI0019) if no port is free. */
HcclResult sim_host_listen(struct sockaddr_storage *address, bool at_known_port, int *listener);

socklen_t sim_host_address_size(const struct sockaddr_storage *address);

/* Reads a numeric address; false if it is none. Writes one, without its port. */
#define SIM_HOST_TEXT 64
bool sim_host_read(const char *text, struct sockaddr_storage *address);
void sim_host_write(const struct sockaddr_storage *address, char text[SIM_HOST_TEXT]);

#endif
