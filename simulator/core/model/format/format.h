/* The formats of model files, and the built-in executors. Models use these functions through struct
 * sim_model_format. */
#ifndef SIM_FORMAT_H
#define SIM_FORMAT_H

#include "model/model.h"
#include "model/model_bundle.h"

/* ---- the container (file.c): mf_view, mf_part, mf_signature ---- */

aclError sim_file_view(struct sim_bytes bytes, struct sim_file *file);
bool sim_file_part(const struct sim_file *file, enum sim_part type, struct sim_bytes *part);
aclError sim_file_signature(const struct sim_file *file, struct sim_signature **signature);

/* The bytes of a table with `count` partitions. */
uint64_t sim_file_table_bytes(const struct sim_file *file, uint32_t count);
/* Reads the next entry of a table; false at its end. */
bool sim_file_take_entry(struct sim_bytes *table, const struct sim_file *file, uint32_t *type, uint64_t *size);

/* Whether the file has a partition that describes its inputs and outputs. */
bool sim_file_is_described(const struct sim_file *file);

/* bundle.c: mf_bundle. */
aclError sim_bundle_view(struct sim_bytes bytes, struct sim_bundle_file *bundle);

/* ---- the two sources of a signature (inout.c, graph.c) ---- */

aclError sim_inout_read(struct sim_bytes part, struct sim_signature *signature);
/* Also reads the attributes of the model. Reads its ports only if the signature has no ports yet. */
aclError sim_graph_read(struct sim_bytes part, struct sim_signature *signature);

/* ---- executors: mk_open ---- */

/* Opens recorded executions: pairs of inputs and outputs. Fails with 145000 or 245000. */
aclError sim_recorded_open(struct sim_bytes weights, struct sim_model_executor *executor);
/* Opens a saved instance (model_saver.h): steps on memory of their own, whose contents persist between executions.
 * Fails with 145000, also if an operator has no kernel or rejects its arguments, or with 245000. */
aclError sim_saved_open(struct sim_bytes weights, struct sim_model_executor *executor);

/* Opens an ONNX model, which a Python process executes. Fails with 145000 if the process rejects the model or cannot be
 * started, or with 245000. */
aclError sim_onnx_open(struct sim_bytes content, struct sim_model_executor *executor);
/* Stops the process; the next execution starts it again. */
void sim_onnx_stop(void);
void sim_onnx_after_fork(void);

#endif
