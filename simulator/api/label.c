/* Entry points of labels, switches, and streams that activate other streams, inside model running instances. */
#include "capture/label.h"
#include "base/config.h"

aclError aclrtCreateLabel(aclrtLabel *label)
{
    SIM_ENTER();
    SIM_NOT_NULL(label);
    return sim_label_create(label);
}

aclError aclrtDestroyLabel(aclrtLabel label)
{
    SIM_ENTER();
    SIM_NOT_NULL(label);
    return sim_label_destroy(label);
}

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(label);
    SIM_NOT_NULL(stream);
    SIM_TRY(sim_label_check(label));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_label_set(label, target, SIM_SITE());
}

aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num, aclrtLabelList *labelList)
{
    SIM_ENTER();
    SIM_NOT_NULL(labels);
    SIM_NOT_NULL(labelList);
    SIM_CHECK(num != 0 && num <= SIM_LABELS_MOST, ACL_ERROR_RT_PARAM_INVALID, "num is %zu, expected 1 to %d", num,
              SIM_LABELS_MOST);
    return sim_label_list_create(labels, num, labelList);
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList)
{
    SIM_ENTER();
    SIM_NOT_NULL(labelList);
    return sim_label_list_destroy(labelList);
}

aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(ptr);
    SIM_NOT_NULL(labelList);
    SIM_NOT_NULL(stream);
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_label_switch(ptr, maxValue, labelList, target, SIM_SITE());
}

static aclError check_chip(void)
{
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile != SIM_PA3, "%s has no streams that activate other streams",
                  sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(activeStream);
    SIM_NOT_NULL(stream);
    SIM_TRY(check_chip());
    struct sim_target active, target;
    SIM_TRY(sim_stream_any(activeStream, &active));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_capture_activate(active, target, SIM_SITE());
}

aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue, aclrtCompareDataType dataType,
                           aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream)
{
    SIM_ENTER();
    const struct sim_comparison comparison = {leftValue, rightValue, cond, dataType};
    struct sim_target to, target;
    SIM_NOT_NULL(leftValue);
    SIM_NOT_NULL(rightValue);
    SIM_NOT_NULL(trueStream);
    SIM_NOT_NULL(stream);
    SIM_ARGUMENT(falseStream == NULL, ACL_ERROR_INVALID_PARAM,
                 "falseStream is %p, expected NULL: if the condition is false, the stream itself continues",
                 falseStream);
    SIM_TRY(check_chip());
    SIM_TRY(sim_stream_find(trueStream, &to));
    SIM_TRY(sim_stream_check(stream));
    SIM_CHECK((unsigned)cond <= ACL_RT_LESS_OR_EQUAL, ACL_ERROR_RT_PARAM_INVALID,
              "cond is %d, expected an aclrtCondition from 0 (equal) to 5 (less or equal)", (int)cond);
    SIM_CHECK((unsigned)dataType <= ACL_RT_SWITCH_INT64, ACL_ERROR_RT_PARAM_INVALID,
              "dataType is %d, expected 0 (int32) or 1 (int64)", (int)dataType);
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_label_switch_stream(&comparison, to, target, SIM_SITE());
}
