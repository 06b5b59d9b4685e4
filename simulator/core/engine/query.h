/* Answers that follow from the configuration alone: versions, the platform's and the devices' attributes. */
#ifndef SIM_QUERY_H
#define SIM_QUERY_H

#include "base/config.h"

#include <acl/acl_platform.h>

/* The version of a package, as "9.1.0" and its three parts. 100003 when there is no package of that name ('-' and '_'
 * are the same). */
struct sim_version {
    uint32_t ve_major, ve_minor, ve_patch;
    char ve_text[16];
};
aclError sim_query_version(const char *package, struct sim_version *version);

/* Name of a package by its number, NULL when there is none. */
const char *sim_query_package(aclCANNPackageName package);

aclError sim_query_platform(aclplatformDevInfo what, char *text, uint32_t size);
aclError sim_query_attribute(uint32_t device, aclrtDevAttr attribute, int64_t *value);

#define SIM_BUS_ID_BYTES 13
void sim_query_bus_id(int32_t logical, char text[SIM_BUS_ID_BYTES]);

/* By aclDeviceInfo; -1 for what it does not name. */
int64_t sim_query_older_attribute(aclDeviceInfo info);

/* Sixteen bytes that no other simulated device has: the chip's name and the logical id, mixed. */
void sim_query_uuid(int32_t logical, aclrtUuid *uuid);

/* How two devices of the chip are linked, ACL_RT_DEVS_TOPOLOGY_*. */
uint64_t sim_query_link(int32_t one, int32_t other);

/* What a device can do atomically on memory that is not its own, a bit mask an operation. 107000. */
aclError sim_query_atomics(uint32_t *capabilities, const aclrtAtomicOperation *operations, uint32_t count);

/* The features that software and chip have together. */
const aclCannAttr *sim_query_cann_attributes(size_t *count);

/* The user's id of a logical device, or -1. */
int32_t sim_query_user_id(int32_t logical);

#endif
