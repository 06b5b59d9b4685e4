/* Image preprocessing (AIPP): parameters for each image of a batch, which a program collects behind a handle and
 * writes into the model input that is reserved for them.
 *
 * An execution reads the parameters from that input, in stream order, and fails if none were set. It applies them to
 * the first input of four dimensions before the executor of the model sees it. Static parameters are part of the model,
 * may exist for any of its inputs, and are the same for all images.
 *
 * Parameters that an execution cannot apply are refused when they are set (200006): resizing, models with open shapes,
 * and models whose input is neither float nor half. */
#ifndef SIM_MODEL_AIPP_H
#define SIM_MODEL_AIPP_H

#include "model.h"

/* The structs of the block are in model_om.h, from which Python has them too. */
_Static_assert(sizeof(struct sim_aipp_image) == 96, "the layout is the device's");
_Static_assert(sizeof(struct sim_aipp_block) == 64, "the layout is the device's");
_Static_assert(sizeof(struct sim_aipp_block) + sizeof(struct sim_aipp_image) == SIM_STATIC_AIPP_BYTES,
               "a block for one image");

#define SIM_AIPP_SIDE_MAX 4096       /* pixels of an image */
#define SIM_AIPP_BATCH_MAX INT8_MAX /* bl_count cannot say more */

static inline size_t sim_model_aipp_bytes(uint64_t batch)
{
    return sizeof(struct sim_aipp_block) + batch * sizeof(struct sim_aipp_image);
}

struct sim_aipp {
    struct sim_object ai_object;
    struct sim_aipp_block *ai_block;
};

/* The live object, locked; NULL for any other handle, with a message (100000). Give it back with sim_object_close. */
struct sim_aipp *sim_model_aipp_open(const aclmdlAIPP *handle);
/* The same for the part of an image, in the set *aipp that is to be closed. */
struct sim_aipp_image *sim_model_aipp_open_image(const aclmdlAIPP *handle, uint64_t index, struct sim_aipp **aipp);

/* 100000 for a batch that no block can have. */
aclError sim_model_aipp_check_batch(uint64_t batch);
/* NULL with a message: such a batch, or no memory. */
aclmdlAIPP *sim_model_aipp_create(uint64_t batch);
void sim_model_aipp_destroy(struct sim_aipp *aipp);

/* ---- images (model_aipp_apply.c) ---- */

#define SIM_IMAGE_RANK 4

/* What a model takes. -1: its gear says. */
struct sim_aipp_shape {
    int64_t sh_batch, sh_channels, sh_height, sh_width;
    bool sh_channels_last;
};
void sim_model_aipp_shape(aclFormat format, const int64_t dims[SIM_IMAGE_RANK], struct sim_aipp_shape *shape);

int sim_model_aipp_channels(const struct sim_aipp_block *block);          /* of a pixel of the source */
uint64_t sim_model_aipp_source_bytes(const struct sim_aipp_block *block); /* of one image */
void sim_model_aipp_mark(struct sim_aipp_block *block);

/* Parameters of a run's images. */
struct sim_aipp_source {
    const unsigned char *as_bytes; /* the block, of which nothing is trusted */
    uint64_t as_size;
    bool as_shared; /* static AIPP: what it has for its first image is for all */
};

/* Makes the images that the tensor leads to, of `raw_size` bytes, what the block wants of them. NULL, or why it cannot;
 * *converted is to be freed either way. */
const char *sim_model_aipp_apply(struct sim_aipp_source source, uint64_t raw_size, aclFormat format,
                                 aclsimTensor *tensor, void **converted);

/* ---- models ---- */

/* The input with images, and the one for their parameters; as many as there are inputs: none. */
uint32_t sim_model_aipp_images(const struct sim_signature *signature);
uint32_t sim_model_aipp_place(const struct sim_signature *signature);
/* Whether AIPP makes the shape of an input from images, static or dynamic: its bytes are those of the images. */
bool sim_model_aipp_has_images(const struct sim_signature *signature, uint32_t input);
/* Bytes of an input's images in a gear: what it has for the largest batch, divided among the images. */
uint64_t sim_model_aipp_input_bytes(const struct sim_signature *signature, uint32_t input, int64_t gear);
/* Whether runs can apply parameters to these images. */
bool sim_model_aipp_is_applied(const struct sim_signature *signature, uint32_t images);

/* Copies the block into the input for it, which `index` names: itself, or (by_image) an input whose images are meant.
 * 100000, 145003, 145012, 145014, 145015, 145016, 200006. */
aclError sim_model_aipp_put(uint32_t id, aclmdlDataset *dataset, size_t index, bool by_image, const aclmdlAIPP *handle);

/* The parameters of an input's static AIPP; the extension of *info stays as it is. 100000, 100038, 145003. */
aclError sim_model_aipp_first_info(uint32_t id, size_t index, aclAippInfo *info);

/* What an input has to do with preprocessing, and the input for its parameters. 100000, 145003. */
aclError sim_model_aipp_type(uint32_t id, size_t index, aclmdlInputAippType *type, size_t *attached);

void sim_model_aipp_reset(void);
void sim_model_aipp_after_fork(void);

#endif
