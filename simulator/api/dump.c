/* Entry points of dumps: data of operators, reports of failures, and graphs. */
#include "observe/dump.h"
#include "base/config.h"
#include "base/object.h"
#include "operator/tensordesc.h"
#include <string.h>

aclError aclmdlInitDump(void)
{
    SIM_ENTER();
    return sim_dump_init();
}

aclError aclmdlSetDump(const char *dumpCfgPath)
{
    SIM_ENTER();
    return sim_dump_set(dumpCfgPath);
}

aclError aclmdlFinalizeDump(void)
{
    SIM_ENTER();
    return sim_dump_finalize();
}

aclError acldumpRegCallback(int32_t (*const messageCallback)(const acldumpChunk *, int32_t), int32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(messageCallback);
    SIM_ARGUMENT(flag == 0, ACL_ERROR_INVALID_PARAM, "flag is %d, expected 0 (only the callback, no files)", flag);
    sim_dump_give_to(messageCallback);
    return ACL_SUCCESS;
}

void acldumpUnregCallback(void)
{
    SIM_ENTER();
    sim_dump_give_to(NULL);
}

const char *acldumpGetPath(acldumpType dumpType)
{
    SIM_ENTER();
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    if (profile >= SIM_P310B) {
        sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s does not report dump paths", sim_config()->cf_soc->so_name);
        return NULL;
    }
    if (dumpType < AIC_ERR_BRIEF_DUMP || dumpType > OVERFLOW_DUMP) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "dumpType is %d, expected one of acldumpType, 1 to 5", (int)dumpType);
        return NULL;
    }
    return sim_dump_path(dumpType);
}

/* ---- failures ---- */

aclError acldumpGetExceptionInfoPath(char *path, size_t maxLen)
{
    SIM_ENTER();
    SIM_NOT_NULL(path);
    SIM_ARGUMENT(maxLen > 1, ACL_ERROR_INVALID_PARAM, "maxLen is %zu, expected room for a path", maxLen);
    return sim_dump_exception_path(path, maxLen);
}

/* Checks that the path stays inside the directory of failure reports. */
static aclError check_file_name(const char *name)
{
    size_t length = strlen(name);
    SIM_ARGUMENT(length != 0 && length < SIM_DUMP_FILE, ACL_ERROR_INVALID_PARAM,
                 "fileName has %zu bytes, expected 1 to %d", length, SIM_DUMP_FILE - 1);
    bool leaves = *name == '/' || name[length - 1] == '/';
    for (const char *at = name; !leaves && at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        leaves = strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0');
    }
    SIM_ARGUMENT(!leaves, ACL_ERROR_INVALID_PARAM,
                 "fileName is \"%.256s\", expected the name of a file, or a relative path without \"..\"", name);
    return ACL_SUCCESS;
}

aclError acldumpSaveExceptionInfo(const char *fileName, const char *userTag, const acldumpTensorInfo *tensors,
                                  size_t tensorCount)
{
    SIM_ENTER();
    SIM_NOT_NULL(fileName);
    SIM_NOT_NULL(tensors);
    SIM_TRY(check_file_name(fileName));
    SIM_ARGUMENT(tensorCount != 0, ACL_ERROR_INVALID_PARAM, "tensorCount is 0, expected at least one tensor");
    return sim_dump_exception(fileName, userTag, tensors, tensorCount);
}

/* ---- operators ---- */

static aclError check_arguments_dump(uint32_t dumpType)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    SIM_SUPPORTED(profile != SIM_P310B && profile != SIM_P310P, "%s cannot dump the arguments of operators",
                  sim_config()->cf_soc->so_name);
    SIM_ARGUMENT(dumpType == ACL_OP_DUMP_OP_AICORE_ARGS, ACL_ERROR_INVALID_PARAM,
                 "dumpType is %u, expected ACL_OP_DUMP_OP_AICORE_ARGS (1)", dumpType);
    return ACL_SUCCESS;
}

aclError aclopStartDumpArgs(uint32_t dumpType, const char *path)
{
    SIM_ENTER();
    SIM_NOT_NULL(path);
    SIM_TRY(check_arguments_dump(dumpType));
    SIM_ARGUMENT(*path != '\0', ACL_ERROR_INVALID_FILE, "path is empty, expected a directory");
    return sim_dump_arguments(path);
}

aclError aclopStopDumpArgs(uint32_t dumpType)
{
    SIM_ENTER();
    SIM_TRY(check_arguments_dump(dumpType));
    return sim_dump_arguments(NULL);
}

aclnnStatus aclDumpOpTensors(const char *opType, const char *opName, aclTensor **tensors, size_t inputTensorNum,
                             size_t outputTensorNum, aclrtStream stream)
{
    SIM_ENTER();
    SIM_ARGUMENT(opType != NULL && opName != NULL && tensors != NULL, ACLNN_ERR_PARAM_NULLPTR,
                 "%s is NULL, expected a valid pointer",
                 opType == NULL ? "opType" : opName == NULL ? "opName" : "tensors");
    SIM_ARGUMENT(inputTensorNum <= UINT32_MAX && outputTensorNum <= UINT32_MAX, ACLNN_ERR_PARAM_INVALID,
                 "inputTensorNum is %zu and outputTensorNum %zu, expected fewer", inputTensorNum, outputTensorNum);
    const struct sim_dump_tensors given = {opType, opName, tensors, inputTensorNum, inputTensorNum + outputTensorNum};
    return sim_dump_tensors(&given, stream, SIM_SITE());
}

/* ---- graphs ---- */

aclGraphDumpOption *aclCreateGraphDumpOpt(void)
{
    SIM_ENTER();
    return sim_dump_graph_create();
}

aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption *graphDumpOpt)
{
    SIM_ENTER();
    SIM_NOT_NULL(graphDumpOpt);
    return sim_dump_graph_destroy(graphDumpOpt);
}

static aclError check_side(const char *side, int count, const void *descs, const aclDataBuffer *const *buffers)
{
    SIM_ARGUMENT(count >= 0, ACL_ERROR_INVALID_PARAM, "the number of %ss is %d, expected 0 or more", side, count);
    SIM_ARGUMENT(count == 0 || (descs != NULL && buffers != NULL), ACL_ERROR_INVALID_PARAM,
                 "%sDesc is %p and %ss %p, expected arrays of %d", side, descs, side, (const void *)buffers, count);
    for (int i = 0; i < count; i++) {
        struct sim_data_buffer *buffer = sim_tensordesc_buffer_open(buffers[i]);
        if (buffer == NULL)
            return ACL_ERROR_INVALID_PARAM;
        sim_object_close(buffer);
    }
    return ACL_SUCCESS;
}

aclError aclGenGraphAndDumpForOp(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
                                 const aclDataBuffer *const inputs[], int numOutputs,
                                 const aclTensorDesc *const outputDesc[], aclDataBuffer *const outputs[],
                                 const aclopAttr *attr, aclopEngineType engineType, const char *graphDumpPath,
                                 const aclGraphDumpOption *graphDumpOpt)
{
    SIM_ENTER();
    SIM_NOT_NULL(opType);
    SIM_NOT_NULL(graphDumpPath);
    SIM_ARGUMENT(*opType != '\0' && strchr(opType, '/') == NULL, ACL_ERROR_INVALID_PARAM,
                 "opType is \"%.64s\", expected the name of an operator type", opType);
    SIM_ARGUMENT((unsigned)engineType <= ACL_ENGINE_VECTOR, ACL_ERROR_INVALID_PARAM,
                 "engineType is %d, expected one of aclopEngineType", (int)engineType);
    SIM_TRY(check_side("input", numInputs, inputDesc, inputs));
    SIM_TRY(check_side("output", numOutputs, outputDesc, (const aclDataBuffer *const *)outputs));
    if (graphDumpOpt != NULL)
        SIM_TRY(sim_dump_graph_check(graphDumpOpt));
    const struct sim_dump_graph graph = {opType, graphDumpPath, {inputDesc, outputDesc}, {numInputs, numOutputs},
                                         attr};
    return sim_dump_graph_write(&graph);
}
