/* The graph of a single operator as a text file: one node with its inputs and outputs, and its attributes as JSON.
 * The options are reserved: objects without contents, each with its own lock. This file has no other state. */
#include "dump.h"
#include "base/object.h"
#include "base/output.h"
#include "operator/op.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct sim_table options = SIM_OBJECT_TABLE(struct sim_object, SIM_KIND_GRAPH_DUMP);

aclGraphDumpOption *sim_dump_graph_create(void)
{
    uint64_t handle;
    struct sim_object *option = sim_object_take(&options, &handle);
    return option == NULL ? NULL : sim_object_publish(option, handle);
}

static void end(void *option)
{
    sim_object_end(&options, option);
}

/* Opens a live option; returns 100000 otherwise. */
static aclError open_option(const aclGraphDumpOption *handle, struct sim_object **option)
{
    *option = sim_object_open(&options, handle, "graphDumpOpt", ACL_ERROR_INVALID_PARAM);
    return *option != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

aclError sim_dump_graph_destroy(const aclGraphDumpOption *handle)
{
    struct sim_object *option;
    SIM_TRY(open_option(handle, &option));
    end(option);
    return ACL_SUCCESS;
}

aclError sim_dump_graph_check(const aclGraphDumpOption *handle)
{
    struct sim_object *option;
    SIM_TRY(open_option(handle, &option));
    sim_object_close(option);
    return ACL_SUCCESS;
}

static aclError print_desc(FILE *out, const char *side, int index, const aclTensorDesc *handle)
{
    struct sim_tensor_desc *desc = sim_tensordesc_open(handle);
    if (desc == NULL)
        return ACL_ERROR_INVALID_PARAM;
    fprintf(out, "  %s %d: name \"%s\", data_type %d, format %d, shape [", side, index,
            desc->td_name != NULL ? desc->td_name : "", (int)desc->td_type, (int)desc->td_format);
    for (size_t i = 0; i < desc->td_shape.nu_count; i++)
        fprintf(out, "%s%" PRId64, i == 0 ? "" : ", ", desc->td_shape.nu_values[i]);
    fputs("]\n", out);
    sim_object_close(desc);
    return ACL_SUCCESS;
}

static aclError print_attributes(FILE *out, const aclopAttr *handle)
{
    struct sim_attributes attributes;
    if (handle == NULL)
        return ACL_SUCCESS;
    SIM_TRY(sim_op_attr_copy(handle, &attributes));
    char *text = sim_op_attributes_json(&attributes);
    sim_op_attributes_drop(&attributes);
    SIM_ARGUMENT(text != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for the attributes");
    fprintf(out, "  attributes %s\n", text);
    free(text);
    return ACL_SUCCESS;
}

static aclError print_graph(FILE *out, const struct sim_dump_graph *graph)
{
    fprintf(out, "node \"%s\"\n", graph->dg_type);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < graph->dg_counts[side]; i++)
            SIM_TRY(print_desc(out, side == 0 ? "input" : "output", i, graph->dg_descs[side][i]));
    return print_attributes(out, graph->dg_attr);
}

static aclError write_text(const struct sim_dump_graph *graph, const char *text, size_t size)
{
    char path[ACL_DUMP_MAX_FILE_PATH_LENGTH];
    struct stat status;
    bool directory = stat(graph->dg_path, &status) == 0 && S_ISDIR(status.st_mode);
    int length = directory ? snprintf(path, sizeof path, "%s/%s.txt", graph->dg_path, graph->dg_type)
                           : snprintf(path, sizeof path, "%s", graph->dg_path);
    bool written = length < (int)sizeof path && sim_output_write(path, text, size);
    SIM_ARGUMENT(written, ACL_ERROR_INVALID_FILE,
                 "graphDumpPath is \"%.256s\", expected a file, or a directory that exists, that can be written to: %s",
                 graph->dg_path, strerror(errno));
    return ACL_SUCCESS;
}

aclError sim_dump_graph_write(const struct sim_dump_graph *graph)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    SIM_ARGUMENT(out != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a graph");
    aclError code = print_graph(out, graph);
    fclose(out);
    if (code == ACL_SUCCESS)
        code = write_text(graph, text, size);
    free(text);
    return code;
}

void sim_dump_graph_reset(void)
{
    sim_object_destroy_all(&options, end);
}

void sim_dump_graph_after_fork(void)
{
    sim_table_empty(&options);
}
