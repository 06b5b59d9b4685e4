/* Labels: places in the streams of an instance that is built, and switches that jump to them or to other streams. */
#ifndef SIM_LABEL_H
#define SIM_LABEL_H

#include "capture.h"

#define SIM_LABELS_MOST 65535 /* of a process, and of a list */

aclError sim_label_create(aclrtLabel *handle);  /* 107002, 507000 */
aclError sim_label_destroy(aclrtLabel handle);  /* 107017, 507031 */
aclError sim_label_check(aclrtLabel handle);    /* 107017 */
/* At the present end of the stream: 107005, 507031, 507000 without a list, and when it is set already. */
aclError sim_label_set(aclrtLabel handle, struct sim_target stream, void *site);

aclError sim_label_list_create(const aclrtLabel *labels, size_t count, aclrtLabelList *handle);
aclError sim_label_list_destroy(aclrtLabelList handle);

/* Jumps to the label whose index stands at `index`; those above the last label jump to that. */
aclError sim_label_switch(const void *index, uint32_t most, aclrtLabelList list, struct sim_target stream, void *site);

struct sim_comparison {
    const void *cm_left, *cm_right; /* signed numbers in device memory */
    aclrtCondition cm_condition;
    aclrtCompareDataType cm_type;
};
/* Goes on with the other stream, and not with this one, when the comparison holds. */
aclError sim_label_switch_stream(const struct sim_comparison *comparison, struct sim_target to, struct sim_target stream,
                                 void *site);

/* ---- for the plan of an instance ---- */

/* Where a recorded switch can go: a branch's beginning, or the places of labels, at most `room`; *count of them. */
struct sim_point;
uint32_t sim_label_ways(const void *argument);
aclError sim_label_resolve(const void *argument, uint32_t way, uint64_t instance, struct sim_point *point);

void sim_label_forget_all(void); /* aclsimReset */
void sim_label_after_fork(void);

#endif
