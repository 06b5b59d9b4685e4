/* Entry points of AIPP, the preprocessing of images in front of a model. */
#include "model/model_aipp.h"
#include "operator/tensordesc.h"
#include <string.h>

#define CHECK_SWITCH(value)                                                                                            \
    SIM_ARGUMENT((value) == 0 || (value) == 1, ACL_ERROR_INVALID_PARAM, #value " is %d, expected 0 (off) or 1 (on)",  \
                 value)

#define CHECK_RANGE(value, least, most)                                                                                \
    SIM_ARGUMENT((value) >= (least) && (value) <= (most), ACL_ERROR_INVALID_PARAM, #value " is %d, expected %d to %d", \
                 value, least, most)

/* A NaN fails both comparisons and is refused. */
#define CHECK_REAL(value, least, most)                                                                                 \
    SIM_ARGUMENT((value) >= (least) && (value) <= (most), ACL_ERROR_INVALID_PARAM, #value " is %g, expected %d to %d", \
                 (double)(value), least, most)

/* Applies a check to each of four channels. */
#define CHECK_CHANNELS(check, name, least, most)                                                                       \
    check(name##0, least, most);                                                                                       \
    check(name##1, least, most);                                                                                       \
    check(name##2, least, most);                                                                                       \
    check(name##3, least, most)

#define OPEN(found)                                                                                                    \
    struct sim_aipp *found = sim_model_aipp_open(aippParmsSet);                                                        \
    if (found == NULL)                                                                                                 \
    return ACL_ERROR_INVALID_PARAM

/* Opens one image of a parameter set. The caller closes `found`, the set. */
#define OPEN_IMAGE(found, image)                                                                                       \
    struct sim_aipp *found;                                                                                            \
    struct sim_aipp_image *image = sim_model_aipp_open_image(aippParmsSet, batchIndex, &found);                        \
    if (image == NULL)                                                                                                 \
    return ACL_ERROR_INVALID_PARAM

/* Body of a setter of one switch that all images share. */
#define SET_SWITCH(field, value)                                                                                       \
    SIM_ENTER();                                                                                                       \
    CHECK_SWITCH(value);                                                                                               \
    OPEN(found);                                                                                                       \
    found->ai_block->field = value;                                                                                    \
    sim_object_close(found);                                                                                           \
    return ACL_SUCCESS

#define COPY(target, values) memcpy(target, values, sizeof(target))

/* ---- the object ---- */

aclError aclmdlDestroyAIPP(const aclmdlAIPP *aippParmsSet)
{
    SIM_ENTER();
    OPEN(found);
    sim_model_aipp_destroy(found);
    return ACL_SUCCESS;
}

aclError aclmdlGetAippDataSize(uint64_t batchSize, size_t *size)
{
    SIM_ENTER();
    SIM_NOT_NULL(size);
    SIM_TRY(sim_model_aipp_check_batch(batchSize));
    *size = sim_model_aipp_bytes(batchSize);
    return ACL_SUCCESS;
}

/* ---- parameters of all images ---- */

aclError aclmdlSetAIPPInputFormat(aclmdlAIPP *aippParmsSet, aclAippInputFormat inputFormat)
{
    SIM_ENTER();
    SIM_ARGUMENT(inputFormat >= ACL_YUV420SP_U8 && inputFormat <= ACL_YUV400_U8, ACL_ERROR_INVALID_PARAM,
                 "inputFormat is %d, expected one for dynamic AIPP (1 to 4): ACL_YUV420SP_U8, ACL_XRGB8888_U8, "
                 "ACL_RGB888_U8 or ACL_YUV400_U8",
                 (int)inputFormat);
    OPEN(found);
    found->ai_block->bl_format = (uint8_t)inputFormat;
    sim_object_close(found);
    return ACL_SUCCESS;
}

/* Every value of the parameter's type is valid for the matrix and the bias. */
aclError aclmdlSetAIPPCscParams(aclmdlAIPP *aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
                                int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0,
                                int16_t cscMatrixR1C1, int16_t cscMatrixR1C2, int16_t cscMatrixR2C0,
                                int16_t cscMatrixR2C1, int16_t cscMatrixR2C2, uint8_t cscOutputBiasR0,
                                uint8_t cscOutputBiasR1, uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0,
                                uint8_t cscInputBiasR1, uint8_t cscInputBiasR2)
{
    SIM_ENTER();
    CHECK_SWITCH(cscSwitch);
    const int16_t matrix[9] = {cscMatrixR0C0, cscMatrixR0C1, cscMatrixR0C2, cscMatrixR1C0, cscMatrixR1C1,
                               cscMatrixR1C2, cscMatrixR2C0, cscMatrixR2C1, cscMatrixR2C2};
    const uint8_t output[3] = {cscOutputBiasR0, cscOutputBiasR1, cscOutputBiasR2};
    const uint8_t input[3] = {cscInputBiasR0, cscInputBiasR1, cscInputBiasR2};
    OPEN(found);
    found->ai_block->bl_csc = cscSwitch;
    if (cscSwitch != 0) {
        COPY(found->ai_block->bl_matrix, matrix);
        COPY(found->ai_block->bl_output_bias, output);
        COPY(found->ai_block->bl_input_bias, input);
    }
    sim_object_close(found);
    return ACL_SUCCESS;
}

aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t rbuvSwapSwitch)
{
    SET_SWITCH(bl_swap_rbuv, rbuvSwapSwitch);
}

aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t axSwapSwitch)
{
    SET_SWITCH(bl_swap_ax, axSwapSwitch);
}

aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP *aippParmsSet, int32_t srcImageSizeW, int32_t srcImageSizeH)
{
    SIM_ENTER();
    CHECK_RANGE(srcImageSizeW, 2, SIM_AIPP_SIDE_MAX);
    CHECK_RANGE(srcImageSizeH, 1, SIM_AIPP_SIDE_MAX);
    OPEN(found);
    found->ai_block->bl_source[0] = srcImageSizeW;
    found->ai_block->bl_source[1] = srcImageSizeH;
    sim_object_close(found);
    return ACL_SUCCESS;
}

/* ---- parameters of one image; sizes are ignored while their switch is off ---- */

/* Sets a switch of one image and, if it is on, the four sizes that belong to it. */
static aclError set_part(const aclmdlAIPP *aippParmsSet, uint64_t batchIndex, size_t place, int8_t on,
                         size_t sizes_place, const int32_t sizes[4])
{
    OPEN_IMAGE(found, image);
    *((int8_t *)image + place) = on;
    if (on != 0)
        memcpy((char *)image + sizes_place, sizes, 4 * sizeof *sizes);
    sim_object_close(found);
    return ACL_SUCCESS;
}

#define SET_PART(field, on, first, ...)                                                                                \
    return set_part(aippParmsSet, batchIndex, offsetof(struct sim_aipp_image, field), on,                              \
                    offsetof(struct sim_aipp_image, first), (const int32_t[4]){__VA_ARGS__})

static aclError check_scaling(int32_t scfInputSizeW, int32_t scfInputSizeH, int32_t scfOutputSizeW,
                              int32_t scfOutputSizeH)
{
    CHECK_RANGE(scfInputSizeW, 16, 4096);
    CHECK_RANGE(scfInputSizeH, 16, 4096);
    CHECK_RANGE(scfOutputSizeW, 16, 1920);
    CHECK_RANGE(scfOutputSizeH, 16, 4096);
    CHECK_RANGE(scfOutputSizeW, (scfInputSizeW + 15) / 16, 16 * scfInputSizeW);
    CHECK_RANGE(scfOutputSizeH, (scfInputSizeH + 15) / 16, 16 * scfInputSizeH);
    return ACL_SUCCESS;
}

aclError aclmdlSetAIPPScfParams(aclmdlAIPP *aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
                                int32_t scfInputSizeH, int32_t scfOutputSizeW, int32_t scfOutputSizeH,
                                uint64_t batchIndex)
{
    SIM_ENTER();
    CHECK_SWITCH(scfSwitch);
    if (scfSwitch != 0)
        SIM_TRY(check_scaling(scfInputSizeW, scfInputSizeH, scfOutputSizeW, scfOutputSizeH));
    SET_PART(im_scale, scfSwitch, im_scale_from, scfInputSizeW, scfInputSizeH, scfOutputSizeW, scfOutputSizeH);
}

static aclError check_cropping(int32_t cropStartPosW, int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH)
{
    CHECK_RANGE(cropStartPosW, 0, 4095);
    CHECK_RANGE(cropStartPosH, 0, 4095);
    CHECK_RANGE(cropSizeW, 1, 4096);
    CHECK_RANGE(cropSizeH, 1, 4096);
    return ACL_SUCCESS;
}

aclError aclmdlSetAIPPCropParams(aclmdlAIPP *aippParmsSet, int8_t cropSwitch, int32_t cropStartPosW,
                                 int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH, uint64_t batchIndex)
{
    SIM_ENTER();
    CHECK_SWITCH(cropSwitch);
    if (cropSwitch != 0)
        SIM_TRY(check_cropping(cropStartPosW, cropStartPosH, cropSizeW, cropSizeH));
    SET_PART(im_crop, cropSwitch, im_crop_start, cropStartPosW, cropStartPosH, cropSizeW, cropSizeH);
}

static aclError check_padding(int32_t paddingSizeTop, int32_t paddingSizeBottom, int32_t paddingSizeLeft,
                              int32_t paddingSizeRight)
{
    CHECK_RANGE(paddingSizeTop, 0, 32);
    CHECK_RANGE(paddingSizeBottom, 0, 32);
    CHECK_RANGE(paddingSizeLeft, 0, 32);
    CHECK_RANGE(paddingSizeRight, 0, 32);
    return ACL_SUCCESS;
}

aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP *aippParmsSet, int8_t paddingSwitch, int32_t paddingSizeTop,
                                    int32_t paddingSizeBottom, int32_t paddingSizeLeft, int32_t paddingSizeRight,
                                    uint64_t batchIndex)
{
    SIM_ENTER();
    CHECK_SWITCH(paddingSwitch);
    if (paddingSwitch != 0)
        SIM_TRY(check_padding(paddingSizeTop, paddingSizeBottom, paddingSizeLeft, paddingSizeRight));
    SET_PART(im_pad, paddingSwitch, im_pad_sizes, paddingSizeTop, paddingSizeBottom, paddingSizeLeft,
             paddingSizeRight);
}

/* Sets one 16-bit number per channel of an image. */
static aclError set_channels(const aclmdlAIPP *aippParmsSet, uint64_t batchIndex, size_t place, const void *values)
{
    OPEN_IMAGE(found, image);
    memcpy((char *)image + place, values, 4 * sizeof(uint16_t));
    sim_object_close(found);
    return ACL_SUCCESS;
}

#define CHANNELS(type, convert, name)                                                                                  \
    (const type[4]){convert(name##0), convert(name##1), convert(name##2), convert(name##3)}
#define SET_CHANNELS(field, values)                                                                                    \
    return set_channels(aippParmsSet, batchIndex, offsetof(struct sim_aipp_image, field), (values))

aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP *aippParmsSet, int16_t dtcPixelMeanChn0, int16_t dtcPixelMeanChn1,
                                   int16_t dtcPixelMeanChn2, int16_t dtcPixelMeanChn3, uint64_t batchIndex)
{
    SIM_ENTER();
    CHECK_CHANNELS(CHECK_RANGE, dtcPixelMeanChn, 0, 255);
    SET_CHANNELS(im_mean, CHANNELS(int16_t, , dtcPixelMeanChn));
}

aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP *aippParmsSet, float dtcPixelMinChn0, float dtcPixelMinChn1,
                                  float dtcPixelMinChn2, float dtcPixelMinChn3, uint64_t batchIndex)
{
    SIM_ENTER();
    CHECK_CHANNELS(CHECK_REAL, dtcPixelMinChn, 0, 255);
    SET_CHANNELS(im_min, CHANNELS(uint16_t, sim_half_from_float, dtcPixelMinChn));
}

aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP *aippParmsSet, float dtcPixelVarReciChn0, float dtcPixelVarReciChn1,
                                   float dtcPixelVarReciChn2, float dtcPixelVarReciChn3, uint64_t batchIndex)
{
    SIM_ENTER();
    CHECK_CHANNELS(CHECK_REAL, dtcPixelVarReciChn, -65504, 65504);
    SET_CHANNELS(im_var_reci, CHANNELS(uint16_t, sim_half_from_float, dtcPixelVarReciChn));
}

/* ---- models ---- */

aclError aclmdlSetInputAIPP(uint32_t modelId, aclmdlDataset *dataset, size_t index, const aclmdlAIPP *aippParmsSet)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataset);
    SIM_NOT_NULL(aippParmsSet);
    return sim_model_aipp_put(modelId, dataset, index, false, aippParmsSet);
}

aclError aclmdlSetAIPPByInputIndex(uint32_t modelId, aclmdlDataset *dataset, size_t index,
                                   const aclmdlAIPP *aippParmsSet)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataset);
    SIM_NOT_NULL(aippParmsSet);
    return sim_model_aipp_put(modelId, dataset, index, true, aippParmsSet);
}

aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType *type,
                           size_t *dynamicAttachedDataIndex)
{
    SIM_ENTER();
    SIM_NOT_NULL(type);
    SIM_NOT_NULL(dynamicAttachedDataIndex);
    return sim_model_aipp_type(modelId, index, type, dynamicAttachedDataIndex);
}

aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo *aippInfo)
{
    SIM_ENTER();
    SIM_NOT_NULL(aippInfo);
    return sim_model_aipp_first_info(modelId, index, aippInfo);
}
