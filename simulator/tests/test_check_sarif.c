/* A SARIF document of findings is whole after each of them, has the members that the standard requires, and names the
 * files and lines of the program. */
#include "base/json.h"
#include "check.h"
#include "observe/check.h"
#include <acl/acl_sim.h>
#include <unistd.h>

static char path[64], text[16384];

static struct sim_json member(struct sim_json object, const char *name, enum sim_json_kind kind)
{
    struct sim_json value = {0};
    bool found = sim_json_member(object, name, &value);
    if (!found || value.js_kind != kind)
        fprintf(stderr, "%s is not as expected in %s\n", name, text);
    CHECK(found && value.js_kind == kind);
    return value;
}

static bool is_text(struct sim_json object, const char *name, const char *expected)
{
    struct sim_json value = member(object, name, SIM_JSON_STRING);
    size_t length = (size_t)(value.js_end - value.js_start);
    bool same = length == strlen(expected) && memcmp(value.js_start, expected, length) == 0;
    if (!same)
        fprintf(stderr, "%s is %.*s\n", name, (int)length, value.js_start);
    return same;
}

static size_t length_of(struct sim_json array)
{
    struct sim_json element = {0};
    size_t length = 0;
    while (sim_json_next(array, &element))
        length++;
    return length;
}

static struct sim_json element_at(struct sim_json array, size_t index)
{
    struct sim_json element = {0};
    for (size_t i = 0; i <= index; i++)
        CHECK(sim_json_next(array, &element));
    return element;
}

/* Reads the document and returns its only run, with the members that the standard requires of all objects. */
static struct sim_json read_run(void)
{
    struct sim_json document, rule = {0}, result = {0}, place;
    size_t where;
    const char *why = "";
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    bool valid = sim_json_parse(text, strlen(text), &document, &where, &why);
    if (!valid)
        fprintf(stderr, "%s at byte %zu of %s\n", why, where, text);
    CHECK(valid);
    CHECK(is_text(document, "version", "2.1.0"));
    member(document, "$schema", SIM_JSON_STRING);
    struct sim_json run = element_at(member(document, "runs", SIM_JSON_ARRAY), 0);
    struct sim_json driver = member(member(run, "tool", SIM_JSON_OBJECT), "driver", SIM_JSON_OBJECT);
    CHECK(is_text(driver, "name", "ascendcl"));
    struct sim_json rules = member(driver, "rules", SIM_JSON_ARRAY);
    while (sim_json_next(rules, &rule)) {
        member(rule, "id", SIM_JSON_STRING);
        member(member(rule, "help", SIM_JSON_OBJECT), "text", SIM_JSON_STRING);
    }
    while (sim_json_next(member(run, "results", SIM_JSON_ARRAY), &result)) {
        struct sim_json id = member(result, "ruleId", SIM_JSON_STRING);
        size_t index = strtoul(member(result, "ruleIndex", SIM_JSON_NUMBER).js_start, NULL, 10);
        struct sim_json own = member(element_at(rules, index), "id", SIM_JSON_STRING);
        CHECK(own.js_end - own.js_start == id.js_end - id.js_start);
        CHECK(memcmp(own.js_start, id.js_start, (size_t)(id.js_end - id.js_start)) == 0);
        member(member(result, "message", SIM_JSON_OBJECT), "text", SIM_JSON_STRING);
        member(result, "locations", SIM_JSON_ARRAY);
        place = (struct sim_json){0};
        while (sim_json_next(member(result, "relatedLocations", SIM_JSON_ARRAY), &place))
            member(member(place, "message", SIM_JSON_OBJECT), "text", SIM_JSON_STRING);
    }
    return run;
}

static struct sim_json result_at(struct sim_json run, size_t index)
{
    return element_at(member(run, "results", SIM_JSON_ARRAY), index);
}

static bool is_place(struct sim_json place, const char *uri, const char *line, const char *function)
{
    struct sim_json physical = member(place, "physicalLocation", SIM_JSON_OBJECT);
    struct sim_json start = member(member(physical, "region", SIM_JSON_OBJECT), "startLine", SIM_JSON_NUMBER);
    struct sim_json logical = element_at(member(place, "logicalLocations", SIM_JSON_ARRAY), 0);
    return is_text(member(physical, "artifactLocation", SIM_JSON_OBJECT), "uri", uri) &&
           strtoul(start.js_start, NULL, 10) == strtoul(line, NULL, 10) &&
           is_text(logical, "fullyQualifiedName", function);
}

static const void *site(const char *line)
{
    CHECK_CODE(aclsimSetLine(line), 0);
    const void *made = sim_site_with_line((const void *)32);
    CHECK_CODE(aclsimSetLine(NULL), 0);
    return made;
}

static void start(void)
{
    CHECK_CODE(aclsimReset(), 0);
    CHECK_CODE(aclsimConfigure("findings", path), 0);
}

static struct sim_finding finding;

static void report(const char *rule, const char *what)
{
    sim_check_begin(&finding, SIM_CHECK_RACE, rule, "Synchronise the streams.", "%s", what);
    sim_check_report(&finding);
}

static void test_a_finding_has_its_rule_places_and_texts(void)
{
    char here[200], line[256];
    CHECK(getcwd(here, sizeof here) != NULL);
    snprintf(line, sizeof line, "%s/my programs/train.py:12 in step", here);
    start();
    sim_check_begin(&finding, SIM_CHECK_RACE, "write-write", "Synchronise the streams.", "two \"writes\" at once");
    sim_check_note(&finding, "write", site(line), 7, "aclrtMemsetAsync, task %d", 3);
    sim_check_note(&finding, "write", site("/opt/in in it/a:b.py:7 in <module>"), 7, "task 4");
    sim_check_note(&finding, "allocated", (const void *)16, 7, "by C");
    sim_check_note(&finding, "freed", NULL, 0, "\n");
    sim_check_report(&finding);
    struct sim_json result = result_at(read_run(), 0), notes = member(result, "relatedLocations", SIM_JSON_ARRAY);
    CHECK(is_text(result, "ruleId", "write-write") && is_text(result, "level", "error"));
    CHECK(is_text(member(result, "message", SIM_JSON_OBJECT), "text",
                  "two \\\"writes\\\" at once. Synchronise the streams."));
    struct sim_json places = member(result, "locations", SIM_JSON_ARRAY);
    CHECK(length_of(places) == 1 && length_of(notes) == 4);
    CHECK(is_place(element_at(places, 0), "my%20programs/train.py", "12", "step"));
    CHECK(is_place(element_at(notes, 0), "my%20programs/train.py", "12", "step"));
    CHECK(is_text(member(element_at(notes, 0), "message", SIM_JSON_OBJECT), "text",
                  "write: aclrtMemsetAsync, task 3"));
    CHECK(is_place(element_at(notes, 1), "file:///opt/in%20in%20it/a%3Ab.py", "7", "<module>"));
    struct sim_json none, c = element_at(notes, 2);
    CHECK(!sim_json_member(c, "physicalLocation", &none));
    CHECK(is_text(element_at(member(c, "logicalLocations", SIM_JSON_ARRAY), 0), "fullyQualifiedName", "0x10"));
    CHECK(!sim_json_member(element_at(notes, 3), "logicalLocations", &none));
}

static void test_the_document_is_whole_after_each_finding(void)
{
    char what[300];
    start();
    for (size_t i = 0; i < 20; i++) {
        memset(what, 'a' + (char)i, sizeof what - 1);
        what[i == 0 ? sizeof what - 1 : i] = '\0'; /* later ones are shorter */
        report(i % 2 == 0 ? "even" : "odd", what);
        struct sim_json run = read_run();
        CHECK(length_of(member(run, "results", SIM_JSON_ARRAY)) == i + 1);
        CHECK(is_text(result_at(run, i), "ruleId", i % 2 == 0 ? "even" : "odd"));
        CHECK(length_of(member(result_at(run, i), "locations", SIM_JSON_ARRAY)) == 0);
        struct sim_json driver = member(member(run, "tool", SIM_JSON_OBJECT), "driver", SIM_JSON_OBJECT);
        CHECK(length_of(member(driver, "rules", SIM_JSON_ARRAY)) == (i == 0 ? 1 : 2));
    }
}

static void test_warnings_have_their_level(void)
{
    start();
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "padding", "Allocate more.", "beyond the asked size");
    finding.fi_is_warning = true;
    sim_check_report(&finding);
    CHECK(is_text(result_at(read_run(), 0), "level", "warning"));
}

static void test_a_reset_begins_a_new_document(void)
{
    start();
    report("old", "before");
    start();
    report("new", "after");
    struct sim_json run = read_run();
    CHECK(length_of(member(run, "results", SIM_JSON_ARRAY)) == 1);
    CHECK(is_text(result_at(run, 0), "ruleId", "new"));
    struct sim_json driver = member(member(run, "tool", SIM_JSON_OBJECT), "driver", SIM_JSON_OBJECT);
    CHECK(length_of(member(driver, "rules", SIM_JSON_ARRAY)) == 1);
}

static void test_more_rules_than_are_described_are_results(void)
{
    static char names[70][16];
    start();
    for (int i = 0; i < 70; i++) {
        snprintf(names[i], sizeof names[i], "rule-%d", i);
        report(names[i], "again");
    }
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    CHECK(strstr(text, "\"ruleId\":\"rule-63\",\"ruleIndex\":63") != NULL);
    CHECK(strstr(text, "\"ruleId\":\"rule-69\",\"level\"") != NULL);
}

int main(void)
{
    char folder[] = "/tmp/test_check_sarif.XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/found.sarif", folder);
    test_a_finding_has_its_rule_places_and_texts();
    test_the_document_is_whole_after_each_finding();
    test_warnings_have_their_level();
    test_a_reset_begins_a_new_document();
    test_more_rules_than_are_described_are_results();
    CHECK_CODE(aclsimReset(), 0);
    unlink(path);
    rmdir(folder);
    puts("ok");
    return 0;
}
