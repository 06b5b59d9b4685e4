/* Ranges of rows that belong to groups. */
#include "groups.h"

#include "base/fail.h"
#include "report.h"
#include "walk.h"
#include <inttypes.h>
#include <stdio.h>

aclError sim_groups_step(struct sim_groups *groups, int64_t number)
{
    const int64_t start = groups->gr_end;
    const double end = groups->gr_numbers[number] + (groups->gr_counts ? (double)start : 0);
    if (end < (double)start || end > (double)groups->gr_rows) {
        char text[160];
        snprintf(text, sizeof text, "%.40s[%" PRId64 "] is %.0f, expected a group within the %" PRId64 " rows of x",
                 groups->gr_name, number, groups->gr_numbers[number], groups->gr_rows);
        sim_fail_reason(text);
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    }
    groups->gr_start = start;
    groups->gr_end = (int64_t)end;
    return ACL_SUCCESS;
}

aclnnStatus sim_groups_require_kind(const aclsimArgument *kind)
{
    const bool known = kind->integer == 0 || kind->integer == 1;
    if (!known)
        sim_report_number(kind->name, 0);
    SIM_ARGUMENT(known, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 0 or 1", kind->name, kind->integer);
    return ACL_SUCCESS;
}

aclsimTensor sim_groups_rows(const aclsimTensor *matrix, int64_t start, int64_t end)
{
    aclsimTensor part = *matrix;
    part.dims[0] = end - start;
    if (start != 0 && !sim_walk_is_empty(part.dims, part.rank))
        sim_walk_advance(&part, start * matrix->strides[0]);
    return part;
}
