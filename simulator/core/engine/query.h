/* Queries that depend only on the configuration: versions, and attributes of the platform and the devices. */
#ifndef SIM_QUERY_H
#define SIM_QUERY_H

#include "base/config.h"

#include <acl/acl_platform.h>

/* The version of a package, as "9.1.0" and as its three parts. Returns 100003 for an unknown package; '-' and '_' in
 * names are the same. */
struct sim_version {
    uint32_t ve_major, ve_minor, ve_patch;
    char ve_text[16];
};
aclError sim_query_version(const char *package, struct sim_version *version);

/* The name of a package by its number, or NULL. */
const char *sim_query_package(aclCANNPackageName package);

/* Write a property of the platform as text, and read an attribute of a device. Return 207000 for one that is not known
 * of the chip. */
aclError sim_query_platform(aclplatformDevInfo what, char *text, uint32_t size);
aclError sim_query_attribute(uint32_t device, aclrtDevAttr attribute, int64_t *value);

#define SIM_BUS_ID_BYTES 13
/* Writes the PCI address of a logical device. */
void sim_query_bus_id(int32_t logical, char text[SIM_BUS_ID_BYTES]);

/* An attribute by aclDeviceInfo, or -1 for an unknown one. */
int64_t sim_query_older_attribute(aclDeviceInfo info);

/* Sixteen bytes that differ for each chip and logical device. */
void sim_query_uuid(int32_t logical, aclrtUuid *uuid);

/* The link between two devices of the chip, ACL_RT_DEVS_TOPOLOGY_*. */
uint64_t sim_query_link(int32_t one, int32_t other);

/* The atomic operations that a device supports on memory of others: one bit mask per operation. Returns 107000 for an
 * invalid argument. */
aclError sim_query_atomics(uint32_t *capabilities, const aclrtAtomicOperation *operations, uint32_t count);

/* The features that both the software and the chip have. */
const aclCannAttr *sim_query_cann_attributes(size_t *count);

/* The id that programs use for a logical device, or -1 if it is not visible. */
int32_t sim_query_user_id(int32_t logical);

#endif
