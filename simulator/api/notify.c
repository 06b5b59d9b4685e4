/* Entry points of notifies. Only Ascend 950 has counting notifies; they refuse NULL with 107000, the runtime's code,
 * and not with 100000. */
#include "base/config.h"
#include "engine/context.h"
#include "memory/notify.h"
#include "share/exchange.h"

static enum sim_profile profile(void)
{
    return sim_config()->cf_soc->so_profile;
}

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(notify);
    SIM_CHECK(flag <= ACL_NOTIFY_DEVICE_USE_ONLY, ACL_ERROR_RT_PARAM_INVALID,
              "flag is %#llx, expected ACL_NOTIFY_DEFAULT (0) or ACL_NOTIFY_DEVICE_USE_ONLY (1)",
              (unsigned long long)flag);
    SIM_SUPPORTED(flag == ACL_NOTIFY_DEFAULT || (profile() != SIM_P310B && profile() != SIM_P910),
                  "%s does not support device-only notifies", sim_config()->cf_soc->so_name);
    return sim_notify_create(SIM_NOTIFY_PLAIN, notify);
}

/* Checks the notify of a task, and finds its stream. */
static aclError find(aclrtNotify notify, aclrtStream stream, struct sim_target *target)
{
    SIM_NOT_NULL(notify);
    SIM_TRY(sim_notify_check(SIM_NOTIFY_PLAIN, notify));
    return sim_stream_own(stream, target);
}

aclError aclrtDestroyNotify(aclrtNotify notify)
{
    SIM_ENTER();
    struct sim_context *context;
    SIM_NOT_NULL(notify);
    SIM_TRY(sim_notify_check(SIM_NOTIFY_PLAIN, notify));
    SIM_TRY(sim_context_current(&context));
    return sim_notify_destroy(SIM_NOTIFY_PLAIN, notify);
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(find(notify, stream, &target));
    return sim_notify_record(notify, target, SIM_SITE());
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(find(notify, stream, &target));
    return sim_notify_wait(notify, timeout, target, SIM_SITE());
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId)
{
    SIM_ENTER();
    SIM_NOT_NULL(notify);
    SIM_NOT_NULL(notifyId);
    return sim_notify_id(SIM_NOTIFY_PLAIN, notify, notifyId);
}

/* Resets the notifies one after another on the default stream, and stops at the first failure. */
aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(notifies);
    SIM_SUPPORTED(profile() <= SIM_PA2, "%s cannot reset notifies from the host", sim_config()->cf_soc->so_name);
    SIM_CHECK(num != 0, ACL_ERROR_RT_PARAM_INVALID, "num is 0, expected the length of notifies");
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_stream_own(NULL, &target));
    for (size_t i = 0; i < num; i++) {
        SIM_CHECK(notifies[i] != NULL, ACL_ERROR_RT_PARAM_INVALID, "notifies[%zu] is NULL, expected a live notify", i);
        SIM_TRY(sim_notify_check(SIM_NOTIFY_PLAIN, notifies[i]));
        SIM_TRY(sim_notify_reset(SIM_NOTIFY_RESET_BATCH, notifies[i], target, SIM_SITE()));
        SIM_TRY(sim_engine_refusal(
            sim_engine_wait(target.tg_stream, sim_stream_tail(target.tg_stream), SIM_FOREVER, SIM_HELPER)));
        SIM_TRY(sim_stream_take_error(target.tg_stream));
    }
    return ACL_SUCCESS;
}

/* ---- other processes ---- */

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len, uint64_t flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(notify);
    SIM_NOT_NULL(key);
    SIM_TRY(sim_notify_share_supported());
    SIM_TRY(sim_notify_check(SIM_NOTIFY_PLAIN, notify));
    SIM_CHECK(len >= SIM_EXCHANGE_KEY, ACL_ERROR_RT_PARAM_INVALID, "len is %zu, expected at least %d, the size of a "
              "key in bytes",
              len, SIM_EXCHANGE_KEY);
    SIM_CHECK(flags == ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT || flags == ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION,
              ACL_ERROR_RT_PARAM_INVALID,
              "flags is %#llx, expected 0 or ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION (2)",
              (unsigned long long)flags);
    return sim_notify_export(notify, flags != 0, key);
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num)
{
    SIM_ENTER();
    SIM_NOT_NULL(notify);
    SIM_NOT_NULL(pid);
    SIM_TRY(sim_notify_share_supported());
    SIM_TRY(sim_notify_check(SIM_NOTIFY_PLAIN, notify));
    SIM_TRY(sim_exchange_check_pids(pid, num));
    return sim_notify_allow(notify, pid, num);
}

/* Every server is this machine, so the processes of all servers in the list are allowed. */
aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid *serverPids, size_t num)
{
    SIM_ENTER();
    SIM_SUPPORTED(profile() == SIM_PA3, "%s does not work across several servers", sim_config()->cf_soc->so_name);
    SIM_CHECK(notify != NULL, ACL_ERROR_RT_PARAM_INVALID, "notify is NULL, expected a live notify");
    SIM_TRY(sim_notify_check(SIM_NOTIFY_PLAIN, notify));
    SIM_TRY(sim_exchange_check_servers(serverPids, num));
    for (size_t i = 0; i < num; i++)
        SIM_TRY(sim_notify_allow(notify, serverPids[i].pid, serverPids[i].num));
    return ACL_SUCCESS;
}

aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key, uint64_t flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(notify);
    SIM_NOT_NULL(key);
    SIM_TRY(sim_notify_share_supported());
    SIM_CHECK(flags <= (ACL_NOTIFY_DEVICE_USE_ONLY | ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS),
              ACL_ERROR_RT_PARAM_INVALID,
              "flags is %#llx, expected 0, ACL_NOTIFY_DEVICE_USE_ONLY (1), "
              "ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS (2) or their sum", (unsigned long long)flags);
    return sim_notify_import(key, (flags & ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) != 0, notify);
}

aclError aclrtGetHardwareSyncAddr(void **addr)
{
    SIM_ENTER();
    SIM_NOT_NULL(addr);
    SIM_SUPPORTED(profile() == SIM_PA3 || profile() == SIM_PA2, "%s has no address for synchronising its cores",
                  sim_config()->cf_soc->so_name);
    return sim_notify_sync_address(addr);
}

/* ---- counting notifies ---- */

static aclError check_chip(void)
{
    SIM_SUPPORTED(profile() == SIM_P950, "%s has no counting notifies, expected Ascend 950",
                  sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

static aclError check_counting(aclrtCntNotify notify)
{
    SIM_TRY(check_chip());
    SIM_CHECK(notify != NULL, ACL_ERROR_RT_PARAM_INVALID, "cntNotify is NULL, expected a live counting notify");
    return sim_notify_check(SIM_NOTIFY_COUNTING, notify);
}

aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag)
{
    SIM_ENTER();
    SIM_TRY(check_chip());
    SIM_CHECK(cntNotify != NULL, ACL_ERROR_RT_PARAM_INVALID, "cntNotify is NULL, expected a valid pointer");
    SIM_CHECK(flag == ACL_NOTIFY_DEFAULT, ACL_ERROR_RT_PARAM_INVALID, "flag is %#llx, expected ACL_NOTIFY_DEFAULT (0)",
              (unsigned long long)flag);
    return sim_notify_create(SIM_NOTIFY_COUNTING, cntNotify);
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify)
{
    SIM_ENTER();
    struct sim_context *context;
    SIM_TRY(check_counting(cntNotify));
    SIM_TRY(sim_context_current(&context));
    return sim_notify_destroy(SIM_NOTIFY_COUNTING, cntNotify);
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo *info)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(info);
    SIM_TRY(check_counting(cntNotify));
    SIM_TRY(sim_stream_check(stream));
    unsigned mode = (unsigned)info->mode;
    SIM_CHECK(mode <= ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE || mode == ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE,
              ACL_ERROR_RT_PARAM_INVALID,
              "info->mode is %u, expected 0 (set), 1 (add), 2 (bitwise OR) or 4 (bitwise AND)", mode);
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_notify_change(cntNotify, info, target, SIM_SITE());
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo *info)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(info);
    SIM_TRY(check_counting(cntNotify));
    SIM_TRY(sim_stream_check(stream));
    SIM_CHECK((unsigned)info->mode <= ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, ACL_ERROR_RT_PARAM_INVALID,
              "info->mode is %u, expected 0 (less), 1 (equal), 2 (bigger), 3 (bigger or equal) or 4 (all bits of "
              "value)",
              (unsigned)info->mode);
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_notify_wait_for(cntNotify, info, target, SIM_SITE());
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(check_counting(cntNotify));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_notify_reset(SIM_NOTIFY_RESET_COUNTER, cntNotify, target, SIM_SITE());
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId)
{
    SIM_ENTER();
    SIM_TRY(check_counting(cntNotify));
    SIM_CHECK(notifyId != NULL, ACL_ERROR_RT_PARAM_INVALID, "notifyId is NULL, expected a valid pointer");
    return sim_notify_id(SIM_NOTIFY_COUNTING, cntNotify, notifyId);
}
