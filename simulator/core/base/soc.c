/* The chips that can be simulated, and the values of their families. If the cores of a chip are not split into cube and
 * vector cores, each AI core counts as a cube core. The tables are constant, so there is no lock. */
#include "config.h"

#include <acl/acl_platform.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* Name, short name, core version, profile; AI cores, cube cores, vector cores, AI CPUs; memory, L2 cache; MHz; unified
 * buffer; bytes from memory per cycle and AI core. Sorted by strcmp, for the binary search. */
const struct sim_soc sim_socs[] = {
    {"Ascend310", "Ascend310", "AIC-M-100", SIM_P310P, 2, 2, 0, 4, 0, 8 * MIB, 680, 253952, 67},
    {"Ascend310B1", "Ascend310B", "AIC-M-300", SIM_P310B, 1, 1, 1, 4, 32 * GIB, 4 * MIB, 1224, 253952, 17},
    {"Ascend310B2", "Ascend310B", "AIC-M-300", SIM_P310B, 1, 1, 1, 4, 0, 4 * MIB, 1224, 253952, 17},
    {"Ascend310B3", "Ascend310B", "AIC-M-300", SIM_P310B, 1, 1, 1, 4, 0, 4 * MIB, 1224, 253952, 17},
    {"Ascend310B4", "Ascend310B", "AIC-M-300", SIM_P310B, 1, 1, 1, 4, 0, 4 * MIB, 500, 253952, 8},
    {"Ascend310P1", "Ascend310P", "AIC-M-200", SIM_P310P, 10, 10, 8, 8, 24000000000, 16 * MIB, 1060, 262144, 17},
    {"Ascend310P3", "Ascend310P", "AIC-M-200", SIM_P310P, 8, 8, 7, 16, 24000000000, 16 * MIB, 1060, 262144, 17},
    {"Ascend310P5", "Ascend310P", "AIC-M-200", SIM_P310P, 8, 8, 7, 8, 24000000000, 16 * MIB, 800, 262144, 17},
    {"Ascend310P7", "Ascend310P", "AIC-M-200", SIM_P310P, 8, 8, 7, 8, 24000000000, 16 * MIB, 550, 262144, 17},
    {"Ascend910A", "Ascend910", "AIC-C-100", SIM_P910, 32, 32, 0, 4, 0, 32 * MIB, 1000, 262144, 32},
    {"Ascend910B", "Ascend910", "AIC-C-100", SIM_P910, 30, 30, 0, 4, 0, 32 * MIB, 900, 262144, 32},
    {"Ascend910B1", "Ascend910B", "AIC-C-220", SIM_PA2, 24, 24, 48, 4, 64 * GIB, 192 * MIB, 1850, 196608, 32},
    {"Ascend910B2", "Ascend910B", "AIC-C-220", SIM_PA2, 24, 24, 48, 4, 64 * GIB, 192 * MIB, 1800, 196608, 32},
    {"Ascend910B2C", "Ascend910B", "AIC-C-220", SIM_PA2, 24, 24, 48, 4, 0, 192 * MIB, 1800, 196608, 32},
    {"Ascend910B3", "Ascend910B", "AIC-C-220", SIM_PA2, 20, 20, 40, 4, 64 * GIB, 192 * MIB, 1800, 196608, 32},
    {"Ascend910B4", "Ascend910B", "AIC-C-220", SIM_PA2, 20, 20, 40, 4, 32 * GIB, 96 * MIB, 1500, 196608, 32},
    {"Ascend910B4-1", "Ascend910B", "AIC-C-220", SIM_PA2, 20, 20, 40, 4, 32 * GIB, 168 * MIB, 1500, 196608, 32},
    {"Ascend910PremiumA", "Ascend910", "AIC-C-100", SIM_P910, 32, 32, 0, 4, 0, 32 * MIB, 1220, 262144, 32},
    {"Ascend910ProA", "Ascend910", "AIC-C-100", SIM_P910, 32, 32, 0, 4, 0, 32 * MIB, 1100, 262144, 32},
    {"Ascend910ProB", "Ascend910", "AIC-C-100", SIM_P910, 30, 30, 0, 4, 0, 32 * MIB, 1150, 262144, 32},
    {"Ascend910_9362", "Ascend910_93", "AIC-C-220", SIM_PA3, 20, 20, 40, 4, 32 * GIB, 168 * MIB, 1500, 196608, 32},
    {"Ascend910_9372", "Ascend910_93", "AIC-C-220", SIM_PA3, 20, 20, 40, 4, 64 * GIB, 192 * MIB, 1800, 196608, 32},
    {"Ascend910_9381", "Ascend910_93", "AIC-C-220", SIM_PA3, 24, 24, 48, 4, 64 * GIB, 192 * MIB, 1800, 196608, 32},
    {"Ascend910_9382", "Ascend910_93", "AIC-C-220", SIM_PA3, 24, 24, 48, 4, 64 * GIB, 192 * MIB, 1800, 196608, 32},
    {"Ascend910_9391", "Ascend910_93", "AIC-C-220", SIM_PA3, 24, 24, 48, 4, 64 * GIB, 192 * MIB, 1850, 196608, 32},
    {"Ascend910_9392", "Ascend910_93", "AIC-C-220", SIM_PA3, 24, 24, 48, 4, 64 * GIB, 192 * MIB, 1850, 196608, 32},
    {"Ascend910_95", "Ascend910_95", "AIC-C-310", SIM_P950, 32, 32, 64, 6, 128 * GIB, 128 * MIB, 1650, 253952, 31},
};
const size_t sim_soc_count = sizeof sim_socs / sizeof *sim_socs;

static const struct sim_family families[] = {
    [SIM_P950] = {"Ascend 950", 1984, 65536, 2014, 1091000, 4294967, DAV_3510, true},
    [SIM_PA3] = {"Atlas A3", 1984, 65536, 2013, 1091000, 4294967, DAV_2201, true},
    [SIM_PA2] = {"Atlas A2", 1984, 65536, 2013, 1091000, 4294967, DAV_2201, true},
    [SIM_P310B] = {"Atlas 200I/500 A2", 512, 65536, 2010, 1091000, 4294967, DAV_3002, false},
    [SIM_P310P] = {"Atlas inference series", 1024, 1023, 2042, 547000, 2147483, DAV_2002, false},
    [SIM_P910] = {"Atlas training series", 2048, 65535, 2042, 68000, 268435, DAV_1001, true},
};

static int compare_names(const void *name, const void *soc)
{
    return strcmp(name, ((const struct sim_soc *)soc)->so_name);
}

const struct sim_soc *sim_soc_find(const char *name)
{
    return bsearch(name, sim_socs, sim_soc_count, sizeof *sim_socs, compare_names);
}

const struct sim_family *sim_soc_family(const struct sim_soc *soc)
{
    return &families[soc->so_profile];
}
