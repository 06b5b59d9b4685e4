/* The driver's library, libascend_hal.so: the number of devices; all other functions refuse the call. */

typedef int32_t drvError_t;

ACL_API(8, 1) drvError_t drvGetDevNum(uint32_t *num_dev);
ACL_API(8, 1) drvError_t halGetAPIVersion(int *halAPIVersion);
ACL_API(8, 1) drvError_t halGetDeviceInfo(uint32_t devId, int32_t moduleType, int32_t infoType, int64_t *value);
