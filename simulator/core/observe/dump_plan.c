/* Reads the "dump" object of a configuration file into a plan. Settings that a simulator cannot honour (layers of a
 * model that runs as a whole, kernels of an operator, overflow dumps) are checked and have no effect.
 *
 * This file owns the paths of directories, a list guarded by kept_lock, which is a leaf. */
#include "base/config_file.h"
#include "dump.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    struct sim_json rd_object;
    const char *rd_argument; /* the argument that names the file */
};

struct word {
    const char *wo_text;
    int wo_value;
};

static aclError refuse_member(const struct reader *reader, const char *name, struct sim_json value,
                              const char *expected)
{
    return sim_refuse(ACL_ERROR_INVALID_DUMP_CONFIG, "dump.%s in the file of %s is %.*s, expected %s", name,
                      reader->rd_argument, SIM_SHOWN(value), expected);
}

/* Finds a value in a list of words, which ends with an entry without text; returns -1 if it is not in the list. */
static int find_word(struct sim_json found, const struct word *words)
{
    size_t length = (size_t)(found.js_end - found.js_start);
    for (; words->wo_text != NULL; words++)
        if (found.js_kind == SIM_JSON_STRING && strlen(words->wo_text) == length &&
            memcmp(words->wo_text, found.js_start, length) == 0)
            return words->wo_value;
    return -1;
}

/* Leaves `value` unchanged if the file has no such member. */
static aclError read_word(const struct reader *reader, const char *name, const struct word *words, const char *expected,
                          int *value)
{
    struct sim_json found;
    if (!sim_json_member(reader->rd_object, name, &found))
        return ACL_SUCCESS;
    int read = find_word(found, words);
    if (read < 0)
        return refuse_member(reader, name, found, expected);
    *value = read;
    return ACL_SUCCESS;
}

/* ---- the path ---- */

struct kept {
    struct kept *ke_next;
    char ke_path[];
};

static struct sim_lock kept_lock; /* guards the list; a leaf */
static struct kept *kept_paths;

/* A copy of the path that lives as long as the process; equal paths share one copy. */
static const char *keep(const char *path)
{
    struct kept *fresh = malloc(sizeof *fresh + strlen(path) + 1);
    if (fresh != NULL)
        strcpy(fresh->ke_path, path);
    sim_lock(&kept_lock);
    struct kept *kept = kept_paths;
    while (kept != NULL && strcmp(kept->ke_path, path) != 0)
        kept = kept->ke_next;
    if (kept == NULL && fresh != NULL) {
        fresh->ke_next = kept_paths;
        kept_paths = kept = fresh;
        fresh = NULL;
    }
    sim_unlock(&kept_lock);
    free(fresh);
    return kept != NULL ? kept->ke_path : NULL;
}

static aclError read_path(const struct reader *reader, struct sim_dump_plan *plan)
{
    char path[SIM_DUMP_PATH] = "";
    struct sim_json value = {0};
    bool given = sim_json_member(reader->rd_object, "dump_path", &value);
    if (!sim_json_text(reader->rd_object, "dump_path", path, sizeof path))
        return refuse_member(reader, "dump_path", value, "a string that is shorter");
    if (!given && plan->dp_failures == 0)
        return sim_dump_receiver() != NULL ? ACL_SUCCESS
                                           : refuse_member(reader, "dump_path", value, "the path of a directory");
    const char *directory = given ? path : "."; /* the default for dumps of failures */
    if (access(directory, W_OK | X_OK) != 0)
        return refuse_member(reader, "dump_path", value, "a directory of this host that exists and can be written to");
    plan->dp_path = keep(directory);
    SIM_ARGUMENT(plan->dp_path != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a path");
    return ACL_SUCCESS;
}

/* ---- models and steps ---- */

static bool has_texts(struct sim_json list)
{
    struct sim_json element = {0};
    while (sim_json_next(list, &element))
        if (element.js_kind != SIM_JSON_STRING)
            return false;
    return list.js_kind == SIM_JSON_ARRAY;
}

/* Adds the model name of an entry, or sets *every if the entry has none. */
static aclError add_model(const struct reader *reader, struct sim_json entry, struct sim_dump_plan *plan, size_t *count,
                          bool *every)
{
    struct sim_json name, layers;
    if (entry.js_kind != SIM_JSON_OBJECT || (sim_json_member(entry, "layer", &layers) && !has_texts(layers)))
        return refuse_member(reader, "dump_list", entry, "objects with \"model_name\" and a list \"layer\" of strings");
    if (!sim_json_member(entry, "model_name", &name)) {
        *every = true;
        return ACL_SUCCESS;
    }
    if (name.js_kind != SIM_JSON_STRING)
        return refuse_member(reader, "dump_list", name, "a string as \"model_name\"");
    char **grown = realloc(plan->dp_names, (*count + 2) * sizeof *grown);
    char *copy = strndup(name.js_start, (size_t)(name.js_end - name.js_start));
    if (grown != NULL) {
        plan->dp_names = grown;
        grown[*count] = copy;
        grown[*count + (copy != NULL)] = NULL;
        *count += copy != NULL;
    } else {
        free(copy);
    }
    SIM_ARGUMENT(grown != NULL && copy != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for the name of a model");
    return ACL_SUCCESS;
}

static aclError read_models(const struct reader *reader, struct sim_dump_plan *plan)
{
    struct sim_json list, entry = {0};
    size_t count = 0;
    bool every = false;
    if (!sim_json_member(reader->rd_object, "dump_list", &list))
        return ACL_SUCCESS;
    if (list.js_kind != SIM_JSON_ARRAY)
        return refuse_member(reader, "dump_list", list, "an array");
    while (sim_json_next(list, &entry)) {
        plan->dp_models = true;
        SIM_TRY(add_model(reader, entry, plan, &count, &every));
    }
    if (every && plan->dp_names != NULL) {
        for (size_t i = 0; i < count; i++)
            free(plan->dp_names[i]);
        free(plan->dp_names);
        plan->dp_names = NULL;
    }
    return ACL_SUCCESS;
}

static bool read_digits(const char **at, const char *end, uint64_t *number)
{
    const char *from = *at;
    for (*number = 0; *at < end && **at >= '0' && **at <= '9' && *number < UINT32_MAX; ++*at)
        *number = *number * 10 + (uint64_t)(**at - '0');
    return *at != from;
}

/* Reads steps like "0|2|5-10". */
static aclError read_steps(const struct reader *reader, struct sim_dump_plan *plan)
{
    struct sim_json value;
    if (!sim_json_member(reader->rd_object, "dump_step", &value))
        return ACL_SUCCESS;
    const char *at = value.js_start, *end = value.js_end;
    for (bool more = value.js_kind == SIM_JSON_STRING; more;) {
        if (plan->dp_step_count == SIM_DUMP_STEPS)
            break;
        uint64_t *step = plan->dp_steps[plan->dp_step_count];
        if (!read_digits(&at, end, &step[0]))
            break;
        step[1] = step[0];
        if (at < end && *at == '-') {
            at++;
            if (!read_digits(&at, end, &step[1]) || step[1] < step[0])
                break;
        }
        plan->dp_step_count++;
        if (at == end)
            return ACL_SUCCESS;
        more = *at++ == '|';
    }
    return refuse_member(reader, "dump_step", value, "at most 100 numbers and ranges, such as \"0|2|5-10\"");
}

/* ---- statistics ---- */

static aclError read_statistics(const struct reader *reader, struct sim_dump_plan *plan)
{
    static const struct word names[] = {{"Max", SIM_DUMP_MAX},
                                        {"Min", SIM_DUMP_MIN},
                                        {"Avg", SIM_DUMP_AVERAGE},
                                        {"Nan", SIM_DUMP_NAN},
                                        {"Negative Inf", SIM_DUMP_NEGATIVE_INF},
                                        {"Positive Inf", SIM_DUMP_POSITIVE_INF},
                                        {"L2norm", SIM_DUMP_NORM},
                                        {NULL, 0}};
    static const char expected[] = "a list of \"Max\", \"Min\", \"Avg\", \"Nan\", \"Negative Inf\", "
                                   "\"Positive Inf\" and \"L2norm\"";
    struct sim_json list, element = {0};
    unsigned wanted = 0;
    if (!sim_json_member(reader->rd_object, "dump_stats", &list))
        return ACL_SUCCESS;
    if (list.js_kind != SIM_JSON_ARRAY)
        return refuse_member(reader, "dump_stats", list, expected);
    while (sim_json_next(list, &element)) {
        int statistic = find_word(element, names);
        if (statistic < 0)
            return refuse_member(reader, "dump_stats", element, expected);
        wanted |= (unsigned)statistic;
    }
    if (plan->dp_statistics == 0 || wanted == 0)
        return refuse_member(reader, "dump_stats", list, "a list that is not empty, beside dump_data \"stats\"");
    plan->dp_statistics = wanted;
    return ACL_SUCCESS;
}

/* ---- all of it ---- */

#define WATCHER 100

aclError sim_dump_read(struct sim_json object, const char *argument, struct sim_dump_plan *plan)
{
    static const struct word switches[] = {{"on", 1}, {"off", 0}, {NULL, 0}};
    static const struct word modes[] = {
        {"input", ACLSIM_IN}, {"output", ACLSIM_OUT}, {"all", ACLSIM_IN | ACLSIM_OUT}, {NULL, 0}};
    static const struct word levels[] = {{"op", 0}, {"kernel", 0}, {"all", 0}, {NULL, 0}};
    static const struct word data[] = {{"tensor", 0}, {"stats", SIM_DUMP_STATISTICS}, {NULL, 0}};
    static const struct word scenes[] = {{"lite_exception", AIC_ERR_BRIEF_DUMP},
                                         {"aic_err_brief_dump", AIC_ERR_BRIEF_DUMP},
                                         {"aic_err_norm_dump", AIC_ERR_NORM_DUMP},
                                         {"aic_err_detail_dump", AIC_ERR_DETAIL_DUMP},
                                         {"watcher", WATCHER},
                                         {NULL, 0}};
    const struct reader reader = {object, argument};
    int directions = ACLSIM_OUT, operators = 0, overflow = 0, scene = 0, kind = 0, unused = 0;
    SIM_TRY(read_word(&reader, "dump_mode", modes, "\"input\", \"output\" or \"all\"", &directions));
    SIM_TRY(read_word(&reader, "dump_op_switch", switches, "\"on\" or \"off\"", &operators));
    SIM_TRY(read_word(&reader, "dump_debug", switches, "\"on\" or \"off\"", &overflow));
    SIM_TRY(read_word(&reader, "dump_level", levels, "\"op\", \"kernel\" or \"all\"", &unused));
    SIM_TRY(read_word(&reader, "dump_data", data, "\"tensor\" or \"stats\"", &kind));
    SIM_TRY(read_word(&reader, "dump_scene", scenes, "an exception's dump: \"aic_err_brief_dump\", "
                      "\"aic_err_norm_dump\" or \"aic_err_detail_dump\"", &scene));
    SIM_ARGUMENT(scene != WATCHER, ACL_ERROR_FEATURE_UNSUPPORTED,
                 "dump.dump_scene \"watcher\" in the file of %s is not part of the simulator, expected an exception's "
                 "dump", argument);
    plan->dp_statistics = (unsigned)kind;
    SIM_TRY(read_statistics(&reader, plan));
    plan->dp_directions = (unsigned)directions;
    plan->dp_operators = operators != 0;
    plan->dp_overflow = overflow != 0;
    plan->dp_failures = (acldumpType)scene;
    SIM_TRY(read_models(&reader, plan));
    SIM_TRY(read_steps(&reader, plan));
    bool data_dump = plan->dp_models || plan->dp_operators;
    SIM_ARGUMENT(!data_dump || (!plan->dp_overflow && scene == 0), ACL_ERROR_INVALID_DUMP_CONFIG,
                 "dump.%s in the file of %s is combined with a dump of models or operators, expected only one of them",
                 scene != 0 ? "dump_scene" : "dump_debug", argument);
    SIM_ARGUMENT(!plan->dp_overflow || scene == 0, ACL_ERROR_INVALID_DUMP_CONFIG,
                 "dump.dump_debug in the file of %s is combined with dump.dump_scene, expected only one of them",
                 argument);
    struct sim_json path;
    bool named = sim_json_member(object, "dump_path", &path);
    return data_dump || plan->dp_overflow || scene != 0 || named ? read_path(&reader, plan) : ACL_SUCCESS;
}
