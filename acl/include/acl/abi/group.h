/* Groups of compute resources on a device. */

typedef struct tagRtGroupInfo aclrtGroupInfo;

typedef enum aclrtGroupAttr {
    ACL_GROUP_AICORE_INT = 0,
    ACL_GROUP_AIV_INT = 1,
    ACL_GROUP_AIC_INT = 2,
    ACL_GROUP_SDMANUM_INT = 3,
    ACL_GROUP_ASQNUM_INT = 4,
    ACL_GROUP_GROUPID_INT = 5,
} aclrtGroupAttr;

/** Run this thread's work on a group of cores.
 *  rt.set_group(groupId) -> ret */
ACL_API(8, 1) aclError aclrtSetGroup(int32_t groupId);

/** Number of groups on the current device.
 *  rt.get_group_count(_) -> (count, ret) */
ACL_API(8, 1) aclError aclrtGetGroupCount(uint32_t *count);

/** Create an empty table of groups.
 *  rt.create_group_info() -> value */
ACL_API(8, 1) aclrtGroupInfo *aclrtCreateGroupInfo(void);

/** Destroy a table of groups.
 *  rt.destroy_group_info(groupInfo) -> ret */
ACL_API(8, 1) aclError aclrtDestroyGroupInfo(aclrtGroupInfo *groupInfo);

/** Fill a table with all groups of the current device.
 *  rt.get_all_group_info(groupInfo) -> ret */
ACL_API(8, 1) aclError aclrtGetAllGroupInfo(aclrtGroupInfo *groupInfo);

/** One attribute of one group of a table.
 *  rt.get_group_info_detail(groupInfo, groupIndex, attr) -> (attrValue:[int], ret) @py */
ACL_API(8, 1) aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo *groupInfo, int32_t groupIndex, aclrtGroupAttr attr,
    void *attrValue, size_t valueLen, size_t *paramRetSize);
