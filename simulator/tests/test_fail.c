/* Messages and last errors: form, order, limits, threads, the shared text; names of codes; the JSON reader. */
#include "base/clock.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/missing.h"
#include "check.h"
#include <pthread.h>

static void check_form(void)
{
    CHECK(aclGetRecentErrMsg() == NULL);
    SIM_ENTER();
    CHECK(sim_fail(ACL_ERROR_RT_PARAM_INVALID, "count is %d, expected at most %d", 300, 64) == 107000);
    CHECK(strcmp(aclGetRecentErrMsg(), "EE1003: check_form failed because count is 300, expected at most 64 "
                                       "(107000 ACL_ERROR_RT_PARAM_INVALID)") == 0);
    CHECK(aclGetRecentErrMsg() == NULL);
    sim_fail_late(ACL_ERROR_RT_DEVICE_MEM_ERROR, "aclrtMemcpyAsync failed because the block was freed");
    CHECK(strcmp(aclGetRecentErrMsg(), "EE1018: aclrtMemcpyAsync failed because the block was freed "
                                       "(507053 ACL_ERROR_RT_DEVICE_MEM_ERROR)") == 0);
    sim_missing("aclrtNothing");
    CHECK_TEXT("EE1006: aclrtNothing failed because");
    CHECK_CODE(sim_missing_newer("aclrtNothing", "8.5"), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    CHECK_TEXT("aclrtNothing failed because it needs CANN 8.5, and ACL_SIM_CANN is 9.1 (207000");
    sim_refuse(42, "a code of a user's");
    CHECK_TEXT("(42 unknown code)");
}

/* Messages come newest first, only 32 are kept, and a message that is cut keeps its code. */
static void check_bounds(void)
{
    for (int i = 0; i < 40; i++)
        sim_refuse(ACL_ERROR_INVALID_PARAM, "number %d.", i);
    const char *text = aclGetRecentErrMsg();
    CHECK(strncmp(text, "EH0001: ", 8) == 0 && strstr(text, "number 39.") < strstr(text, "number 38."));
    CHECK(strstr(text, "number 8.") != NULL && strstr(text, "number 7.") == NULL);
    int lines = 1;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    CHECK(lines == 32);
    char wide[4000];
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP, "%s", wide);
    text = aclGetRecentErrMsg();
    CHECK(strlen(text) < 1024 && strstr(text, "x (207019 ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP)") != NULL);
}

static void check_last_error(void)
{
    static const aclError recorded[] = {107000, 107001, 107002, 107017, 207001, 207004, 507000, 507012, 507053, 42};
    static const aclError passing[] = {100000, 100002, 145000, 200006, 207000, 207003, 500000, 507004, 507005, 507901};
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        sim_fail(recorded[i], "a reason");
        CHECK_CODE(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), recorded[i]);
    }
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        sim_fail(passing[i], "a reason");
    sim_refuse(107000, "a reason");
    CHECK_CODE(aclrtGetLastError((aclrtLastErrLevel)1), ACL_ERROR_INVALID_PARAM);
    CHECK_CODE(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 42);
    CHECK_CODE(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
    sim_fail_late(507053, "a reason");
    sim_fail_forget();
    CHECK_CODE(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
    CHECK(aclGetRecentErrMsg() == NULL);
}

static void check_names(void)
{
    CHECK(strcmp(sim_fail_name(0), "ACL_SUCCESS") == 0);
    CHECK(strcmp(sim_fail_name(107017), "ACL_ERROR_RT_INVALID_HANDLE") == 0);
    CHECK(strcmp(sim_fail_name(545602), "ACL_ERROR_GE_REDEPLOYING") == 0);
    CHECK(strcmp(sim_fail_name(-1), "unknown code") == 0);
}

static void *fail_elsewhere(void *argument)
{
    CHECK(aclGetRecentErrMsg() == NULL);
    for (int i = 0; i < 100; i++)
        sim_fail(ACL_ERROR_RT_PARAM_INVALID, "thread %d", *(int *)argument);
    CHECK_CODE(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107000);
    return NULL;
}

static void check_threads(void)
{
    for (int shared = 0; shared < 2; shared++) {
        sim_fail_share(shared);
        pthread_t threads[4];
        int numbers[4];
        for (int i = 0; i < 4; i++) {
            numbers[i] = i;
            CHECK(pthread_create(&threads[i], NULL, fail_elsewhere, &numbers[i]) == 0);
            if (shared) /* one thread at a time, because each expects an empty text */
                CHECK(pthread_join(threads[i], NULL) == 0);
            if (shared)
                CHECK_TEXT("thread ");
        }
        for (int i = 0; i < 4 && !shared; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(aclGetRecentErrMsg() == NULL);
    }
    sim_fail_share(true);
    sim_fail(ACL_ERROR_RT_PARAM_INVALID, "shared");
    sim_fail_forget();
    CHECK(aclGetRecentErrMsg() == NULL);
    CHECK(sim_thread_number() != 0 && sim_thread_number() == sim_thread_number());
}

static bool is_json(const char *text)
{
    struct sim_json value;
    size_t where;
    const char *why;
    bool is_read = sim_json_parse(text, strlen(text), &value, &where, &why);
    CHECK(is_read ? value.js_end <= text + strlen(text) : why != NULL && where <= strlen(text));
    return is_read;
}

static void check_json(void)
{
    static const char *const good[] = {"{}", " [ ] ", "0", "-0.5e+7", "\"\\u00e9\\n\"", "[1, {\"a\": [true, null]}]",
                                       "{\"\": \"}\", \"b\": {}}", "false"};
    static const char *const bad[] = {
        "", "{", "}", "[1,]", "{\"a\"}", "{\"a\":}", "{a: 1}", "01", "1.", "-", "1e", "+1", "\"", "\"\\x\"",
        "\"\\u12g4\"", "\"\t\"", "nul", "true false", "'a'", "[1 2]", "{\"a\": 1,}", "\"\\",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(is_json(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!is_json(bad[i]));
    char deep[400] = "";
    memset(deep, '[', 64);
    memset(deep + 64, ']', 64);
    CHECK(is_json(deep));
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    CHECK(!is_json(deep));

    const char *text = "{\"a\": 1, \"b\": {\"c\": \"x\"}, \"a\": [2]}";
    struct sim_json root, value;
    size_t where;
    const char *why;
    CHECK(sim_json_parse(text, strlen(text), &root, &where, &why));
    CHECK(sim_json_member(root, "a", &value) && value.js_kind == SIM_JSON_ARRAY);
    CHECK(sim_json_member(root, "b", &value) && sim_json_member(value, "c", &value));
    CHECK(value.js_kind == SIM_JSON_STRING && value.js_end - value.js_start == 1 && *value.js_start == 'x');
    CHECK(!sim_json_member(value, "c", &value) && !sim_json_member(root, "c", &value));
}

int main(void)
{
    check_form();
    check_bounds();
    check_last_error();
    check_names();
    check_threads();
    check_json();
    uint64_t begin = sim_clock_now();
    for (int i = 0; i < 10000; i++)
        sim_fail(ACL_ERROR_RT_PARAM_INVALID, "count is %d, expected at most %zu", i, (size_t)64);
    printf("a failure costs %.0f ns\n", (double)(sim_clock_now() - begin) / 10000);
    return 0;
}
