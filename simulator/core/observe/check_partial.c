/* Operators that need only some elements of an argument, depending on values, lengths or indices that the checkers do
 * not read. Programs rightly leave the other elements unwritten: a cache that is half full, the unused sides of a
 * selection, or the matrix that is multiplied by beta = 0. There is no state and no lock. */
#include "check_init.h"

#include <string.h>

/* Texts that the names begin with or contain. An argument of NULL is every argument. */
static const struct {
    const char *pt_operator, *pt_argument;
} partial[] = {
    /* with lengths per sequence, blocks of a cache, or groups */
    {"Attention", NULL}, {"Attn", NULL}, {"Cache", NULL}, {"Mla", NULL}, {"Moe", NULL}, {"MoE", NULL},
    {"Grouped", NULL}, {"Distribute", NULL}, {"AlltoAllv", NULL}, {"Worker", NULL}, {"FFN", NULL},
    {"Compress", NULL}, {"Nsa", NULL}, {"Sparse", NULL}, {"Indexer", NULL}, {"Msa", NULL}, {"BSA", NULL},
    {"DeltaRule", NULL}, {"Kda", NULL}, {"CausalConv1d", NULL}, {"Jagged", NULL}, {"AdvanceStep", NULL},
    {"CtcLoss", NULL}, {"SwigluQuant", NULL}, {"DynamicQuant", NULL}, {"Lstm", NULL}, {"LSTM", NULL}, {"Gru", NULL},
    {"GRU", NULL}, {"Hans", NULL}, {"Rope", NULL}, {"Kv", NULL}, {"Hyper", NULL}, {"Mhc", NULL},
    /* by index or mask */
    {"Gather", "self"}, {"Take", "self"}, {"Embedding", "weight"}, {"EmbeddingRenorm", NULL}, {"aclnnIndex", "self"},
    {"IndexCopy", "selfRef"}, {"IndexFill", "selfRef"}, {"InplacePut", "selfRef"}, {"Masked", "self"},
    {"MaskedScatter", "source"}, {"Scatter", "self"}, {"Scatter", "varRef"}, {"Scatter", "data"}, {"Where", "self"},
    {"Where", "other"}, {"NLLLoss", "self"}, {"Roi", NULL}, {"GridSampl", NULL}, {"Deformable", NULL},
    /* by position */
    {"Slice", "self"}, {"Slice", "varRef"}, {"Tril", NULL}, {"Triu", NULL}, {"Diag", NULL}, {"Trace", NULL},
    {"AsStrided", NULL},
    /* factors that may be 0, and switches */
    {"ddmm", "self"}, {"ddbmm", "self"}, {"ddmv", "self"}, {"ddr", "self"}, {"GEMM", NULL}, {"Gemm", NULL},
    {"FusedSgd", "momentum"}, {"Adam", "max"}, {"RRelu", "noise"}, {"Dropout", "mask"}, {"Exponential", NULL},
    {"Confusion", NULL},
};

bool sim_check_reads_part(const char *operator, const char *argument)
{
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
        if (strstr(operator, partial[i].pt_operator) != NULL &&
            (partial[i].pt_argument == NULL ||
             (argument != NULL && strncmp(argument, partial[i].pt_argument, strlen(partial[i].pt_argument)) == 0)))
            return true;
    return false;
}

/* Operators that copy elements, and whose outputs are therefore as unwritten as their inputs. */
bool sim_check_is_copy(const struct sim_op *op)
{
    static const char *const names[] = {"aclnnInplaceCopy", "aclnnCopy", "Identity"};
    if (op->op_kind == SIM_TASK_COPY)
        return true;
    for (size_t i = 0; op->op_footprints != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(op->op_name, names[i]) == 0)
            return true;
    return false;
}

/* Tasks that only look ahead, or whose memory belongs to the simulator. */
bool sim_check_ignores_reads(const struct sim_op *op)
{
    static const char *const names[] = {"aclrtCmoAsync", "aclrtMemManagedPrefetchAsync", "aclrtTaskUpdateAsync"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(op->op_name, names[i], strlen(names[i])) == 0)
            return true;
    return op->op_kind == SIM_TASK_CONDITION || op->op_kind == SIM_TASK_NOTIFY_RECORD ||
           op->op_kind == SIM_TASK_NOTIFY_WAIT;
}
