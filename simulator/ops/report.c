/* Reports of failed checks: a pointer per thread, which is NULL except while ask.c asks. */
#include "report.h"

#include "base/compiler.h"
#include "base/fail_silent.h"
#include <stdio.h>
#include <string.h>

static _Thread_local struct sim_report *reports;

void sim_report_begin(struct sim_report *report)
{
    if (report != NULL)
        report->rp_kind = SIM_REPORTED_NOTHING;
    reports = report;
    sim_fail_silence(report != NULL);
}

static void record(struct sim_report report, const char *name)
{
    if (likely(reports == NULL))
        return;
    *reports = report;
    snprintf(reports->rp_name, sizeof reports->rp_name, "%s", name);
}

void sim_report_type(const char *name, uint64_t types)
{
    record((struct sim_report){.rp_kind = SIM_REPORTED_TYPE, .rp_types = types}, name);
}

void sim_report_rank(const char *name, uint32_t rank)
{
    record((struct sim_report){.rp_kind = SIM_REPORTED_RANK, .rp_rank = rank}, name);
}

void sim_report_shape(const char *name, const int64_t *dims, uint32_t rank)
{
    struct sim_report report = {.rp_kind = SIM_REPORTED_SHAPE, .rp_rank = rank};
    for (uint32_t k = 0; k < rank && k < SIM_RANK; k++)
        report.rp_dims[k] = dims[k];
    record(report, name);
}

void sim_report_count(const char *name, uint64_t count)
{
    record((struct sim_report){.rp_kind = SIM_REPORTED_COUNT, .rp_count = count}, name);
}

void sim_report_number(const char *name, int64_t number)
{
    record((struct sim_report){.rp_kind = SIM_REPORTED_NUMBER, .rp_number = number}, name);
}

void sim_report_text(const char *name, const char *texts)
{
    struct sim_report report = {.rp_kind = SIM_REPORTED_TEXT};
    const char *word = texts + strspn(texts, " ");
    snprintf(report.rp_text, sizeof report.rp_text, "%.*s", (int)strcspn(word, " "), word);
    record(report, name);
}

void sim_report_absent(const char *name)
{
    record((struct sim_report){.rp_kind = SIM_REPORTED_ABSENT}, name);
}
