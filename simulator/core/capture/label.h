/* Labels: jump targets in the streams of a built instance, and the switches that jump to them or to other streams. */
#ifndef SIM_LABEL_H
#define SIM_LABEL_H

#include "capture.h"

#define SIM_LABELS_MOST 65535 /* limit per process, and per list */

/* Creates a label in the current context. Fails with 107002 without one, or 507000 at the limit. */
aclError sim_label_create(aclrtLabel *handle);
/* Fails with 107017 if the handle is stale, or 507031 if the label belongs to another context. */
aclError sim_label_destroy(aclrtLabel handle);
/* Fails with 107017 if the handle is stale. */
aclError sim_label_check(aclrtLabel handle);
/* Sets the label at the current end of the stream. Fails with 107005 if the stream is not bound, 507031 if the label
 * belongs to another context, and 507000 if it is in no list or set already. */
aclError sim_label_set(aclrtLabel handle, struct sim_target stream, void *site);

aclError sim_label_list_create(const aclrtLabel *labels, size_t count, aclrtLabelList *handle);
aclError sim_label_list_destroy(aclrtLabelList handle);

/* Records a jump to the label whose number is at `index`; a number beyond the last label jumps to the last one. */
aclError sim_label_switch(const void *index, uint32_t most, aclrtLabelList list, struct sim_target stream, void *site);

struct sim_comparison {
    const void *cm_left, *cm_right; /* signed numbers in device memory */
    aclrtCondition cm_condition;
    aclrtCompareDataType cm_type;
};
/* Records a jump to the stream `to`, taken if the comparison holds; `stream` then ends there. */
aclError sim_label_switch_stream(const struct sim_comparison *comparison, struct sim_target to,
                                 struct sim_target stream, void *site);

/* ---- for the plan of an instance ---- */

struct sim_point;
/* The number of targets of a recorded switch. */
uint32_t sim_label_ways(const void *argument);
/* Finds one target: the beginning of a branch, or the position of a label. Fails if the label is not set in
 * `instance`. */
aclError sim_label_resolve(const void *argument, uint32_t way, uint64_t instance, struct sim_point *point);

void sim_label_forget_all(void); /* aclsimReset */
void sim_label_after_fork(void);

#endif
