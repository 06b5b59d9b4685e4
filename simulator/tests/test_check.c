/* Watchers see memory, handles, accesses of the host and submissions while they are on, and nothing afterwards.
 * Findings are written, kept and left out as the settings say. */
#include "observe/check.h"
#include "address/memory.h"
#include "engine/engine.h"
#include "check.h"
#include <acl/acl_sim.h>
#include <unistd.h>

#define MESSAGE_OF(finding, ...) sim_check_begin(finding, SIM_CHECK_RACE, "test-rule", "Do that.", __VA_ARGS__)

static struct {
    uint64_t allocated, freed, submitted, started, created, destroyed, read, written;
    struct sim_block block;
    uint32_t birth;
    const void *freed_at, *submitted_at;
} seen;

static void see_allocate(const struct sim_block *block, const void *site)
{
    (void)site;
    seen.allocated++;
    seen.block = *block;
}

static void see_free(uint32_t birth, const void *site)
{
    seen.freed++;
    seen.birth = birth;
    seen.freed_at = site;
}

static void see_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    (void)stream;
    (void)ticket;
    seen.submitted++;
    seen.submitted_at = task->ta_site;
}

static void see_start(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    (void)run;
    (void)task;
    (void)argument;
    seen.started++;
}

static void see_access(const struct sim_range *ranges, size_t count, const void *site)
{
    (void)site;
    for (size_t i = 0; i < count; i++)
        *(ranges[i].rg_write ? &seen.written : &seen.read) += ranges[i].rg_size;
}

static void see_create(const struct sim_table *table, uint64_t handle)
{
    (void)handle;
    seen.created += table->tb_kind == SIM_KIND_EVENT;
}

static void see_destroy(const struct sim_table *table, uint32_t index)
{
    (void)index;
    seen.destroyed += table->tb_kind == SIM_KIND_EVENT;
}

static const struct sim_watcher watcher = {
    .wt_allocate = see_allocate, .wt_free = see_free,     .wt_submit = see_submit,   .wt_start = see_start,
    .wt_access = see_access,     .wt_create = see_create, .wt_destroy = see_destroy,
};

static void work(void)
{
    void *block, *host;
    aclrtEvent event;
    char bytes[100] = {0};
    CHECK_CODE(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclrtMallocHost(&host, 8), 0);
    CHECK_CODE(aclrtCreateEvent(&event), 0);
    CHECK_CODE(aclrtMemsetAsync(block, 100, 1, 100, NULL), 0);
    CHECK_CODE(aclrtSynchronizeStream(NULL), 0);
    CHECK_CODE(aclrtMemcpy(bytes, 100, block, 100, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    CHECK_CODE(aclrtMemset(block, 100, 2, 64), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
    CHECK_CODE(aclrtFreeHost(host), 0);
    CHECK_CODE(aclrtFree(block), 0);
}

static void test_watchers_see_what_happens_while_they_are_on(void)
{
    sim_watcher_set(&watcher, true);
    CHECK_CODE(aclsimSetLine("program.py:7 in work"), 0);
    work();
    CHECK_CODE(aclsimSetLine(NULL), 0);
    sim_watcher_set(&watcher, false);
    CHECK(seen.allocated == 2 && seen.freed == 2 && seen.submitted == 1 && seen.started == 1);
    CHECK(seen.created == 1 && seen.destroyed == 1);
    CHECK(seen.read == 100 && seen.written == 100 + 64);
    CHECK(seen.block.bk_requested == 8 && seen.block.bk_device == -1 && seen.birth != seen.block.bk_birth);
    CHECK(strcmp(sim_site_line(seen.submitted_at), "program.py:7 in work") == 0);
    CHECK(strcmp(sim_site_line(seen.freed_at), "program.py:7 in work") == 0);
    CHECK(sim_site_address(seen.freed_at) != NULL && sim_site_address(seen.freed_at) != seen.freed_at);
    memset(&seen, 0, sizeof seen);
    work();
    CHECK(seen.allocated + seen.freed + seen.submitted + seen.started + seen.created + seen.read == 0);
}

static void test_a_site_without_a_line_shows_function_and_offset(void)
{
    char text[SIM_SITE_TEXT];
    const void *inside = (const void *)((uintptr_t)aclrtMalloc + 1);
    CHECK(sim_site_with_line(inside) == inside && sim_site_line(inside) == NULL);
    CHECK(strchr(sim_site_print(inside, text), '+') != NULL);
    CHECK(strcmp(sim_site_print((const void *)16, text), "0x10") == 0);
}

static struct sim_finding finding;

static void test_findings_are_kept_once_per_place(void)
{
    static const char place[] = "place";
    for (int i = 0; i < 3; i++) {
        MESSAGE_OF(&finding, "number %d", i);
        sim_check_note(&finding, "write", place + (i == 2), 12, "task %d", i);
        sim_check_report(&finding);
    }
    CHECK(aclsimFindingCount() == 2); /* the second has the place of the first */
    CHECK(strstr(aclsimFinding(0), "\"text\":\"number 0\"") != NULL);
    CHECK(strstr(aclsimFinding(1), "\"rule\":\"test-rule\"") != NULL);
    CHECK(strstr(aclsimFinding(1), "\"label\":\"write\",\"text\":\"task 2\"") != NULL);
    CHECK(aclsimFinding(2) == NULL);
    for (int i = 0; i < SIM_FINDING_NOTES + 3; i++)
        sim_check_note(&finding, "more", NULL, 0, "\"quoted\"\n");
    CHECK(finding.fi_note_count == SIM_FINDING_NOTES);
    CHECK_CODE(aclsimForgetFindings(), 0);
    CHECK(aclsimFindingCount() == 0 && aclsimFinding(0) == NULL);
    sim_check_report(&finding);
    CHECK(strstr(aclsimFinding(0), "\\\"quoted\\\"") != NULL);
    CHECK_CODE(aclsimForgetFindings(), 0);
}

static size_t read_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    fclose(file);
    return length;
}

static void test_suppressed_findings_are_left_out_and_others_are_written(void)
{
    char folder[] = "/tmp/test_check.XXXXXX", known[64], found[64], text[2048];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(known, sizeof known, "%s/known", folder);
    snprintf(found, sizeof found, "%s/found.json", folder);
    FILE *file = fopen(known, "w");
    CHECK(file != NULL);
    fputs("# a comment\nother-rule\ntest-rule:*harmless*  # and why\n", file);
    fclose(file);
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("suppress", known), 0);
    CHECK_CODE(aclsimConfigure("findings", found), 0);
    MESSAGE_OF(&finding, "a harmless one");
    sim_check_report(&finding);
    MESSAGE_OF(&finding, "a real one");
    sim_check_report(&finding);
    finding.fi_rule = "other-rule";
    sim_check_report(&finding);
    CHECK(aclsimFindingCount() == 1);
    CHECK_CODE(aclsimReset(), 0); /* closes the file */
    CHECK(read_file(found, text, sizeof text) != 0);
    CHECK(strstr(text, "a real one") != NULL && strstr(text, "harmless") == NULL && text[strlen(text) - 1] == '\n');
    unlink(known);
    unlink(found);
    rmdir(folder);
}

static void test_blocks_are_found_by_name_and_after_their_end(void)
{
    void *block;
    struct sim_place place;
    struct sim_check_block noted;
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("check", "memory"), 0);
    CHECK(*aclsimWantsLines() == 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    CHECK(*aclsimWantsLines() != 0);
    CHECK_CODE(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    CHECK_CODE(aclsimNameMemory((char *)block + 50, "weights"), 0);
    CHECK_CODE(aclsimNameMemory(&place, "stack"), ACL_ERROR_RT_PARAM_INVALID);
    CHECK_TEXT("expected memory of the simulator");
    sim_memory_locate(block, &place);
    uint32_t birth = place.pl_block.bk_birth;
    CHECK(sim_check_block_find(birth, &noted) && noted.cb_alive && noted.cb_block.bk_requested == 100);
    CHECK(strcmp(noted.cb_name, "weights") == 0 && noted.cb_made_by == sim_thread_number());
    CHECK_CODE(aclrtFree(block), 0);
    CHECK(sim_check_block_find(birth, &noted) && !noted.cb_alive && noted.cb_freed != NULL);
    MESSAGE_OF(&finding, "about a block");
    sim_check_block_note(&finding, birth);
    CHECK(finding.fi_note_count == 2 && strstr(finding.fi_notes[0].no_text, "\"weights\", 100 bytes at 0x") != NULL);
    CHECK(strcmp(finding.fi_notes[1].no_label, "freed") == 0);
    CHECK_CODE(aclrtResetDevice(0), 0);
    CHECK_CODE(aclsimReset(), 0);
    CHECK(!sim_check_block_find(birth, &noted) && *aclsimWantsLines() == 0);
}

int main(void)
{
    CHECK_CODE(aclsimConfigure("findings", "/dev/null"), 0);
    CHECK_CODE(aclInit(NULL), 0);
    CHECK_CODE(aclrtSetDevice(0), 0);
    test_watchers_see_what_happens_while_they_are_on();
    test_a_site_without_a_line_shows_function_and_offset();
    test_findings_are_kept_once_per_place();
    CHECK_CODE(aclrtResetDevice(0), 0);
    test_suppressed_findings_are_left_out_and_others_are_written();
    test_blocks_are_found_by_name_and_after_their_end();
    puts("ok");
    return 0;
}
