/* Labels and switches: jumps inside and between the streams of a model. */

typedef void *aclrtLabel;
typedef void *aclrtLabelList;

typedef enum aclrtCondition {
    ACL_RT_EQUAL = 0,
    ACL_RT_NOT_EQUAL = 1,
    ACL_RT_GREATER = 2,
    ACL_RT_GREATER_OR_EQUAL = 3,
    ACL_RT_LESS = 4,
    ACL_RT_LESS_OR_EQUAL = 5,
} aclrtCondition;

typedef enum aclrtCompareDataType {
    ACL_RT_SWITCH_INT32 = 0,
    ACL_RT_SWITCH_INT64 = 1,
} aclrtCompareDataType;

/** Create a label in the current context. */
ACL_API(8, 5) aclError aclrtCreateLabel(aclrtLabel *label);

/** Destroy a label. */
ACL_API(8, 5) aclError aclrtDestroyLabel(aclrtLabel label);

/** Set a label at the current end of a model's stream. */
ACL_API(8, 5) aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream);

/** Create a list of labels, from which an index selects one. */
ACL_API(8, 5) aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num, aclrtLabelList *labelList);

/** Destroy a list of labels, but not the labels. */
ACL_API(8, 5) aclError aclrtDestroyLabelList(aclrtLabelList labelList);

/** Queue a jump to the label whose index is in device memory. */
ACL_API(8, 5) aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue, aclrtLabelList labelList,
    aclrtStream stream);

/** Queue the start of another stream of the model.
 *  rt.active_stream(activeStream, stream) -> ret @extension */
ACL_API(8, 5) aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream);

/** Queue a comparison of two values in device memory; if it is true, execution continues on the other stream. */
ACL_API(8, 5) aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue,
    aclrtCompareDataType dataType, aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream);
