/* Findings of the checkers: leaving out what is suppressed or reported already, and keeping and writing the rest.
 * check_write.c has the formats, check_switch.c the list of the checkers.
 *
 * `lock` guards everything here. It is a leaf, because a checker reports with its own lock held, and perhaps with the
 * lock of a heap or a stream. The file of findings is opened by the first finding. */
#include "check.h"
#include "check_write.h"
#include "trace.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 4096 /* further findings are counted only */
#define PATH_BYTES 512

static struct sim_lock lock;
static char *kept[KEPT];         /* as JSON */
static uint64_t keys[KEPT];      /* of what was reported */
static size_t count, unkept;
static char **suppressions;      /* "rule" or "rule:pattern" */
static size_t suppression_count;
static bool read_suppressions;

/* ---- making a finding ---- */

__attribute__((format(printf, 2, 0))) static void print(char text[SIM_FINDING_TEXT], const char *format,
                                                        va_list arguments)
{
    vsnprintf(text, SIM_FINDING_TEXT, format, arguments);
}

void sim_check_begin(struct sim_finding *finding, enum sim_check check, const char *rule, const char *advice,
                     const char *format, ...)
{
    va_list arguments;
    *finding = (struct sim_finding){.fi_check = check, .fi_rule = rule, .fi_advice = advice};
    va_start(arguments, format);
    print(finding->fi_text, format, arguments);
    va_end(arguments);
}

void sim_check_note(struct sim_finding *finding, const char *label, const void *site, uint32_t thread,
                    const char *format, ...)
{
    if (finding->fi_note_count == SIM_FINDING_NOTES)
        return;
    struct sim_note *note = &finding->fi_notes[finding->fi_note_count++];
    *note = (struct sim_note){.no_label = label, .no_site = site, .no_thread = thread};
    va_list arguments;
    va_start(arguments, format);
    print(note->no_text, format, arguments);
    va_end(arguments);
}

/* ---- leaving findings out ---- */

static uint64_t mix(uint64_t key, uint64_t value)
{
    key = (key ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

/* An interpreter may have several texts for one line. */
static uint64_t mix_text(uint64_t key, const char *text)
{
    while (*text != '\0')
        key = mix(key, (unsigned char)*text++);
    return key;
}

/* Of the rule and the places: a loop that makes the same mistake a thousand times is one finding. Without any place,
 * the text counts. */
static uint64_t key_of(const struct sim_finding *finding)
{
    uint64_t key = mix(mix(1, (uintptr_t)finding->fi_rule), finding->fi_key);
    bool placed = false;
    for (uint32_t i = 0; i < finding->fi_note_count; i++) {
        const void *site = finding->fi_notes[i].no_site;
        const char *line = sim_site_line(site);
        key = line != NULL ? mix_text(key, line) : mix(key, (uintptr_t)site);
        placed |= site != NULL;
    }
    return placed ? key : mix_text(key, finding->fi_text);
}

static bool is_known(uint64_t key)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

/* Lines `rule` or `rule:pattern`, with a pattern of fnmatch; `#` begins a comment. */
static void load_suppressions(void)
{
    char path[PATH_BYTES], line[PATH_BYTES];
    read_suppressions = true;
    if (sim_config_get("suppress", path, sizeof path) != ACL_SUCCESS || strcmp(path, "none") == 0)
        return;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "acl check: the file of suppressions, %s, cannot be read\n", path);
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "#\n")] = '\0';
        size_t length = strlen(line);
        while (length != 0 && (line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r'))
            line[--length] = '\0';
        char **longer = length != 0 ? realloc(suppressions, (suppression_count + 1) * sizeof *longer) : NULL;
        if (longer == NULL)
            continue;
        suppressions = longer;
        suppressions[suppression_count] = strdup(line);
        suppression_count += suppressions[suppression_count] != NULL;
    }
    fclose(file);
}

static bool matches(const char *suppression, const struct sim_finding *finding)
{
    size_t length = strcspn(suppression, ":");
    const char *pattern = suppression + length;
    if (strncmp(suppression, finding->fi_rule, length) != 0 || finding->fi_rule[length] != '\0')
        return false;
    if (*pattern++ == '\0')
        return true;
    for (uint32_t i = 0; i < finding->fi_note_count; i++) {
        char site[SIM_SITE_TEXT];
        const struct sim_note *note = &finding->fi_notes[i];
        if (fnmatch(pattern, note->no_text, 0) == 0 ||
            (note->no_site != NULL && fnmatch(pattern, sim_site_print(note->no_site, site), 0) == 0))
            return true;
    }
    return fnmatch(pattern, finding->fi_text, 0) == 0;
}

static bool is_suppressed(const struct sim_finding *finding)
{
    if (!read_suppressions)
        load_suppressions();
    for (size_t i = 0; i < suppression_count; i++)
        if (matches(suppressions[i], finding))
            return true;
    return false;
}

/* ---- reporting ---- */

void sim_check_report(const struct sim_finding *finding)
{
    char path[PATH_BYTES];
    uint64_t key = key_of(finding);
    sim_lock(&lock);
    bool fresh = !is_known(key) && !is_suppressed(finding);
    if (fresh && count == KEPT)
        unkept++;
    if (fresh && count < KEPT) {
        keys[count] = key;
        kept[count++] = sim_check_json(finding);
        if (sim_config_get("findings", path, sizeof path) == ACL_SUCCESS)
            sim_check_write(path, finding);
        sim_trace_finding(finding, kept[count - 1]);
    }
    sim_unlock(&lock);
    if (fresh && sim_config()->cf_on_finding == SIM_FINDING_ABORTS)
        abort();
}

void sim_check_ignored(const char *function, int32_t code, const char *line)
{
    struct sim_finding finding;
    const char *now = sim_thread.th_line;
    sim_check_begin(&finding, SIM_CHECK_STRICT, "ignored-code",
                    "Compare the code of each call with 0, and stop at another one.",
                    "%s failed with %d, and the program did not look at this code", function, code);
    sim_thread.th_line = line;
    sim_check_note(&finding, "failed", sim_site_with_line(NULL), sim_thread_number(), "%s", function);
    sim_thread.th_line = now;
    sim_check_report(&finding);
    /* The interpreter's library raises for findings before a call, if it wants lines. */
    if (sim_config()->cf_on_finding == SIM_FINDING_RAISES)
        __atomic_store_n(&sim_check_wants_lines, 1, __ATOMIC_RELAXED);
}

size_t sim_check_count(void)
{
    sim_lock(&lock);
    size_t found = count + unkept;
    sim_unlock(&lock);
    return found;
}

const char *sim_check_at(size_t index)
{
    sim_lock(&lock);
    const char *text = index < count ? kept[index] : NULL;
    sim_unlock(&lock);
    return text;
}

void sim_check_forget(void)
{
    sim_lock(&lock);
    while (count != 0)
        free(kept[--count]);
    unkept = 0;
    sim_unlock(&lock);
}

/* ---- life cycle ---- */

int32_t sim_check_wants_lines;

void sim_check_findings_reset(void)
{
    sim_check_forget();
    sim_lock(&lock);
    while (suppression_count != 0)
        free(suppressions[--suppression_count]);
    free(suppressions);
    suppressions = NULL;
    read_suppressions = false;
    sim_check_write_end();
    sim_unlock(&lock);
}

void sim_check_findings_after_fork(void)
{
    sim_lock_renew(&lock);
}
