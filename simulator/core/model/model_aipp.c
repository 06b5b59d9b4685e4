/* This file provides sets of AIPP parameters, writes them into a model's input, and reports the AIPP of inputs.
 *
 * A set owns its parameters, in the device's layout, so that writing them is one copy. Each setter checks its own
 * value; values that must agree are checked when the set is used, because the setters may be called in any order.
 *
 * Locks: the object's lock guards a set; it is released before device memory is written. */
#include "model_aipp.h"
#include "address/memory.h"
#include "memory/memory_copy.h"
#include "operator/tensordesc.h"
#include "dataset.h"
#include <stdlib.h>
#include <string.h>

#define PADDED_WIDTH_MAX 1080

static struct sim_table sets = SIM_OBJECT_TABLE(struct sim_aipp, SIM_KIND_AIPP);

/* ---- objects ---- */

struct sim_aipp *sim_model_aipp_open(const aclmdlAIPP *handle)
{
    return sim_object_open(&sets, handle, "aippParmsSet", ACL_ERROR_INVALID_PARAM);
}

struct sim_aipp_image *sim_model_aipp_open_image(const aclmdlAIPP *handle, uint64_t index, struct sim_aipp **aipp)
{
    *aipp = sim_model_aipp_open(handle);
    if (*aipp == NULL)
        return NULL;
    int count = (*aipp)->ai_block->bl_count;
    if (index < (uint64_t)count)
        return &(*aipp)->ai_block->bl_images[index];
    sim_object_close(*aipp);
    sim_refuse(ACL_ERROR_INVALID_PARAM, "batchIndex is %llu, expected less than %d, the batch of the set",
               (unsigned long long)index, count);
    return NULL;
}

aclError sim_model_aipp_check_batch(uint64_t batch)
{
    SIM_ARGUMENT(batch != 0 && batch <= SIM_AIPP_BATCH_MAX, ACL_ERROR_INVALID_PARAM,
                 "batchSize is %llu, expected 1 to %d", (unsigned long long)batch, SIM_AIPP_BATCH_MAX);
    return ACL_SUCCESS;
}

aclmdlAIPP *sim_model_aipp_create(uint64_t batch)
{
    uint64_t handle;
    if (sim_model_aipp_check_batch(batch) != ACL_SUCCESS)
        return NULL;
    struct sim_aipp_block *block = calloc(1, sim_model_aipp_bytes(batch));
    if (block == NULL) {
        sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for the parameters of %llu images",
                   (unsigned long long)batch);
        return NULL;
    }
    struct sim_aipp *aipp = sim_object_take(&sets, &handle);
    if (aipp == NULL) {
        free(block);
        return NULL;
    }
    block->bl_count = (int8_t)batch;
    for (uint64_t image = 0; image < batch; image++)
        for (int channel = 0; channel < 4; channel++)
            block->bl_images[image].im_var_reci[channel] = sim_half_from_float(1);
    aipp->ai_block = block;
    return sim_object_publish(aipp, handle);
}

void sim_model_aipp_destroy(struct sim_aipp *aipp)
{
    free(aipp->ai_block);
    aipp->ai_block = NULL;
    sim_object_end(&sets, aipp);
}

/* ---- checks of a complete set ---- */

static aclError check_crop(const struct sim_aipp_block *block, int index)
{
    const struct sim_aipp_image *image = &block->bl_images[index];
    const int32_t *start = image->im_crop_start, *size = image->im_crop_size;
    SIM_ARGUMENT(start[0] + size[0] <= block->bl_source[0] && start[1] + size[1] <= block->bl_source[1],
                 ACL_ERROR_INVALID_PARAM, "image %d is cropped to %dx%d at (%d, %d), expected a part of its %dx%d",
                 index, size[0], size[1], start[0], start[1], block->bl_source[0], block->bl_source[1]);
    SIM_ARGUMENT(block->bl_format != ACL_YUV420SP_U8 || (start[0] % 2 == 0 && start[1] % 2 == 0),
                 ACL_ERROR_INVALID_PARAM, "image %d is cropped at (%d, %d), expected even numbers for ACL_YUV420SP_U8",
                 index, start[0], start[1]);
    return ACL_SUCCESS;
}

/* Checks each step and computes the size of the image after the last one. */
static aclError follow(const struct sim_aipp_block *block, int index, int32_t size[2])
{
    const struct sim_aipp_image *image = &block->bl_images[index];
    memcpy(size, block->bl_source, sizeof block->bl_source);
    if (image->im_crop != 0) {
        SIM_TRY(check_crop(block, index));
        memcpy(size, image->im_crop_size, sizeof image->im_crop_size);
    }
    if (image->im_scale != 0) {
        SIM_ARGUMENT(image->im_scale_from[0] == size[0] && image->im_scale_from[1] == size[1],
                     ACL_ERROR_INVALID_PARAM, "image %d is scaled from %dx%d, expected %dx%d, its size at that step",
                     index, image->im_scale_from[0], image->im_scale_from[1], size[0], size[1]);
        memcpy(size, image->im_scale_to, sizeof image->im_scale_to);
    }
    if (image->im_pad != 0) {
        size[1] += image->im_pad_sizes[0] + image->im_pad_sizes[1];
        size[0] += image->im_pad_sizes[2] + image->im_pad_sizes[3];
        SIM_ARGUMENT(size[0] <= PADDED_WIDTH_MAX, ACL_ERROR_INVALID_PARAM,
                     "image %d is padded to a width of %d, expected at most %d", index, size[0], PADDED_WIDTH_MAX);
    }
    return ACL_SUCCESS;
}

static aclError check_whole(const struct sim_aipp_block *block)
{
    int32_t first[2], size[2];
    SIM_ARGUMENT(block->bl_format != 0, ACL_ERROR_INVALID_PARAM,
                 "aippParmsSet has no input format, expected aclmdlSetAIPPInputFormat before");
    SIM_ARGUMENT(block->bl_source[0] != 0, ACL_ERROR_INVALID_PARAM,
                 "aippParmsSet has no size of the source image, expected aclmdlSetAIPPSrcImageSize before");
    SIM_ARGUMENT(block->bl_format != ACL_YUV420SP_U8 || (block->bl_source[0] % 2 == 0 && block->bl_source[1] % 2 == 0),
                 ACL_ERROR_INVALID_PARAM, "the source image is %dx%d, expected even numbers for ACL_YUV420SP_U8",
                 block->bl_source[0], block->bl_source[1]);
    SIM_ARGUMENT(block->bl_format != ACL_YUV400_U8 || block->bl_csc == 0, ACL_ERROR_INVALID_PARAM,
                 "cscSwitch is 1, expected 0 for ACL_YUV400_U8, which has no colours to convert");
    SIM_ARGUMENT(block->bl_format == ACL_XRGB8888_U8 || block->bl_swap_ax == 0, ACL_ERROR_INVALID_PARAM,
                 "axSwapSwitch is 1, expected 0 for a format other than ACL_XRGB8888_U8");
    SIM_TRY(follow(block, 0, first));
    for (int i = 1; i < block->bl_count; i++) {
        SIM_TRY(follow(block, i, size));
        SIM_ARGUMENT(memcmp(first, size, sizeof size) == 0, ACL_ERROR_INVALID_PARAM,
                     "image 0 comes out as %dx%d and image %d as %dx%d, expected the same", first[0], first[1], i,
                     size[0], size[1]);
    }
    return ACL_SUCCESS;
}

/* ---- models ---- */

uint32_t sim_model_aipp_place(const struct sim_signature *signature)
{
    return sim_model_port_find(signature->sg_inputs, signature->sg_input_count, SIM_AIPP_INPUT);
}

uint32_t sim_model_aipp_images(const struct sim_signature *signature)
{
    uint32_t index = 0;
    while (index < signature->sg_input_count && (signature->sg_inputs[index].po_rank != SIM_IMAGE_RANK ||
                                                 sim_model_port_is_control(&signature->sg_inputs[index])))
        index++;
    return index;
}

bool sim_model_aipp_has_images(const struct sim_signature *signature, uint32_t input)
{
    bool dynamic = sim_model_aipp_place(signature) != signature->sg_input_count;
    return sim_model_signature_aipp(signature, input) != NULL || (dynamic && input == sim_model_aipp_images(signature));
}

static aclmdlInputAippType type_of(const struct sim_signature *signature, size_t index, uint32_t place)
{
    if (index == place)
        return ACL_DYNAMIC_AIPP_NODE;
    if (sim_model_signature_aipp(signature, (uint32_t)index) != NULL)
        return ACL_DATA_WITH_STATIC_AIPP;
    bool attached = place < signature->sg_input_count && index == sim_model_aipp_images(signature);
    return attached ? ACL_DATA_WITH_DYNAMIC_AIPP : ACL_DATA_WITHOUT_AIPP;
}

static aclError check_index(const struct sim_signature *signature, size_t index)
{
    SIM_ARGUMENT(index < signature->sg_input_count, ACL_ERROR_INVALID_PARAM,
                 "index is %zu, expected less than %u, the number of inputs of the model", index,
                 signature->sg_input_count);
    return ACL_SUCCESS;
}

static aclError check_place(const struct sim_signature *signature, size_t index, bool by_image)
{
    uint32_t place = sim_model_aipp_place(signature);
    SIM_ARGUMENT(place < signature->sg_input_count, ACL_ERROR_GE_AIPP_NOT_EXIST,
                 "the model has no dynamic AIPP, expected one with the input " SIM_AIPP_INPUT);
    SIM_TRY(check_index(signature, index));
    aclmdlInputAippType type = type_of(signature, index, place);
    const char *name = signature->sg_inputs[index].po_name;
    SIM_ARGUMENT(type != ACL_DATA_WITHOUT_AIPP && type != ACL_DATA_WITH_STATIC_AIPP, ACL_ERROR_GE_AIPP_NOT_EXIST,
                 "index is %zu, that of %s, which has no dynamic AIPP", index, name);
    SIM_ARGUMENT(by_image || type == ACL_DYNAMIC_AIPP_NODE, ACL_ERROR_GE_AIPP_MODE_INVALID,
                 "index is %zu, that of %s, expected %u, that of " SIM_AIPP_INPUT, index, name, place);
    SIM_ARGUMENT(!by_image || type == ACL_DATA_WITH_DYNAMIC_AIPP, ACL_ERROR_GE_AIPP_MODE_INVALID,
                 "index is %zu, that of " SIM_AIPP_INPUT ", expected that of an input with images", index);
    return ACL_SUCCESS;
}

/* The largest batch of all gears. */
static int64_t batch_of(const struct sim_signature *signature, uint32_t index)
{
    int64_t dims[SIM_IMAGE_RANK], most = 0;
    for (int64_t gear = SIM_EVERY_GEAR; gear < signature->sg_gear_count; gear++) {
        sim_model_signature_input(signature, index, gear, dims);
        most = dims[0] > most ? dims[0] : most;
    }
    return most;
}

uint64_t sim_model_aipp_input_bytes(const struct sim_signature *signature, uint32_t input, int64_t gear)
{
    int64_t dims[SIM_IMAGE_RANK], most = batch_of(signature, input);
    sim_model_signature_input(signature, input, gear, dims);
    uint64_t bytes = signature->sg_inputs[input].po_bytes;
    return dims[0] < 0 || dims[0] >= most ? bytes : bytes / (uint64_t)most * (uint64_t)dims[0];
}

bool sim_model_aipp_is_applied(const struct sim_signature *signature, uint32_t images)
{
    if (images == signature->sg_input_count || signature->sg_dynamic)
        return false;
    aclDataType type = signature->sg_inputs[images].po_type;
    return type == ACL_FLOAT || type == ACL_FLOAT16;
}

/* Checks that the result has the shape that the model takes, except for dimensions that the gear decides. */
static aclError check_result(const struct sim_aipp_block *block, const struct sim_port *port, int64_t batch)
{
    int32_t size[2];
    struct sim_aipp_shape shape;
    for (int i = 0; i < block->bl_count; i++)
        SIM_ARGUMENT(block->bl_images[i].im_scale == 0, ACL_ERROR_FEATURE_UNSUPPORTED,
                     "scfSwitch of image %d is 1, and the simulator does not resize images", i);
    sim_model_aipp_shape(port->po_format, port->po_dims, &shape);
    SIM_TRY(follow(block, 0, size));
    SIM_ARGUMENT((shape.sh_width < 0 || shape.sh_width == size[0]) &&
                     (shape.sh_height < 0 || shape.sh_height == size[1]),
                 ACL_ERROR_INVALID_PARAM, "image 0 comes out as %dx%d, expected the %lldx%lld that the model takes",
                 size[0], size[1], (long long)shape.sh_width, (long long)shape.sh_height);
    SIM_ARGUMENT(shape.sh_channels <= sim_model_aipp_channels(block), ACL_ERROR_INVALID_PARAM,
                 "images of the format %d have %d channels, expected at least the %lld that the model takes",
                 block->bl_format, sim_model_aipp_channels(block), (long long)shape.sh_channels);
    SIM_ARGUMENT((uint64_t)batch * sim_model_aipp_source_bytes(block) <= port->po_bytes, ACL_ERROR_INVALID_PARAM,
                 "%lld images of %dx%d have %llu bytes, expected at most %llu, the size of input %s", (long long)batch,
                 block->bl_source[0], block->bl_source[1],
                 (long long)batch * (long long)sim_model_aipp_source_bytes(block), (unsigned long long)port->po_bytes,
                 port->po_name);
    return ACL_SUCCESS;
}

/* A copy, so that no lock is held while device memory is written. */
static aclError copy_block(const aclmdlAIPP *handle, int64_t batch, struct sim_aipp_block *copy, size_t *size)
{
    struct sim_aipp *aipp = sim_model_aipp_open(handle);
    if (aipp == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = check_whole(aipp->ai_block);
    int count = aipp->ai_block->bl_count;
    *size = sim_model_aipp_bytes((uint64_t)count);
    memcpy(copy, aipp->ai_block, *size);
    sim_object_close(aipp);
    sim_model_aipp_mark(copy);
    SIM_TRY(code);
    SIM_ARGUMENT(count >= batch, ACL_ERROR_GE_AIPP_BATCH_EMPTY,
                 "aippParmsSet has a batch of %d, which leaves images without parameters, expected at least %lld",
                 count, (long long)batch);
    return ACL_SUCCESS;
}

static aclError put(const struct sim_signature *signature, aclmdlDataset *dataset, size_t index, bool by_image,
                    const aclmdlAIPP *handle)
{
    _Alignas(struct sim_aipp_block) unsigned char bytes[sizeof(struct sim_aipp_block) +
                                                        SIM_AIPP_BATCH_MAX * sizeof(struct sim_aipp_image)];
    struct sim_aipp_block *block = (struct sim_aipp_block *)bytes;
    size_t size, room;
    void *address;
    uint32_t place = sim_model_aipp_place(signature), images = sim_model_aipp_images(signature);
    SIM_TRY(check_place(signature, index, by_image));
    SIM_ARGUMENT(sim_model_aipp_is_applied(signature, images), ACL_ERROR_FEATURE_UNSUPPORTED,
                 "model %s has no input of type ACL_FLOAT or ACL_FLOAT16 with 4 dimensions known before an execution, "
                 "which AIPP needs", signature->sg_name);
    int64_t batch = batch_of(signature, images);
    SIM_TRY(copy_block(handle, batch, block, &size));
    SIM_TRY(check_result(block, &signature->sg_inputs[images], batch));
    SIM_TRY(sim_dataset_memory(dataset, place, &address, &room));
    SIM_ARGUMENT(room >= size, ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID,
                 "buffer %u of the dataset has %zu bytes, expected at least %zu (aclmdlGetAippDataSize)", place, room,
                 size);
    return sim_memory_copy(address, block, size);
}

aclError sim_model_aipp_put(uint32_t id, aclmdlDataset *dataset, size_t index, bool by_image, const aclmdlAIPP *handle)
{
    struct sim_model *model;
    SIM_TRY(sim_model_open(id, &model));
    aclError code = put(model->mo_signature, dataset, index, by_image, handle);
    sim_model_close(model);
    return code;
}

aclError sim_model_aipp_type(uint32_t id, size_t index, aclmdlInputAippType *type, size_t *attached)
{
    struct sim_model *model;
    SIM_TRY(sim_model_open(id, &model));
    aclError code = check_index(model->mo_signature, index);
    if (code == ACL_SUCCESS) {
        uint32_t place = sim_model_aipp_place(model->mo_signature);
        *type = type_of(model->mo_signature, index, place);
        *attached = *type == ACL_DATA_WITH_DYNAMIC_AIPP ? place : ACL_INVALID_NODE_INDEX;
    }
    sim_model_close(model);
    return code;
}

/* ---- static AIPP ---- */

/* The shapes of the source images and of the result, in one gear. */
static void show_dims(const struct sim_signature *signature, uint32_t input, int64_t gear,
                      const struct sim_static_aipp *aipp, aclAippDims *shown)
{
    const struct sim_port *port = &signature->sg_inputs[input];
    int64_t dims[SIM_IMAGE_RANK];
    sim_model_signature_input(signature, input, gear, dims);
    shown->srcDims.dimCount = port->po_rank_v2;
    memcpy(shown->srcDims.dims, port->po_dims_v2, port->po_rank_v2 * sizeof *port->po_dims_v2);
    shown->srcDims.dims[0] = dims[0];
    shown->srcSize = sim_model_aipp_input_bytes(signature, input, gear);
    shown->aippOutdims.dimCount = SIM_IMAGE_RANK;
    memcpy(shown->aippOutdims.dims, dims, sizeof dims);
    shown->aippOutSize = sim_model_shape_bytes(aipp->sa_type, dims, SIM_IMAGE_RANK);
}

static void show_block(const struct sim_static_aipp *aipp, aclAippInfo *info)
{
    struct sim_aipp_block block;
    struct sim_aipp_image image;
    memcpy(&block, aipp->sa_block, sizeof block);
    memcpy(&image, aipp->sa_block + sizeof block, sizeof image);
    *info = (aclAippInfo){
        .inputFormat = (aclAippInputFormat)block.bl_format,
        .srcImageSizeW = block.bl_source[0],
        .srcImageSizeH = block.bl_source[1],
        .cropSwitch = image.im_crop,
        .loadStartPosW = image.im_crop_start[0],
        .loadStartPosH = image.im_crop_start[1],
        .cropSizeW = image.im_crop_size[0],
        .cropSizeH = image.im_crop_size[1],
        .paddingSwitch = image.im_pad,
        .leftPaddingSize = image.im_pad_sizes[2],
        .rightPaddingSize = image.im_pad_sizes[3],
        .topPaddingSize = image.im_pad_sizes[0],
        .bottomPaddingSize = image.im_pad_sizes[1],
        .cscSwitch = block.bl_csc,
        .rbuvSwapSwitch = block.bl_swap_rbuv,
        .axSwapSwitch = block.bl_swap_ax,
        .srcFormat = aipp->sa_format,
        .srcDatatype = aipp->sa_type,
        .srcDimNum = SIM_IMAGE_RANK,
        .aippExtend = info->aippExtend,
    };
    int32_t *matrix[] = {&info->matrixR0C0, &info->matrixR0C1, &info->matrixR0C2, &info->matrixR1C0, &info->matrixR1C1,
                         &info->matrixR1C2, &info->matrixR2C0, &info->matrixR2C1, &info->matrixR2C2};
    int32_t *after[] = {&info->outputBias0, &info->outputBias1, &info->outputBias2};
    int32_t *before[] = {&info->inputBias0, &info->inputBias1, &info->inputBias2};
    int32_t *means[] = {&info->meanChn0, &info->meanChn1, &info->meanChn2, &info->meanChn3};
    float *minima[] = {&info->minChn0, &info->minChn1, &info->minChn2, &info->minChn3};
    float *factors[] = {&info->varReciChn0, &info->varReciChn1, &info->varReciChn2, &info->varReciChn3};
    for (int i = 0; i < 9; i++)
        *matrix[i] = block.bl_matrix[i];
    for (int i = 0; i < 3; i++) {
        *after[i] = block.bl_output_bias[i];
        *before[i] = block.bl_input_bias[i];
    }
    for (int i = 0; i < 4; i++) {
        *means[i] = image.im_mean[i];
        *minima[i] = sim_half_to_float(image.im_min[i]);
        *factors[i] = sim_half_to_float(image.im_var_reci[i]);
    }
}

static aclError show_info(const struct sim_signature *signature, size_t index, aclAippInfo *info)
{
    SIM_TRY(check_index(signature, index));
    uint32_t input = (uint32_t)index, gears = signature->sg_gear_count;
    const struct sim_static_aipp *aipp = sim_model_signature_aipp(signature, input);
    bool none = type_of(signature, index, sim_model_aipp_place(signature)) == ACL_DATA_WITHOUT_AIPP;
    SIM_ARGUMENT(aipp != NULL, ACL_ERROR_NOT_STATIC_AIPP, "input %zu has %s, expected an input with static AIPP", index,
                 none ? "no AIPP" : "dynamic AIPP");
    size_t room = sizeof info->outDims / sizeof *info->outDims;
    show_block(aipp, info);
    info->shapeCount = gears == 0 ? 1 : gears < room ? gears : room;
    for (size_t i = 0; i < info->shapeCount; i++)
        show_dims(signature, input, gears == 0 ? SIM_EVERY_GEAR : (int64_t)i, aipp, &info->outDims[i]);
    return ACL_SUCCESS;
}

aclError sim_model_aipp_first_info(uint32_t id, size_t index, aclAippInfo *info)
{
    struct sim_model *model;
    SIM_TRY(sim_model_open(id, &model));
    aclError code = show_info(model->mo_signature, index, info);
    sim_model_close(model);
    return code;
}

/* ---- reset and fork ---- */

static void destroy(void *aipp)
{
    sim_model_aipp_destroy(aipp);
}

void sim_model_aipp_reset(void)
{
    sim_object_destroy_all(&sets, destroy);
}

void sim_model_aipp_after_fork(void)
{
    sim_table_empty(&sets);
}
