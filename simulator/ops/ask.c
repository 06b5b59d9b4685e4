/* Finds the data types that a kernel takes by asking its plan about calls with small tensors, as a program could do
 * with the first phase: the plan is the only place that knows the types.
 *
 * A call starts with tensors of one type and shape. If a check refuses an argument, it reports what it expected
 * (report.h), that argument is changed accordingly, and the plan is asked again, until it accepts the call, refuses the
 * type in question, or refuses an argument without a report. Each type is tried with many starts. Only types of
 * accepted calls count. If a type was neither accepted nor refused in any of them, the result would be a guess: then no
 * types are found. The thread records no messages meanwhile. */
#include "ask.h"

#include "base/type.h"
#include "operator/row_ask.h"
#include "report.h"
#include <string.h>

#define TYPES 64 /* the bits of a set */
enum {
    CHANGES = 32,              /* of one call, at most */
    NUMBERS = SIM_RANK,        /* elements of an array, at most */
    MEMBERS = 4,               /* of a list of tensors, at most */
    STARTS = 5 * 4 * 5 * 2 * 8, /* combinations of what start_of chooses */
    PRIME = 7919,
    REFUSED = 60, /* after as many refusals a type is not tried again, */
    ACCEPTED = 4, /* nor after as many accepted calls */
};
#define MOST_ELEMENTS ((int64_t)1 << 40)

/* What the arguments of the first call are. */
struct start {
    int64_t st_dim;
    uint32_t st_rank;
    int64_t st_integer; /* of all integers, */
    bool st_optional;   /* and whether optional arguments are present, */
    unsigned st_mix;    /* unless this is not 0: then each argument has others */
};

union numbers {
    int64_t nu_integers[NUMBERS];
    float nu_floats[NUMBERS];
    bool nu_booleans[NUMBERS];
    char nu_text[16];
};

struct trial {
    struct sim_row *tr_row;
    size_t tr_asked; /* the parameter whose type is in question */
    aclDataType tr_type;
    bool tr_is_refused; /* the plan refused that type */
    struct start tr_start;
    aclsimArgument tr_arguments[SIM_ROW_PARAMETERS];
    aclsimTensor tr_tensors[SIM_ROW_PARAMETERS][MEMBERS];
    aclsimScalar tr_scalars[SIM_ROW_PARAMETERS];
    union numbers tr_numbers[SIM_ROW_PARAMETERS];
};

/* Takes a digit of a number in a base: the least one, which is removed. */
static unsigned digit(unsigned *number, unsigned base)
{
    unsigned found = *number % base;
    *number /= base;
    return found;
}

/* The starts are numbered. Their order is mixed, so that the first ones differ in everything. */
static struct start start_of(unsigned number)
{
    static const uint32_t ranks[] = {2, 1, 4, 3, 5};
    static const int64_t dims[] = {1, 2, 16, 3};
    number = number * PRIME % STARTS;
    struct start start = {.st_rank = ranks[digit(&number, 5)]};
    start.st_dim = dims[digit(&number, 4)];
    start.st_integer = digit(&number, 5);
    start.st_optional = digit(&number, 2) == 0;
    start.st_mix = number;
    return start;
}

/* A number below `count` that depends on the start and the argument. */
static unsigned mixed(const struct start *start, size_t argument, unsigned count)
{
    uint32_t hash = (start->st_mix * 64 + (uint32_t)argument) * 2654435761u;
    return (hash >> 16) % count;
}

static int64_t integer_of(const struct trial *trial, size_t argument)
{
    const struct start *start = &trial->tr_start;
    const int64_t integers[] = {1, 0, trial->tr_type, -1, 2};
    const unsigned usual[] = {0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 4};
    return integers[start->st_mix == 0 ? (unsigned)start->st_integer : usual[mixed(start, argument, 11)]];
}

static bool is_present(const struct trial *trial, size_t argument)
{
    const struct start *start = &trial->tr_start;
    return start->st_mix == 0 ? start->st_optional : start->st_optional != (mixed(start, argument + 32, 4) == 0);
}

/* ---- arguments ---- */

/* Makes a tensor contiguous in a shape. Returns false if it would have too many elements. */
static bool set_shape(aclsimTensor *tensor, const int64_t *dims, uint32_t rank)
{
    int64_t stride = 1;
    for (uint32_t k = rank; k-- > 0;) {
        if (dims[k] < 0 || dims[k] > MOST_ELEMENTS / stride)
            return false;
        tensor->dims[k] = dims[k];
        tensor->strides[k] = stride;
        stride *= dims[k] > 0 ? dims[k] : 1;
    }
    tensor->rank = rank;
    return true;
}

static void set_scalar(aclsimScalar *scalar, aclDataType type)
{
    static const union sim_block_values one = {.bv_integers = {1}};
    memset(scalar, 0, sizeof *scalar);
    scalar->type = type;
    if (sim_element_is(type, SIM_TYPES_ALL))
        sim_element_store(&one, SIM_CLASS_INTEGER, scalar->value, type, 1, 1);
}

/* Makes an argument present, with its first value. */
static void set_value(struct trial *trial, size_t i)
{
    const struct start *start = &trial->tr_start;
    aclsimArgument *argument = &trial->tr_arguments[i];
    int64_t dims[SIM_RANK];
    for (size_t k = 0; k < SIM_RANK; k++)
        dims[k] = start->st_dim;
    argument->present = 1;
    argument->count = 1;
    switch (argument->kind) {
    case ACLSIM_TENSOR:
    case ACLSIM_TENSOR_LIST:
        for (size_t k = 0; k < MEMBERS; k++) {
            trial->tr_tensors[i][k].type = trial->tr_type;
            set_shape(&trial->tr_tensors[i][k], dims, start->st_rank);
        }
        argument->tensors = trial->tr_tensors[i];
        break;
    case ACLSIM_SCALAR:
    case ACLSIM_SCALAR_LIST:
        set_scalar(&trial->tr_scalars[i], mixed(start, i, 2) == 0 ? trial->tr_type : ACL_INT64);
        argument->scalars = &trial->tr_scalars[i];
        break;
    case ACLSIM_INTEGERS:
        for (size_t k = 0; k < NUMBERS; k++)
            trial->tr_numbers[i].nu_integers[k] = integer_of(trial, i);
        argument->integers = trial->tr_numbers[i].nu_integers;
        break;
    case ACLSIM_FLOATS:
        for (size_t k = 0; k < NUMBERS; k++)
            trial->tr_numbers[i].nu_floats[k] = 1;
        argument->floats = trial->tr_numbers[i].nu_floats;
        break;
    case ACLSIM_BOOLEANS:
        for (size_t k = 0; k < NUMBERS; k++)
            trial->tr_numbers[i].nu_booleans[k] = true;
        argument->booleans = trial->tr_numbers[i].nu_booleans;
        break;
    case ACLSIM_TEXT:
        argument->text = strcpy(trial->tr_numbers[i].nu_text, "");
        break;
    case ACLSIM_INTEGER:
        argument->integer = integer_of(trial, i);
        break;
    case ACLSIM_NUMBER:
        argument->number = integer_of(trial, i) != 0;
        break;
    }
}

static void set_argument(struct trial *trial, size_t i)
{
    const struct sim_parameter *parameter = &trial->tr_row->ro_parameters[i];
    trial->tr_arguments[i] = (aclsimArgument){.name = parameter->pa_name, .kind = parameter->pa_kind,
                                              .direction = parameter->pa_direction};
    if (!parameter->pa_optional || is_present(trial, i))
        set_value(trial, i);
}

/* The parameter that a refusal names, perhaps with an index; the number of parameters if there is none. */
static size_t named(struct sim_row *row, const char *name)
{
    size_t length = strcspn(name, "["), i = 0;
    while (i < row->ro_count && (strncmp(row->ro_parameters[i].pa_name, name, length) != 0 ||
                                 row->ro_parameters[i].pa_name[length] != '\0'))
        i++;
    return i;
}

/* ---- changes ---- */

/* The type in question if it is in the set, otherwise one that depends on the start. */
static aclDataType choose(const struct trial *trial, uint64_t types)
{
    aclDataType type = trial->tr_type;
    if (sim_element_is(type, types) || types == 0)
        return type;
    unsigned skipped = trial->tr_start.st_mix % (unsigned)__builtin_popcountll(types);
    for (type = 0; !sim_element_is(type, types) || skipped-- != 0; type++)
        continue;
    return type;
}

static bool change_type(struct trial *trial, size_t i, aclsimTensor *tensor, aclDataType type)
{
    switch (trial->tr_arguments[i].kind) {
    case ACLSIM_TENSOR:
    case ACLSIM_TENSOR_LIST:
        tensor->type = type;
        return true;
    case ACLSIM_SCALAR:
        set_scalar(&trial->tr_scalars[i], type);
        return true;
    case ACLSIM_INTEGER:
        trial->tr_arguments[i].integer = type;
        return true;
    default:
        return false;
    }
}

static bool change_rank(const struct trial *trial, aclsimTensor *tensor, uint32_t rank)
{
    int64_t dims[SIM_RANK];
    for (size_t k = 0; k < SIM_RANK; k++)
        dims[k] = k < tensor->rank ? tensor->dims[k] : trial->tr_start.st_dim;
    return set_shape(tensor, dims, rank);
}

/* The index of an element that a name has, or 0. */
static size_t place_in(const char *name)
{
    const char *bracket = strchr(name, '[');
    return bracket != NULL ? (size_t)(bracket[1] - '0') : 0;
}

/* Changes a number, or an element of an array. */
static bool change_number(struct trial *trial, size_t i, size_t at, int64_t number)
{
    if (trial->tr_arguments[i].kind == ACLSIM_INTEGER)
        trial->tr_arguments[i].integer = number;
    else if (trial->tr_arguments[i].kind == ACLSIM_INTEGERS && at < NUMBERS)
        trial->tr_numbers[i].nu_integers[at] = number;
    else
        return false;
    return true;
}

/* Changes an argument to what a check expected. Returns false if that is not possible. */
static bool change(struct trial *trial, size_t i, const struct sim_report *report)
{
    aclsimArgument *argument = &trial->tr_arguments[i];
    const size_t place = place_in(report->rp_name);
    const bool is_tensor = argument->kind <= ACLSIM_TENSOR_LIST && place < MEMBERS;
    aclsimTensor *tensor = &trial->tr_tensors[i][is_tensor ? place : 0];
    if (report->rp_kind == SIM_REPORTED_ABSENT) {
        set_value(trial, i);
        return true;
    }
    if (argument->present == 0)
        return false;
    switch (report->rp_kind) {
    case SIM_REPORTED_TYPE:
        return change_type(trial, i, tensor, choose(trial, report->rp_types));
    case SIM_REPORTED_RANK:
        return is_tensor && report->rp_rank <= SIM_RANK && change_rank(trial, tensor, report->rp_rank);
    case SIM_REPORTED_SHAPE:
        return is_tensor && report->rp_rank <= SIM_RANK && set_shape(tensor, report->rp_dims, report->rp_rank);
    case SIM_REPORTED_COUNT:
        if (argument->kind != ACLSIM_TENSOR_LIST &&
            (argument->kind < ACLSIM_INTEGERS || argument->kind > ACLSIM_BOOLEANS))
            return false;
        if (report->rp_count > (argument->kind == ACLSIM_TENSOR_LIST ? MEMBERS : NUMBERS))
            return false;
        argument->count = report->rp_count;
        return true;
    case SIM_REPORTED_NUMBER:
        return change_number(trial, i, place, report->rp_number);
    case SIM_REPORTED_TEXT:
        if (argument->kind != ACLSIM_TEXT)
            return false;
        argument->text = strcpy(trial->tr_numbers[i].nu_text, report->rp_text);
        return true;
    default:
        return false;
    }
}

/* ---- questions ---- */

/* No kernel takes it: a plan that accepts it does not look at that tensor in this call. */
#define CONTROL ACL_UINT1

static bool ask(struct trial *trial, struct sim_report *report)
{
    sim_report_begin(report);
    aclnnStatus code = sim_row_ask(trial->tr_row, trial->tr_arguments);
    sim_report_begin(NULL);
    return code == ACL_SUCCESS;
}

/* Asks about the arguments, and changes them, until the plan accepts them or no change is left. */
static bool is_accepted(struct trial *trial)
{
    for (int i = 0; i < CHANGES; i++) {
        struct sim_report report;
        if (ask(trial, &report)) {
            trial->tr_is_refused = false;
            return true;
        }
        size_t at = report.rp_kind == SIM_REPORTED_NOTHING ? trial->tr_row->ro_count
                                                           : named(trial->tr_row, report.rp_name);
        trial->tr_is_refused = at == trial->tr_asked && report.rp_kind == SIM_REPORTED_TYPE;
        if (at == trial->tr_row->ro_count || trial->tr_is_refused || !change(trial, at, &report))
            return false;
    }
    return false;
}

/* Whether the plan, which accepts the call, looks at the type of a tensor. */
static bool is_checked(struct trial *trial, size_t at)
{
    struct sim_report report;
    aclDataType *type = &trial->tr_tensors[at]->type, kept = *type;
    *type = CONTROL;
    bool is_accepted = ask(trial, &report);
    *type = kept;
    return !is_accepted;
}

static bool try_start(struct trial *trial, aclDataType type, unsigned number)
{
    trial->tr_type = type;
    trial->tr_start = start_of(number);
    for (size_t i = 0; i < trial->tr_row->ro_count; i++)
        set_argument(trial, i);
    return is_accepted(trial) && is_checked(trial, trial->tr_asked);
}

/* The first tensor or list of tensors with one of these directions, or `exactly` these; the number of parameters if
 * there is none. */
static size_t first_tensor(const struct sim_row *row, unsigned directions, bool exactly)
{
    size_t i = 0;
    for (; i < row->ro_count; i++) {
        const struct sim_parameter *parameter = &row->ro_parameters[i];
        unsigned shared = parameter->pa_direction & directions;
        if (parameter->pa_kind <= ACLSIM_TENSOR_LIST && shared != 0 && (!exactly || parameter->pa_direction == shared))
            break;
    }
    return i;
}

/* Adds the types that the output of an accepted call may have. */
static void ask_output(struct trial *trial, size_t output, unsigned number, uint64_t *out)
{
    if (output == trial->tr_row->ro_count || trial->tr_arguments[output].present == 0 || !is_checked(trial, output))
        return;
    const size_t asked = trial->tr_asked;
    *out |= SIM_TYPE(trial->tr_tensors[output]->type);
    for (aclDataType type = 0; type < TYPES; type++) {
        if (sim_type_bits(type) == 0 || sim_element_is(type, *out) || !try_start(trial, trial->tr_type, number))
            continue;
        trial->tr_tensors[output]->type = type;
        trial->tr_asked = output;
        if (is_accepted(trial))
            *out |= SIM_TYPE(type);
        trial->tr_asked = asked;
    }
}

void sim_ask_types(struct sim_row *row, uint64_t *in, uint64_t *out)
{
    size_t input = first_tensor(row, ACLSIM_IN, false), output = first_tensor(row, ACLSIM_OUT, true);
    struct trial trial = {.tr_row = row, .tr_asked = input < row->ro_count ? input : output};
    unsigned refused[TYPES] = {0}, accepted[TYPES] = {0};
    if (trial.tr_asked == row->ro_count)
        return; /* an operator without tensors */
    for (unsigned number = 0; number < STARTS; number++)
        for (aclDataType type = 0; type < TYPES; type++) {
            if (sim_type_bits(type) == 0 || refused[type] == REFUSED || accepted[type] == ACCEPTED)
                continue;
            if (try_start(&trial, type, number)) {
                accepted[type]++;
                if (input < row->ro_count)
                    *in |= SIM_TYPE(type);
                ask_output(&trial, output, number, out);
            } else if (trial.tr_is_refused) {
                refused[type]++;
            }
        }
    for (aclDataType type = 0; type < TYPES; type++)
        if (sim_type_bits(type) != 0 && accepted[type] == 0 && refused[type] == 0)
            *in = *out = 0;
    if (output == row->ro_count && (row->ro_parameters[trial.tr_asked].pa_direction & ACLSIM_OUT) != 0)
        *out = *in;
}
