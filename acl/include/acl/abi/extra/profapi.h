/* The profiler's interface for frameworks, libprofapi.so: hashes, the time and API spans; other reports are refused. */

typedef int32_t msprofStatus;
typedef int32_t (*ProfCommandHandle)(uint32_t type, void *data, uint32_t len);

typedef struct MsprofApi {
    uint16_t magicNumber;
    uint16_t level;
    uint32_t type;
    uint32_t threadId;
    uint32_t reserve;
    uint64_t beginTime;
    uint64_t endTime;
    uint64_t itemId;
} MsprofApi;

ACL_API(8, 1) uint64_t MsprofGetHashId(const char *hashInfo, size_t length);
ACL_API(8, 1) uint64_t MsprofSysCycleTime(void);
ACL_API(8, 1) msprofStatus MsprofReportApi(uint32_t nonPersistantFlag, const MsprofApi *api);
ACL_API(8, 1) msprofStatus MsprofRegisterCallback(uint32_t moduleId, ProfCommandHandle handle);
ACL_API(8, 1) msprofStatus MsprofReportCompactInfo(uint32_t nonPersistantFlag, const void *data, uint32_t length);
ACL_API(8, 1) msprofStatus MsprofReportAdditionalInfo(uint32_t nonPersistantFlag, const void *data, uint32_t length);
