/* The functions of the driver library (HAL) that programs use to count devices. */
#include "engine/device.h"
#include <acl/abi/extra/hal.h>

#define DRV_INVALID_VALUE 3

drvError_t drvGetDevNum(uint32_t *num_dev)
{
    SIM_ENTER();
    if (num_dev == NULL) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "num_dev is NULL, expected a valid pointer");
        return DRV_INVALID_VALUE;
    }
    *num_dev = sim_config_devices();
    return 0;
}
