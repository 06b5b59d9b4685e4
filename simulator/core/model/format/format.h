/* Formats of the files of models, and what runs the models of some. Models reach these through struct sim_model_format. */
#ifndef SIM_FORMAT_H
#define SIM_FORMAT_H

#include "model/model.h"
#include "model/model_bundle.h"

/* ---- the container (file.c): mf_view, mf_part, mf_signature ---- */

aclError sim_file_view(struct sim_bytes bytes, struct sim_file *file);
bool sim_file_part(const struct sim_file *file, enum sim_part type, struct sim_bytes *part);
aclError sim_file_signature(const struct sim_file *file, struct sim_signature **signature);

/* Entries of a table of partitions, as the file's layout has them. */
uint64_t sim_file_table_bytes(const struct sim_file *file, uint32_t count);
bool sim_file_take_entry(struct sim_bytes *table, const struct sim_file *file, uint32_t *type, uint64_t *size);

/* Whether the file describes its inputs and outputs without a device. */
bool sim_file_is_described(const struct sim_file *file);

/* bundle.c: mf_bundle. */
aclError sim_bundle_view(struct sim_bytes bytes, struct sim_bundle_file *bundle);

/* ---- the two sources of a signature (inout.c, graph.c) ---- */

aclError sim_inout_read(struct sim_bytes part, struct sim_signature *signature);
/* Also reads the attributes of the model. Reads its ports only if the signature has no ports yet. */
aclError sim_graph_read(struct sim_bytes part, struct sim_signature *signature);

/* ---- executors: mk_open ---- */

/* Input and output pairs. */
aclError sim_recorded_open(struct sim_bytes weights, struct sim_model_executor *executor);
/* The steps of an instance (model_saver.h), with memory of their own, whose contents persist from one execution to the
 * next.
 * 145000 also for an operator that has no kernel here or does not take its arguments, 245000. */
aclError sim_saved_open(struct sim_bytes weights, struct sim_model_executor *executor);

/* ONNX models, by a Python process: 145000 for what it does not take, and where there is none. */
aclError sim_onnx_open(struct sim_bytes content, struct sim_model_executor *executor);
void sim_onnx_stop(void); /* the process; a run starts it again */
void sim_onnx_after_fork(void);

#endif
