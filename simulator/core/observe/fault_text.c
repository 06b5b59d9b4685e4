/* Reading faults, and what they mean for a function: which calls a name stands for, and with which code they fail.
 * There is no state. */
#include "base/clock.h"
#include "base/config_settings.h"
#include "engine/task.h"
#include "fault.h"
#include "operator/row.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS (1u << SIM_TASK_CUBE | 1u << SIM_TASK_VECTOR | 1u << SIM_TASK_MODEL)
#define COPIES (1u << SIM_TASK_COPY | 1u << SIM_TASK_SET)

static const struct sim_fault_family families[] = {
    {"aicore", ACL_ERROR_RT_AICORE_EXCEPTION, KERNELS},
    {"aicore_timeout", ACL_ERROR_RT_AICORE_TIMEOUT, KERNELS},
    {"vector", ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, KERNELS},
    {"vector_timeout", ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, KERNELS},
    {"aicpu", ACL_ERROR_RT_AICPU_EXCEPTION, 1u << SIM_TASK_HOST_KERNEL | KERNELS},
    {"aicpu_timeout", ACL_ERROR_RT_AICPU_TIMEOUT, 1u << SIM_TASK_HOST_KERNEL | KERNELS},
    {"copy", ACL_ERROR_RT_SYS_DMA, COPIES},
    {"memory", ACL_ERROR_RT_DEVICE_MEM_ERROR, KERNELS | COPIES},
    {"ecc", ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR, KERNELS | COPIES},
    {"any", ACL_ERROR_RT_AICORE_EXCEPTION, KERNELS | COPIES | 1u << SIM_TASK_HOST_KERNEL | 1u << SIM_TASK_RANDOM},
};
#define FAMILIES (sizeof families / sizeof *families)

/* ---- functions ---- */

static const char *const prefixes[] = {"aclrt", "aclmdl", "aclnn", "aclop", "acltdt", "aclprof", "acl"};

/* "memcpy_async" and "MemcpyAsync" name the same function. */
static bool same_name(const char *written, const char *name)
{
    for (;; written++, name++) {
        while (*written == '_')
            written++;
        if (tolower((unsigned char)*written) != tolower((unsigned char)*name))
            return false;
        if (*name == '\0')
            return true;
    }
}

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

/* A release that fails leaves its object alive, so no program can clean up after it. The end of a capture is one. */
static bool releases(const char *name)
{
    static const char *const parts[] = {"Free", "Destroy", "Reset", "Finalize", "Release", "Unload", "Unmap",
                                        "UnSubscribe", "Unregister", "UnRegister", "Close", "Abort", "Detach",
                                        "CaptureEnd"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has(name, parts[i]))
            return true;
    return false;
}

static bool can_fail(const struct sim_trace_function *function)
{
    return function->fn_has_code || (function->fn_result == SIM_TRACE_POINTER && has(function->fn_name, "Create"));
}

bool sim_fault_names(const struct sim_fault *fault, const struct sim_trace_function *function)
{
    const char *name = function->fn_name;
    if (!can_fail(function))
        return false;
    if (fault->ft_function[0] == '\0')
        return !releases(name);
    if (same_name(fault->ft_function, name))
        return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0 && same_name(fault->ft_function, name + length))
            return true;
    }
    return false;
}

int32_t sim_fault_code_of(const struct sim_trace_function *function)
{
    const char *name = function->fn_name;
    bool runtime = strncmp(name, "aclrt", 5) == 0;
    if (!function->fn_has_code)
        return ACL_ERROR_BAD_ALLOC; /* in the message; the result is NULL */
    if (strncmp(name, "aclnn", 5) == 0)
        return ACLNN_ERR_RUNTIME_ERROR;
    if (has(name, "Malloc") || has(name, "ReserveMem"))
        return runtime ? ACL_ERROR_RT_MEMORY_ALLOCATION : ACL_ERROR_BAD_ALLOC;
    if (has(name, "CreateStream"))
        return ACL_ERROR_RT_NO_STREAM_RESOURCE;
    if (has(name, "CreateEvent"))
        return ACL_ERROR_RT_NO_EVENT_RESOURCE;
    if (has(name, "CreateNotify") || has(name, "CntNotifyCreate"))
        return ACL_ERROR_RT_NO_NOTIFY_RESOURCE;
    return runtime ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : ACL_ERROR_FAILURE;
}

bool sim_fault_needs_device(const struct sim_trace_function *function)
{
    const char *name = function->fn_name;
    if (!function->fn_has_code || releases(name) || has(name, "Host"))
        return false;
    if (strncmp(name, "aclrt", 5) == 0)
        return !has(name, "Get") && !has(name, "Set") && !has(name, "Subscribe") && !has(name, "ProcessReport");
    return strncmp(name, "aclmdlExecute", 13) == 0 || strncmp(name, "aclmdlLoad", 10) == 0 ||
           strncmp(name, "aclopExecute", 12) == 0 ||
           (strncmp(name, "aclnn", 5) == 0 && !has(name, "GetWorkspaceSize"));
}

/* An operator goes by its name in C, with or without "GetWorkspaceSize". */
static bool is_operator(const char *name)
{
    char plain[SIM_FAULT_NAME];
    size_t length = strlen(name), tail = strlen("GetWorkspaceSize");
    bool first = length > tail && strcmp(name + length - tail, "GetWorkspaceSize") == 0;
    snprintf(plain, sizeof plain, "%.*s", (int)(first ? length - tail : length), name);
    return strncmp(plain, "aclnn", 5) == 0 && sim_row_find(plain) != NULL;
}

static bool is_function(const struct sim_fault *fault)
{
    if (is_operator(fault->ft_function))
        return true;
    for (size_t i = 0; i < sim_trace_functions->fs_count; i++)
        if (sim_fault_names(fault, sim_trace_functions->fs_functions[i]))
            return true;
    return false;
}

/* ---- the text ---- */

struct reader {
    const char *rd_at;
    char *rd_reason;
};

__attribute__((format(printf, 2, 3)))
static bool refuse(const struct reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->rd_reason, SIM_REASON_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

#define ENDS_A_WORD ":@#, \t;"

/* The next word of the fault; "": there is none. False: it is too long. */
static bool next_word(struct reader *reader, char word[SIM_FAULT_NAME])
{
    while (*reader->rd_at != '\0' && *reader->rd_at != ';' && strchr(ENDS_A_WORD, *reader->rd_at) != NULL)
        reader->rd_at++;
    size_t length = strcspn(reader->rd_at, ENDS_A_WORD);
    if (length >= SIM_FAULT_NAME)
        return refuse(reader, "\"%.64s...\" is longer than %d characters", reader->rd_at, SIM_FAULT_NAME - 1);
    memcpy(word, reader->rd_at, length);
    word[length] = '\0';
    reader->rd_at += length;
    return true;
}

/* "20us", "5ms", "2s". */
static bool read_time(const char *text, uint64_t *nanoseconds)
{
    static const struct {
        const char *un_name;
        uint64_t un_nanoseconds;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    char *end;
    double value = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || !(value <= 1e9))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].un_name) == 0) {
            *nanoseconds = (uint64_t)(value * (double)units[i].un_nanoseconds);
            return true;
        }
    return false;
}

static bool read_whole(const char *text, uint64_t *value)
{
    return sim_config_parse_number(text, value, &text) && *text == '\0';
}

/* "3", "3+" or "3-5". */
static bool read_numbers(const char *word, struct sim_fault *fault)
{
    const char *end;
    if (!sim_config_parse_number(word, &fault->ft_first, &end) || fault->ft_first == 0)
        return false;
    fault->ft_last = fault->ft_first;
    if (strcmp(end, "+") == 0)
        fault->ft_last = UINT64_MAX;
    else if (*end != '\0')
        return *end == '-' && read_whole(end + 1, &fault->ft_last) && fault->ft_last >= fault->ft_first;
    return true;
}

static bool read_chance(const char *text, double *chance)
{
    char *end;
    *chance = strtod(text, &end);
    return end != text && *end == '\0' && *chance >= 0 && *chance <= 1;
}

static bool read_code(const char *text, int32_t *code)
{
    uint64_t value;
    bool valid = read_whole(text, &value) && value != 0 && value <= INT32_MAX;
    *code = valid ? (int32_t)value : 0;
    return valid;
}

/* One word behind the target. */
static bool read_word(const struct reader *reader, const char *word, struct sim_fault *fault)
{
    uint64_t number;
    if (isdigit((unsigned char)*word))
        return read_numbers(word, fault) ||
               refuse(reader, "\"%s\" is not a number N above 0, N+ (from the Nth on) or N-M", word);
    if (strncmp(word, "p=", 2) == 0)
        return read_chance(word + 2, &fault->ft_chance) ||
               refuse(reader, "\"%s\" is not a probability from 0 to 1, such as p=0.01", word);
    if (strncmp(word, "seed=", 5) == 0)
        return read_whole(word + 5, &fault->ft_seed) ||
               refuse(reader, "\"%s\" is not a seed, such as seed=7", word);
    if (strncmp(word, "size>", 5) == 0) {
        if (fault->ft_kind != SIM_FAULT_CALL)
            return refuse(reader, "\"%s\" is only for calls", word);
        return sim_config_parse_bytes(word + 5, 0, UINT64_MAX - 1, &fault->ft_above) ||
               refuse(reader, "\"%s\" is not a number of bytes, such as size>64M", word);
    }
    if (strncmp(word, "code=", 5) == 0) {
        if (fault->ft_kind == SIM_FAULT_SLOW || fault->ft_kind == SIM_FAULT_HANG)
            return refuse(reader, "\"%s\" is not for slow and hang, which do not fail", word);
        return read_code(word + 5, &fault->ft_code) ||
               refuse(reader, "\"%s\" is not the code of an error, such as code=507015", word);
    }
    if (strncmp(word, "t=", 2) == 0)
        return read_time(word + 2, &fault->ft_from) ||
               refuse(reader, "\"%s\" is not a time with ns, us, ms or s, such as t=2s", word);
    if (strncmp(word, "for=", 4) == 0)
        return read_time(word + 4, &fault->ft_duration) ||
               refuse(reader, "\"%s\" is not a time with ns, us, ms or s, such as for=500ms", word);
    if (strncmp(word, "stream", 6) == 0 && read_whole(word + 6, &number) && number <= UINT32_MAX) {
        fault->ft_stream = (int64_t)number;
        return true;
    }
    return refuse(reader,
                  "\"%s\" is not understood, expected N, N+, N-M, p=, seed=, size>, code=, t=, for= or streamN", word);
}

/* What the fault is about: its first word, and a second one of task and slow. */
static bool read_target(struct reader *reader, struct sim_fault *fault)
{
    char word[SIM_FAULT_NAME];
    if (!next_word(reader, word))
        return false;
    if (strcmp(word, "hang") == 0 || strcmp(word, "device_lost") == 0) {
        fault->ft_kind = *word == 'h' ? SIM_FAULT_HANG : SIM_FAULT_LOST;
    } else if (strcmp(word, "slow") == 0) {
        fault->ft_kind = SIM_FAULT_SLOW;
        return next_word(reader, word) &&
               (read_time(word, &fault->ft_delay) ||
                refuse(reader, "\"%s\" is not a time behind slow, such as slow:2ms", word));
    } else if (strcmp(word, "task") == 0) {
        size_t i = 0;
        fault->ft_kind = SIM_FAULT_TASK;
        if (!next_word(reader, word))
            return false;
        while (i < FAMILIES && strcmp(families[i].ff_name, word) != 0)
            i++;
        if (i == FAMILIES)
            return refuse(reader,
                          "\"%s\" is not a family of tasks, expected aicore, aicore_timeout, vector, vector_timeout, "
                          "aicpu, aicpu_timeout, copy, memory, ecc or any, such as task:aicore",
                          word);
        fault->ft_family = &families[i];
    } else if (strcmp(word, "any") != 0) {
        strcpy(fault->ft_function, word);
        if (*word == '\0' || !is_function(fault))
            return refuse(reader,
                          "\"%s\" is not a function that can fail, such as malloc, memcpy_async or aclnnAdd, and "
                          "not any, task, slow, hang or device_lost",
                          word);
    }
    return true;
}

static bool read_fault(struct reader *reader, struct sim_fault *fault)
{
    char word[SIM_FAULT_NAME];
    const char *start = reader->rd_at;
    *fault = (struct sim_fault){.ft_kind = SIM_FAULT_CALL, .ft_first = 1, .ft_last = UINT64_MAX, .ft_chance = 1,
                                .ft_above = UINT64_MAX, .ft_stream = -1, .ft_duration = SIM_FOREVER};
    if (!read_target(reader, fault))
        return false;
    do {
        if (!next_word(reader, word) || (*word != '\0' && !read_word(reader, word, fault)))
            return false;
    } while (*word != '\0');
    size_t length = (size_t)(reader->rd_at - start);
    while (length > 0 && isspace((unsigned char)start[length - 1]))
        length--;
    memcpy(fault->ft_text, start, length);
    return true;
}

int sim_fault_parse(const char *text, struct sim_fault *faults, char reason[SIM_REASON_BYTES])
{
    struct reader reader = {text, reason};
    int count = 0;
    if (strcmp(text, "none") == 0)
        return 0;
    if (strlen(text) >= SIM_FAULT_TEXT) {
        refuse(&reader, "the list has %zu characters, expected at most %d", strlen(text), SIM_FAULT_TEXT - 1);
        return -1;
    }
    for (;;) {
        while (*reader.rd_at == ';' || isspace((unsigned char)*reader.rd_at))
            reader.rd_at++;
        if (*reader.rd_at == '\0')
            return count;
        if (count == SIM_FAULTS) {
            refuse(&reader, "there are more than %d faults", SIM_FAULTS);
            return -1;
        }
        if (!read_fault(&reader, &faults[count++]))
            return -1;
    }
}

bool sim_fault_is_valid(const char *text)
{
    char reason[SIM_REASON_BYTES];
    struct sim_fault *faults = calloc(SIM_FAULTS, sizeof *faults);
    bool valid = faults != NULL && sim_fault_parse(text, faults, reason) >= 0;
    free(faults);
    return valid;
}
