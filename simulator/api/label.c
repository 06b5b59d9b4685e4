/* Entry points of labels and of streams that start one another, inside model running instances. */
#include "capture.h"
#include "config.h"

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(activeStream);
    SIM_NOT_NULL(stream);
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile != SIM_PA3, "%s has no streams that activate one another",
                  sim_config()->cf_soc->so_name);
    struct sim_target active, target;
    SIM_TRY(sim_stream_any(activeStream, &active));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_capture_activate(active, target, SIM_SITE());
}
