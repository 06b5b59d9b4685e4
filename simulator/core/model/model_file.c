/* This file defines the pointer to the reader of model files, which simulator.c sets before any call. Nothing changes
 * it later, so it needs no lock. */
#include "model_file.h"

const struct sim_model_format *sim_model_format;
