/* Image preprocessing (AIPP): parameters for each image of a batch, which a program collects behind a handle and
 * writes into the model input that is reserved for them.
 *
 * An execution reads the parameters from that input, in stream order, and fails if none were set. It applies them to
 * the first input of four dimensions before the model's executor runs. Static parameters are part of the model, may
 * exist for any of its inputs, and are the same for all images.
 *
 * Parameters that an execution cannot apply are rejected when they are set (200006): resizing, models with dynamic
 * shapes, and models whose input is neither float nor half. */
#ifndef SIM_MODEL_AIPP_H
#define SIM_MODEL_AIPP_H

#include "model.h"

/* The structs of the block are in model_om.h, from which the build also gives them to Python. */
_Static_assert(sizeof(struct sim_aipp_image) == 96, "the layout is the device's");
_Static_assert(sizeof(struct sim_aipp_block) == 64, "the layout is the device's");
_Static_assert(sizeof(struct sim_aipp_block) + sizeof(struct sim_aipp_image) == SIM_STATIC_AIPP_BYTES,
               "a block for one image");

#define SIM_AIPP_SIDE_MAX 4096       /* largest width or height in pixels */
#define SIM_AIPP_BATCH_MAX INT8_MAX /* bl_count has 8 bits */

static inline size_t sim_model_aipp_bytes(uint64_t batch)
{
    return sizeof(struct sim_aipp_block) + batch * sizeof(struct sim_aipp_image);
}

struct sim_aipp {
    struct sim_object ai_object;
    struct sim_aipp_block *ai_block;
};

/* Finds the live object and locks it; NULL with a message (100000) for any other handle. Unlock with
 * sim_object_close. */
struct sim_aipp *sim_model_aipp_open(const aclmdlAIPP *handle);
/* The same, for the parameters of one image; the caller closes *aipp. */
struct sim_aipp_image *sim_model_aipp_open_image(const aclmdlAIPP *handle, uint64_t index, struct sim_aipp **aipp);

/* Fails with 100000 if the batch is 0 or too large for a block. */
aclError sim_model_aipp_check_batch(uint64_t batch);
/* Creates a set of parameters; NULL with a message for an invalid batch, or without memory. */
aclmdlAIPP *sim_model_aipp_create(uint64_t batch);
void sim_model_aipp_destroy(struct sim_aipp *aipp);

/* ---- images (model_aipp_apply.c) ---- */

#define SIM_IMAGE_RANK 4

/* The shape of the images that a model takes. -1: the gear decides. */
struct sim_aipp_shape {
    int64_t sh_batch, sh_channels, sh_height, sh_width;
    bool sh_channels_last;
};
void sim_model_aipp_shape(aclFormat format, const int64_t dims[SIM_IMAGE_RANK], struct sim_aipp_shape *shape);

/* The number of channels of a source pixel, and the bytes of one source image. */
int sim_model_aipp_channels(const struct sim_aipp_block *block);
uint64_t sim_model_aipp_source_bytes(const struct sim_aipp_block *block);
/* Marks the block as written by the simulator. */
void sim_model_aipp_mark(struct sim_aipp_block *block);

/* The parameters for the images of an execution. */
struct sim_aipp_source {
    const unsigned char *as_bytes; /* an untrusted block: sizes are checked when it is used */
    uint64_t as_size;
    bool as_shared; /* static AIPP: the parameters of the first image are used for all */
};

/* Applies the parameters to the tensor's source images, which have `raw_size` bytes, and points the tensor to the
 * result. Returns NULL, or the reason for a failure. The caller frees *converted in both cases. */
const char *sim_model_aipp_apply(struct sim_aipp_source source, uint64_t raw_size, aclFormat format,
                                 aclsimTensor *tensor, void **converted);

/* ---- models ---- */

/* The index of the input with images, and of the input for their parameters; the number of inputs if there is none. */
uint32_t sim_model_aipp_images(const struct sim_signature *signature);
uint32_t sim_model_aipp_place(const struct sim_signature *signature);
/* Whether the input takes source images that static or dynamic AIPP converts; its size is then that of the images. */
bool sim_model_aipp_has_images(const struct sim_signature *signature, uint32_t input);
/* The bytes of an input's images in a gear: the bytes of the largest batch, in proportion to the gear's batch. */
uint64_t sim_model_aipp_input_bytes(const struct sim_signature *signature, uint32_t input, int64_t gear);
/* Whether executions can apply parameters to these images. */
bool sim_model_aipp_is_applied(const struct sim_signature *signature, uint32_t images);

/* Copies the block into the input for parameters. `index` is that input or, with by_image, the input with the images.
 * Fails with 100000, 145003, 145012, 145014, 145015, 145016 or 200006. */
aclError sim_model_aipp_put(uint32_t id, aclmdlDataset *dataset, size_t index, bool by_image, const aclmdlAIPP *handle);

/* Returns the parameters of an input's static AIPP; keeps the extension pointer of *info. Fails with 100000, 100038 or
 * 145003. */
aclError sim_model_aipp_first_info(uint32_t id, size_t index, aclAippInfo *info);

/* Returns the AIPP type of an input, and the index of the input for its parameters. Fails with 100000 or 145003. */
aclError sim_model_aipp_type(uint32_t id, size_t index, aclmdlInputAippType *type, size_t *attached);

void sim_model_aipp_reset(void);
void sim_model_aipp_after_fork(void);

#endif
