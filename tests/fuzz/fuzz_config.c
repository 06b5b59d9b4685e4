/* The file of ACL_SIM_CONFIG, and behind a NUL in the same bytes the text of ASCEND_RT_VISIBLE_DEVICES. The file under
 * test is included, because a process keeps every snapshot it makes: here each is given back. */
#include "base/config.c"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char visible[256] = "ASCEND_RT_VISIBLE_DEVICES=";
    static const size_t prefix = sizeof "ASCEND_RT_VISIBLE_DEVICES=" - 1;
    size_t file_size = size != 0 ? strnlen((const char *)data, size) : 0;
    setenv("ACL_SIM_CONFIG", file_of(data, file_size), 1);
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    if (file_size < size) {
        size_t length = strnlen((const char *)data + file_size + 1, size - file_size - 1);
        length = length < sizeof visible - prefix ? length : sizeof visible - prefix - 1;
        memcpy(visible + prefix, data + file_size + 1, length);
        visible[prefix + length] = '\0';
        putenv(visible);
    }

    const struct sim_config *config = build();
    ENSURE(config->cf_soc != NULL && config->cf_devices <= SIM_DEVICES_MAX);
    ENSURE(config->cf_memory >= UINT64_C(2) << 20 && config->cf_memory <= UINT64_C(1) << 40);
    ENSURE(config->cf_visible_count <= config->cf_devices);
    for (uint32_t i = 0; i < config->cf_visible_count; i++) {
        ENSURE(config->cf_visible[i] >= 0 && (uint32_t)config->cf_visible[i] < config->cf_devices);
        ENSURE(i == 0 || config->cf_visible[i] > config->cf_visible[i - 1]);
    }
    ENSURE(strlen(newest->st_error) < ERROR_BYTES);
    ENSURE(sim_config_check() == (newest->st_error[0] == '\0' ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM));

    /* What is in force can be given back, and stays what it is. */
    const struct snapshot *first = newest;
    for (int i = 0; i < SETTINGS; i++) {
        char text[TEXT_BYTES];
        ENSURE(sim_config_set(sim_config_settings[i].se_name, first->st_text[i]) == ACL_SUCCESS);
        ENSURE(sim_config_get(sim_config_settings[i].se_name, text, sizeof text) == ACL_SUCCESS);
        ENSURE(strcmp(text, first->st_text[i]) == 0);
    }
    memset(has_override, 0, sizeof has_override);
    atomic_store(&sim_config_current, NULL);
    while (newest != NULL) {
        struct snapshot *snapshot = newest;
        newest = snapshot->st_older;
        free(snapshot);
    }
    return 0;
}
