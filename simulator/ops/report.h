/* What the checks of arguments expected, for a thread that asks which arguments a kernel takes (ask.c). */
#ifndef OPS_REPORT_H
#define OPS_REPORT_H

#include "element.h"

enum sim_reported {
    SIM_REPORTED_NOTHING, /* no check has failed that reports, or its cure is not known */
    SIM_REPORTED_TYPE,
    SIM_REPORTED_RANK,
    SIM_REPORTED_SHAPE,
    SIM_REPORTED_COUNT,
    SIM_REPORTED_NUMBER,
    SIM_REPORTED_TEXT,
    SIM_REPORTED_ABSENT,
};

/* The newest check that failed: the argument, and what would have been right. */
struct sim_report {
    enum sim_reported rp_kind;
    char rp_name[64]; /* perhaps with an index */
    uint64_t rp_types, rp_count;
    int64_t rp_number, rp_dims[SIM_RANK];
    uint32_t rp_rank;
    char rp_text[16];
};

/* From here on, checks on this thread report to `report`, and no messages are recorded; NULL ends that. */
void sim_report_begin(struct sim_report *report);

/* Called by checks that fail. */
void sim_report_type(const char *name, uint64_t types);
void sim_report_rank(const char *name, uint32_t rank);
void sim_report_shape(const char *name, const int64_t *dims, uint32_t rank);
void sim_report_count(const char *name, uint64_t count);
void sim_report_number(const char *name, int64_t number);
/* The first word of the texts. */
void sim_report_text(const char *name, const char *texts);
void sim_report_absent(const char *name);

#endif
