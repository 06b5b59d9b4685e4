#include "model_file.h"

const struct sim_model_format *sim_model_format;
