/* Entry points of single operators: execution, handles, casts, shapes. */
#include "operator/op.h"

#include "engine/engine.h"

/* Gathers the parameters of a call. The casts are for the newer functions, whose lists point to non-const objects. */
#define DESCS(list) ((const aclTensorDesc *const *)(list))
#define BUFFERS(list) ((const aclDataBuffer *const *)(list))
#define GIVEN(the_inputs, the_outputs)                                                                                 \
    {.gi_type = opType, .gi_input_count = numInputs, .gi_output_count = numOutputs,                                    \
     .gi_input_descs = DESCS(inputDesc), .gi_output_descs = DESCS(outputDesc), .gi_inputs = BUFFERS(the_inputs),       \
     .gi_outputs = BUFFERS(the_outputs), .gi_attr = attr}

aclError aclopExecute(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
                      const aclDataBuffer *const inputs[], int numOutputs, const aclTensorDesc *const outputDesc[],
                      aclDataBuffer *const outputs[], const aclopAttr *attr, aclrtStream stream)
{
    SIM_ENTER();
    const struct sim_op_given given = GIVEN(inputs, outputs);
    return sim_op_execute(&given, stream, SIM_SITE());
}

aclError aclopExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[], aclDataBuffer *inputs[],
                        int numOutputs, aclTensorDesc *outputDesc[], aclDataBuffer *outputs[], aclopAttr *attr,
                        aclrtStream stream)
{
    SIM_ENTER();
    struct sim_op_given given = GIVEN(inputs, outputs);
    given.gi_tells = true;
    return sim_op_execute(&given, stream, SIM_SITE());
}

aclError aclopInferShape(const char *opType, int numInputs, aclTensorDesc *inputDesc[], aclDataBuffer *inputs[],
                         int numOutputs, aclTensorDesc *outputDesc[], aclopAttr *attr)
{
    SIM_ENTER();
    const struct sim_op_given given = GIVEN(inputs, NULL);
    return sim_op_infer(&given);
}

aclError aclopCompile(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[], int numOutputs,
                      const aclTensorDesc *const outputDesc[], const aclopAttr *attr, aclopEngineType engineType,
                      aclopCompileType compileFlag, const char *opPath)
{
    SIM_ENTER();
    (void)engineType; /* a hint */
    SIM_TRY(sim_op_check_flag(compileFlag, opPath));
    const struct sim_op_given given = GIVEN(NULL, NULL);
    return sim_op_compile(&given);
}

aclError aclopCompileAndExecute(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
                                const aclDataBuffer *const inputs[], int numOutputs,
                                const aclTensorDesc *const outputDesc[], aclDataBuffer *const outputs[],
                                const aclopAttr *attr, aclopEngineType engineType, aclopCompileType compileFlag,
                                const char *opPath, aclrtStream stream)
{
    SIM_ENTER();
    (void)engineType;
    SIM_TRY(sim_op_check_flag(compileFlag, opPath));
    const struct sim_op_given given = GIVEN(inputs, outputs);
    return sim_op_compile_and_execute(&given, stream, SIM_SITE());
}

aclError aclopCompileAndExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
                                  aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[],
                                  aclDataBuffer *outputs[], aclopAttr *attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char *opPath, aclrtStream stream)
{
    SIM_ENTER();
    (void)engineType;
    SIM_TRY(sim_op_check_flag(compileFlag, opPath));
    struct sim_op_given given = GIVEN(inputs, outputs);
    given.gi_tells = true;
    return sim_op_compile_and_execute(&given, stream, SIM_SITE());
}

/* ---- handles ---- */

aclError aclopCreateHandle(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[], int numOutputs,
                           const aclTensorDesc *const outputDesc[], const aclopAttr *attr, aclopHandle **handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    const struct sim_op_given given = GIVEN(NULL, NULL);
    *handle = NULL;
    return sim_op_handle_create(&given, handle);
}

void aclopDestroyHandle(aclopHandle *handle)
{
    SIM_ENTER();
    if (handle != NULL)
        sim_op_handle_destroy(handle);
}

aclError aclopExecWithHandle(aclopHandle *handle, int numInputs, const aclDataBuffer *const inputs[], int numOutputs,
                             aclDataBuffer *const outputs[], aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    return sim_op_handle_execute(handle, numInputs, inputs, numOutputs, BUFFERS(outputs), stream, SIM_SITE());
}

/* ---- casts: floats are truncated to integers, whatever the value of truncate is ---- */

#define CAST_GIVEN(source, destination, from, to)                                                                      \
    {.gi_type = "Cast", .gi_input_count = 1, .gi_output_count = 1, .gi_input_descs = (source),                         \
     .gi_output_descs = (destination), .gi_inputs = (from), .gi_outputs = (to)}

aclError aclopCast(const aclTensorDesc *srcDesc, const aclDataBuffer *srcBuffer, const aclTensorDesc *dstDesc,
                   aclDataBuffer *dstBuffer, uint8_t truncate, aclrtStream stream)
{
    SIM_ENTER();
    (void)truncate;
    SIM_NOT_NULL(dstDesc);
    const aclDataBuffer *const to = dstBuffer;
    const struct sim_op_given given = CAST_GIVEN(&srcDesc, &dstDesc, &srcBuffer, &to);
    return sim_op_execute(&given, stream, SIM_SITE());
}

aclError aclopCreateHandleForCast(aclTensorDesc *srcDesc, aclTensorDesc *dstDesc, uint8_t truncate,
                                  aclopHandle **handle)
{
    SIM_ENTER();
    (void)truncate;
    SIM_NOT_NULL(dstDesc);
    SIM_NOT_NULL(handle);
    const aclTensorDesc *const from = srcDesc, *const to = dstDesc;
    const struct sim_op_given given = CAST_GIVEN(&from, &to, NULL, NULL);
    *handle = NULL;
    return sim_op_handle_create(&given, handle);
}
