/* A model file with one input and one output of four floats, the datasets to execute it with, and a function that
 * implements it. */
#ifndef TESTS_MODEL_FILE_H
#define TESTS_MODEL_FILE_H

#include "model/model.h"
#include "check.h"
#include <acl/acl_sim.h>

/* ---- the file: four floats in, four floats out, work memory and weights ---- */

enum { WORK = 128, WEIGHTS = 64 };

struct file {
    unsigned char bytes[1024];
    size_t size;
};

static inline void put(struct file *file, uint64_t value, size_t size)
{
    memcpy(file->bytes + file->size, &value, size);
    file->size += size;
}

static inline void put_port(struct file *file, uint32_t tag, const char *name)
{
    uint32_t length = (uint32_t)strlen(name);
    put(file, tag, 4);
    put(file, 4 + 32 + length + 16, 4);
    put(file, 1, 4);
    put(file, 16, 8); /* bytes, format, type, and the lengths of the following parts */
    put(file, ACL_FORMAT_ND, 4);
    put(file, ACL_FLOAT, 4);
    put(file, length, 4);
    put(file, 8, 4);
    put(file, 8, 4);
    put(file, 0, 4);
    memcpy(file->bytes + file->size, name, length);
    file->size += length;
    put(file, 4, 8);
    put(file, 4, 8);
}

static inline struct file make_file(const char *name)
{
    static const char work[] = "\x5a\x12\x0a\x0bmemory_size\x12\x03\x18\x80\x01"; /* WORK as a varint */
    struct file file = {.size = 256};
    uint32_t length = (uint32_t)strlen(name);
    put(&file, 3, 8);
    put(&file, SIM_PART_MODEL_DEF, 8);
    put(&file, 0, 8);
    put(&file, 2 + length + sizeof work - 1, 8);
    put(&file, SIM_PART_WEIGHTS, 8);
    put(&file, 0, 8);
    put(&file, WEIGHTS, 8);
    put(&file, SIM_PART_INOUT, 8);
    put(&file, 0, 8);
    put(&file, 2 * (8 + 4 + 32 + 1 + 16), 8);
    put(&file, 0x0a, 1); /* the definition: its name and the attribute */
    put(&file, length, 1);
    memcpy(file.bytes + file.size, name, length);
    memcpy(file.bytes + file.size + length, work, sizeof work - 1);
    file.size += length + sizeof work - 1 + WEIGHTS;
    put_port(&file, 0, "x");
    put_port(&file, 1, "y");
    size_t size = file.size;
    file.size = 0;
    put(&file, 0x444F4D49, 4);
    put(&file, 256, 4);
    put(&file, 0x20000000, 4);
    file.size = 184;
    put(&file, size - 256, 8);
    file.size = size;
    return file;
}

/* ---- executions ---- */

struct sides {
    aclmdlDataset *datasets[2];
    aclDataBuffer *buffers[2];
    void *memory[2];
};

static inline struct sides make_sides(void)
{
    struct sides sides;
    for (int i = 0; i < 2; i++) {
        sides.datasets[i] = aclmdlCreateDataset();
        CHECK_CODE(aclrtMalloc(&sides.memory[i], 16, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        sides.buffers[i] = aclCreateDataBuffer(sides.memory[i], 16);
        CHECK_CODE(aclmdlAddDatasetBuffer(sides.datasets[i], sides.buffers[i]), 0);
    }
    return sides;
}

static inline void free_sides(struct sides *sides)
{
    for (int i = 0; i < 2; i++) {
        CHECK_CODE(aclDestroyDataBuffer(sides->buffers[i]), 0);
        CHECK_CODE(aclrtFree(sides->memory[i]), 0);
        CHECK_CODE(aclmdlDestroyDataset(sides->datasets[i]), 0);
    }
}

static inline void set_input(struct sides *sides, float first)
{
    float values[4] = {first, first + 1, first + 2, first + 3};
    CHECK_CODE(aclrtMemcpy(sides->memory[0], 16, values, 16, ACL_MEMCPY_HOST_TO_DEVICE), 0);
}

static inline void check_output(struct sides *sides, float first)
{
    float values[4];
    CHECK_CODE(aclrtMemcpy(values, 16, sides->memory[1], 16, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    for (int i = 0; i < 4; i++)
        CHECK(values[i] == first + 2 * (float)i);
}

static inline aclError double_it(const aclsimModelRun *run)
{
    const float *from = run->inputs[0].data;
    float *to = run->outputs[0].data;
    CHECK(run->inputCount == 1 && run->outputCount == 1 && run->capacities[0] == 16);
    for (int i = 0; i < 4; i++)
        to[i] = 2 * from[i];
    return 0;
}

#endif
