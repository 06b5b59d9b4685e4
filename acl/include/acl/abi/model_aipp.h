/* Image preprocessing in front of a model (AIPP). */

typedef struct aclAippExtendInfo aclAippExtendInfo;

typedef enum aclAippInputFormat {
    ACL_YUV420SP_U8 = 1,
    ACL_XRGB8888_U8 = 2,
    ACL_RGB888_U8 = 3,
    ACL_YUV400_U8 = 4,
    ACL_NC1HWC0DI_FP16 = 5,
    ACL_NC1HWC0DI_S8 = 6,
    ACL_ARGB8888_U8 = 7,
    ACL_YUYV_U8 = 8,
    ACL_YUV422SP_U8 = 9,
    ACL_AYUV444_U8 = 10,
    ACL_RAW10 = 11,
    ACL_RAW12 = 12,
    ACL_RAW16 = 13,
    ACL_RAW24 = 14,
    ACL_AIPP_RESERVED = 65535,
} aclAippInputFormat;

typedef enum aclmdlInputAippType {
    ACL_DATA_WITHOUT_AIPP = 0,
    ACL_DATA_WITH_STATIC_AIPP = 1,
    ACL_DATA_WITH_DYNAMIC_AIPP = 2,
    ACL_DYNAMIC_AIPP_NODE = 3,
} aclmdlInputAippType;

typedef struct aclAippDims {
    aclmdlIODims srcDims;
    size_t srcSize;
    aclmdlIODims aippOutdims;
    size_t aippOutSize;
} aclAippDims;

typedef struct aclAippInfo {
    aclAippInputFormat inputFormat;
    int32_t srcImageSizeW;
    int32_t srcImageSizeH;
    int8_t cropSwitch;
    int32_t loadStartPosW;
    int32_t loadStartPosH;
    int32_t cropSizeW;
    int32_t cropSizeH;
    int8_t resizeSwitch;
    int32_t resizeOutputW;
    int32_t resizeOutputH;
    int8_t paddingSwitch;
    int32_t leftPaddingSize;
    int32_t rightPaddingSize;
    int32_t topPaddingSize;
    int32_t bottomPaddingSize;
    int8_t cscSwitch;
    int8_t rbuvSwapSwitch;
    int8_t axSwapSwitch;
    int8_t singleLineMode;
    int32_t matrixR0C0;
    int32_t matrixR0C1;
    int32_t matrixR0C2;
    int32_t matrixR1C0;
    int32_t matrixR1C1;
    int32_t matrixR1C2;
    int32_t matrixR2C0;
    int32_t matrixR2C1;
    int32_t matrixR2C2;
    int32_t outputBias0;
    int32_t outputBias1;
    int32_t outputBias2;
    int32_t inputBias0;
    int32_t inputBias1;
    int32_t inputBias2;
    int32_t meanChn0;
    int32_t meanChn1;
    int32_t meanChn2;
    int32_t meanChn3;
    float minChn0;
    float minChn1;
    float minChn2;
    float minChn3;
    float varReciChn0;
    float varReciChn1;
    float varReciChn2;
    float varReciChn3;
    aclFormat srcFormat;
    aclDataType srcDatatype;
    size_t srcDimNum;
    size_t shapeCount;
    aclAippDims outDims[128];
    aclAippExtendInfo *aippExtend;
} aclAippInfo;

/** Destroy the parameters of image preprocessing.
 *  mdl.destroy_aipp(aippParmsSet) -> ret */
ACL_API(8, 1) aclError aclmdlDestroyAIPP(const aclmdlAIPP *aippParmsSet);

/** Bytes that the parameters for a batch take as model input.
 *  mdl.get_aipp_data_size(batchSize) -> (size, ret) */
ACL_API(8, 1) aclError aclmdlGetAippDataSize(uint64_t batchSize, size_t *size);

/** Set the format of the source image.
 *  mdl.set_aipp_input_format(aippParmsSet, inputFormat) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPInputFormat(aclmdlAIPP *aippParmsSet, aclAippInputFormat inputFormat);

/** Set the colour conversion: matrix, output and input bias.
 *  mdl.set_aipp_csc_params(aippParmsSet, cscSwitch, cscMatrixR0C0, cscMatrixR0C1, cscMatrixR0C2, cscMatrixR1C0,
 *      cscMatrixR1C1, cscMatrixR1C2, cscMatrixR2C0, cscMatrixR2C1, cscMatrixR2C2, cscOutputBiasR0, cscOutputBiasR1,
 *      cscOutputBiasR2, cscInputBiasR0, cscInputBiasR1, cscInputBiasR2) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPCscParams(aclmdlAIPP *aippParmsSet, int8_t cscSwitch, int16_t cscMatrixR0C0,
    int16_t cscMatrixR0C1, int16_t cscMatrixR0C2, int16_t cscMatrixR1C0, int16_t cscMatrixR1C1, int16_t cscMatrixR1C2,
    int16_t cscMatrixR2C0, int16_t cscMatrixR2C1, int16_t cscMatrixR2C2, uint8_t cscOutputBiasR0,
    uint8_t cscOutputBiasR1, uint8_t cscOutputBiasR2, uint8_t cscInputBiasR0, uint8_t cscInputBiasR1,
    uint8_t cscInputBiasR2);

/** Switch on or off the exchange of the R and B, or U and V channels.
 *  mdl.set_aipp_rbuv_swap_switch(aippParmsSet, rbuvSwapSwitch) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t rbuvSwapSwitch);

/** Switch on or off moving the channel X of XRGB images behind the other channels.
 *  mdl.set_aipp_ax_swap_switch(aippParmsSet, axSwapSwitch) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP *aippParmsSet, int8_t axSwapSwitch);

/** Set width and height of the source image.
 *  mdl.set_aipp_src_image_size(aippParmsSet, srcImageSizeW, srcImageSizeH) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP *aippParmsSet, int32_t srcImageSizeW,
    int32_t srcImageSizeH);

/** Set the scaling of one image of the batch.
 *  mdl.set_aipp_scf_params(aippParmsSet, scfSwitch, scfInputSizeW, scfInputSizeH, scfOutputSizeW, scfOutputSizeH,
 *      batchIndex) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPScfParams(aclmdlAIPP *aippParmsSet, int8_t scfSwitch, int32_t scfInputSizeW,
    int32_t scfInputSizeH, int32_t scfOutputSizeW, int32_t scfOutputSizeH, uint64_t batchIndex);

/** Set the cropping of one image of the batch.
 *  mdl.set_aipp_crop_params(aippParmsSet, cropSwitch, cropStartPosW, cropStartPosH, cropSizeW, cropSizeH, batchIndex)
 *      -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPCropParams(aclmdlAIPP *aippParmsSet, int8_t cropSwitch, int32_t cropStartPosW,
    int32_t cropStartPosH, int32_t cropSizeW, int32_t cropSizeH, uint64_t batchIndex);

/** Set the padding of one image of the batch.
 *  mdl.set_aipp_padding_params(aippParmsSet, paddingSwitch, paddingSizeTop, paddingSizeBottom, paddingSizeLeft,
 *      paddingSizeRight, batchIndex) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP *aippParmsSet, int8_t paddingSwitch,
    int32_t paddingSizeTop, int32_t paddingSizeBottom, int32_t paddingSizeLeft, int32_t paddingSizeRight,
    uint64_t batchIndex);

/** Set the channel means subtracted from one image of the batch.
 *  mdl.set_aipp_dtc_pixel_mean(aippParmsSet, dtcPixelMeanChn0, dtcPixelMeanChn1, dtcPixelMeanChn2, dtcPixelMeanChn3,
 *      batchIndex) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP *aippParmsSet, int16_t dtcPixelMeanChn0,
    int16_t dtcPixelMeanChn1, int16_t dtcPixelMeanChn2, int16_t dtcPixelMeanChn3, uint64_t batchIndex);

/** Set the channel minima subtracted from one image of the batch.
 *  mdl.set_aipp_dtc_pixel_min(aippParmsSet, dtcPixelMinChn0, dtcPixelMinChn1, dtcPixelMinChn2, dtcPixelMinChn3,
 *      batchIndex) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP *aippParmsSet, float dtcPixelMinChn0, float dtcPixelMinChn1,
    float dtcPixelMinChn2, float dtcPixelMinChn3, uint64_t batchIndex);

/** Set the reciprocals of the channel variances of one image of the batch.
 *  mdl.set_aipp_pixel_var_reci(aippParmsSet, dtcPixelVarReciChn0, dtcPixelVarReciChn1, dtcPixelVarReciChn2,
 *      dtcPixelVarReciChn3, batchIndex) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP *aippParmsSet, float dtcPixelVarReciChn0,
    float dtcPixelVarReciChn1, float dtcPixelVarReciChn2, float dtcPixelVarReciChn3, uint64_t batchIndex);

/** Set the preprocessing parameters of model executions, by the index of the parameter input.
 *  mdl.set_input_aipp(modelId, dataset, index, aippParmsSet) -> ret */
ACL_API(8, 1) aclError aclmdlSetInputAIPP(uint32_t modelId, aclmdlDataset *dataset, size_t index,
    const aclmdlAIPP *aippParmsSet);

/** Set the preprocessing parameters of model executions, by the index of the image input.
 *  mdl.set_aipp_by_input_index(modelId, dataset, index, aippParmsSet) -> ret */
ACL_API(8, 1) aclError aclmdlSetAIPPByInputIndex(uint32_t modelId, aclmdlDataset *dataset, size_t index,
    const aclmdlAIPP *aippParmsSet);

/** The type of preprocessing of an input, and the index of the input with its parameters.
 *  mdl.get_aipp_type(modelId, index) -> (type, dynamicAttachedDataIndex, ret) */
ACL_API(8, 1) aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType *type,
    size_t *dynamicAttachedDataIndex);

/** The parameters of the first static preprocessing of an input.
 *  mdl.get_first_aipp_info(modelId, index) -> (aippInfo:dict, ret) @py */
ACL_API(8, 1) aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo *aippInfo);
