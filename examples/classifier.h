/* The small classifier that the inference examples execute. python3 classifier.py writes its model file, classifier.om,
 * and describes what it computes. This header has the function that executes it on the simulator; a program that is
 * linked with the vendor's library does not use that function. On older systems, link such a program with -ldl. */
#ifndef CLASSIFIER_H
#define CLASSIFIER_H

#include <acl/acl.h>
#include <dlfcn.h>
#include <stddef.h>
#ifdef __has_include
#if __has_include(<acl/acl_sim.h>)
#include <acl/acl_sim.h>
#define HAVE_SIMULATOR
#endif
#endif

#define CHANNELS 3
#define SQUARE 32
#define SQUARES 7
#define FEATURES (CHANNELS * SQUARES * SQUARES)
#define CLASSES 1000
#define PRIME 1009

#ifdef HAVE_SIMULATOR
static inline float mean_of_square(const float *corner)
{
    float sum = 0;
    for (int y = 0; y < SQUARE; y++)
        for (int x = 0; x < SQUARE; x++)
            sum += corner[y * SQUARES * SQUARE + x];
    return sum / (SQUARE * SQUARE);
}

static inline aclError classify(const aclsimModelRun *run)
{
    const float *image = (const float *)run->inputs[0].data;
    float *scores = (float *)run->outputs[0].data;
    for (int i = 0; i < CLASSES; i++)
        scores[i] = 0;
    for (int feature = 0; feature < FEATURES; feature++) {
        int row = feature / SQUARES, column = feature % SQUARES; /* rows of all channels, one below the other */
        float mean = mean_of_square(image + (row * SQUARE * SQUARES + column) * SQUARE);
        for (int i = 0; i < CLASSES; i++)
            scores[i] += mean * (float)((feature + 1) * (feature + 1) * (i + 1) % PRIME % 5 - 2);
    }
    return ACL_SUCCESS;
}

/* The vendor's library does not have aclsimRegisterModel, so the function is looked up instead of linked. */
static inline void make_classifier(void)
{
    typedef aclError (*registration)(const char *, const void *, size_t, aclsimModelFunc, void *);
    registration found = (registration)dlsym(dlopen(NULL, RTLD_NOW), "aclsimRegisterModel");
    if (found != NULL)
        found("classifier", NULL, 0, classify, NULL);
}
#else
static inline void make_classifier(void)
{
}
#endif

/* Fills an image with stripes, whose width depends on the number. */
static inline void make_image(int number, float *pixels, size_t size)
{
    for (size_t i = 0; i < size / sizeof *pixels; i++)
        pixels[i] = (float)(i / (3001 + 1998 * (size_t)number) % 16);
}

/* Returns the class with the highest score. */
static inline size_t top_class(const float *scores, size_t size)
{
    size_t best = 0;
    for (size_t i = 1; i < size / sizeof *scores; i++)
        if (scores[i] > scores[best])
            best = i;
    return best;
}

#endif
