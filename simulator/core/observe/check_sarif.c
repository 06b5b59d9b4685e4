/* A SARIF document that grows by one result per finding.
 *
 * The document begins with the results and ends with the description of the tool and its rules, which is written again
 * after each result. Each finding is one write at the position where the results end, over the former end of the
 * document, which is never longer than the new one. So a program that is aborted or killed leaves a whole document.
 *
 * The state belongs to the file of findings; the lock of check.c guards both. */
#include "check_sarif.h"
#include "base/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULES 64 /* further rules have no description */
#define PATH_BYTES 4096

static const char head[] = "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\","
                           "\"runs\":[{\"results\":[";

static struct {
    const char *ru_id;
    char ru_advice[SIM_FINDING_TEXT]; /* of its first finding */
} rules[RULES];
static size_t rule_count;
static long end_of_results; /* where the next one is written; 0: there is no document */

static size_t index_of(const struct sim_finding *finding)
{
    size_t index = 0;
    while (index < rule_count && strcmp(rules[index].ru_id, finding->fi_rule) != 0)
        index++;
    if (index == rule_count && rule_count < RULES) {
        rules[rule_count].ru_id = finding->fi_rule;
        snprintf(rules[rule_count++].ru_advice, SIM_FINDING_TEXT, "%s", finding->fi_advice);
    }
    return index;
}

/* Writes `before`, and the rest of a string. */
static void put_text(FILE *to, const char *before, const char *text)
{
    fputs(before, to);
    sim_output_text(to, text);
    fputc('"', to);
}

/* ---- places ---- */

/* A path as a URI: relative to the current directory if the file is below it, so that it fits a checkout. */
static void put_uri(FILE *to, const char *path, size_t length)
{
    char directory[PATH_BYTES];
    size_t above = getcwd(directory, sizeof directory) != NULL ? strlen(directory) : 0;
    bool below = above != 0 && length > above + 1 && strncmp(path, directory, above) == 0 && path[above] == '/';
    if (below) {
        path += above + 1;
        length -= above + 1;
    } else if (*path == '/') {
        fputs("file://", to);
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)path[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c != '\0' && strchr("-._~/", c) != NULL);
        fprintf(to, plain ? "%c" : "%%%02X", c);
    }
}

/* The members of a location: "path:line in function" as file, line and function, other sites as they are printed. */
static void put_place(FILE *to, const void *site)
{
    char text[SIM_SITE_TEXT];
    const char *line = sim_site_line(site), *name = NULL, *colon = NULL;
    for (const char *at = line; at != NULL && (at = strstr(at, " in ")) != NULL; at++)
        name = at; /* the last one, as a path may contain others */
    for (const char *at = line; name != NULL && at < name; at++)
        colon = *at == ':' ? at : colon;
    unsigned long number = colon != NULL ? strtoul(colon + 1, NULL, 10) : 0;
    if (number != 0) {
        fputs("\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"", to);
        put_uri(to, line, (size_t)(colon - line));
        fprintf(to, "\"},\"region\":{\"startLine\":%lu}},", number);
    }
    put_text(to, "\"logicalLocations\":[{\"fullyQualifiedName\":\"",
               number != 0 ? name + strlen(" in ") : sim_site_print(site, text));
    fputs("}]", to);
}

/* The place of a finding is that of its first call; the others are related to it. */
static void put_places(FILE *to, const struct sim_finding *finding)
{
    const void *first = NULL;
    for (uint32_t i = 0; i < finding->fi_note_count && first == NULL; i++)
        first = finding->fi_notes[i].no_site;
    fputs(",\"locations\":[", to);
    if (first != NULL) {
        fputc('{', to);
        put_place(to, first);
        fputc('}', to);
    }
    fputs("],\"relatedLocations\":[", to);
    for (uint32_t i = 0; i < finding->fi_note_count; i++) {
        const struct sim_note *note = &finding->fi_notes[i];
        fprintf(to, "%s{\"id\":%u,\"message\":{\"text\":\"", i == 0 ? "" : ",", i);
        sim_output_text(to, note->no_label);
        put_text(to, ": ", note->no_text);
        fputc('}', to);
        if (note->no_site != NULL) {
            fputc(',', to);
            put_place(to, note->no_site);
        }
        fputc('}', to);
    }
    fputc(']', to);
}

/* ---- the document ---- */

static void put_result(FILE *to, const struct sim_finding *finding)
{
    size_t rule = index_of(finding);
    put_text(to, "{\"ruleId\":\"", finding->fi_rule);
    if (rule < RULES)
        fprintf(to, ",\"ruleIndex\":%zu", rule);
    fprintf(to, ",\"level\":\"%s\",\"message\":{\"text\":\"", finding->fi_is_warning ? "warning" : "error");
    sim_output_text(to, finding->fi_text);
    put_text(to, ". ", finding->fi_advice);
    fputc('}', to);
    put_places(to, finding);
    fputc('}', to);
}

static void put_tail(FILE *to)
{
    fputs("],\"tool\":{\"driver\":{\"name\":\"ascendcl\",\"rules\":[", to);
    for (size_t i = 0; i < rule_count; i++) {
        put_text(to, i == 0 ? "{\"id\":\"" : ",{\"id\":\"", rules[i].ru_id);
        put_text(to, ",\"help\":{\"text\":\"", rules[i].ru_advice);
        fputs("}}", to);
    }
    fputs("]}}}]}\n", to);
}

bool sim_check_sarif_add(FILE *file, const struct sim_finding *finding)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return false;
    fputs(end_of_results == 0 ? head : ",", memory);
    put_result(memory, finding);
    long result = ftell(memory);
    put_tail(memory);
    bool written = fclose(memory) == 0 && fseek(file, end_of_results, SEEK_SET) == 0 &&
                   fwrite(text, 1, size, file) == size && fflush(file) == 0;
    free(text);
    if (written)
        end_of_results += result;
    return written;
}

void sim_check_sarif_end(void)
{
    rule_count = 0;
    end_of_results = 0;
}
