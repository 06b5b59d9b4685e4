/* Writing findings. A file is opened by the first finding. It holds one JSON object a line if its name ends in .json, a
 * document (check_sarif.c) if it ends in .sarif, else the text for persons. The caller (check.c) holds its lock, which
 * guards the file, too. */
#include "check_write.h"
#include "base/output.h"
#include "check_sarif.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static FILE *file;
static bool failed;

static const char *check_name(enum sim_check check)
{
    static const char *const names[] = {"memory", "race", "init", "sync", "leak", "deadlock"};
    return check == SIM_CHECK_STRICT ? "strict" : names[__builtin_ctz(check)];
}

/* ---- text ---- */

static void write_note(FILE *to, const struct sim_note *note)
{
    char site[SIM_SITE_TEXT];
    fprintf(to, "    %s: %s", note->no_label, note->no_text);
    if (note->no_site != NULL)
        fprintf(to, ", at %s", sim_site_print(note->no_site, site));
    if (note->no_thread != 0)
        fprintf(to, ", by thread %" PRIu32, note->no_thread);
    fputc('\n', to);
}

static void write_text(FILE *to, const struct sim_finding *finding)
{
    fprintf(to, "acl check: %s: %s: %s\n", finding->fi_is_warning ? "warning" : "error", finding->fi_rule,
            finding->fi_text);
    for (uint32_t i = 0; i < finding->fi_note_count; i++)
        write_note(to, &finding->fi_notes[i]);
    fprintf(to, "    %s\n", finding->fi_advice);
}

/* ---- JSON ---- */

static void write_member(FILE *to, const char *before, const char *name, const char *text)
{
    fprintf(to, "%s\"%s\":\"", before, name);
    sim_output_text(to, text);
    fputc('"', to);
}

static void write_json(FILE *to, const struct sim_finding *finding)
{
    char site[SIM_SITE_TEXT];
    write_member(to, "{", "check", check_name(finding->fi_check));
    write_member(to, ",", "rule", finding->fi_rule);
    write_member(to, ",", "level", finding->fi_is_warning ? "warning" : "error");
    write_member(to, ",", "text", finding->fi_text);
    write_member(to, ",", "advice", finding->fi_advice);
    fputs(",\"notes\":[", to);
    for (uint32_t i = 0; i < finding->fi_note_count; i++) {
        const struct sim_note *note = &finding->fi_notes[i];
        write_member(to, i == 0 ? "{" : ",{", "label", note->no_label);
        write_member(to, ",", "text", note->no_text);
        write_member(to, ",", "site", note->no_site != NULL ? sim_site_print(note->no_site, site) : "");
        fprintf(to, ",\"thread\":%" PRIu32 "}", note->no_thread);
    }
    fputs("]}", to);
}

char *sim_check_json(const struct sim_finding *finding)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return NULL;
    write_json(to, finding);
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- where to ---- */

static bool ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length >= end && strcmp(path + length - end, suffix) == 0;
}

void sim_check_write(const char *path, const struct sim_finding *finding)
{
    bool to_file = strcmp(path, "stderr") != 0;
    if (to_file && file == NULL && !failed) {
        file = sim_output_open(path);
        failed = file == NULL;
        if (failed)
            fprintf(stderr, "acl check: the file of findings, %s, cannot be written; they follow here\n", path);
    }
    FILE *to = to_file && file != NULL ? file : stderr;
    if (to == file && ends_in(path, ".sarif") && sim_check_sarif_add(to, finding))
        return;
    if (to == file && ends_in(path, ".json")) {
        write_json(to, finding);
        fputc('\n', to);
    } else {
        write_text(to, finding);
    }
    fflush(to);
}

void sim_check_write_end(void)
{
    if (file != NULL)
        sim_output_close(file);
    sim_check_sarif_end();
    file = NULL;
    failed = false;
}
