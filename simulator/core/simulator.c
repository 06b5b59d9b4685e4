/* The tables of the library's parts. A constructor hands them in when the library is loaded. Lower rooms reach upper
 * ones through these tables only. This file may refer to every room; no room refers to it.
 *
 * All tables are constant and are set before any other call, so no lock is needed. */
#include "address/memory.h"
#include "address/owner.h"
#include "base/config_settings.h"
#include "base/room.h"
#include "base/runtime.h"
#include "capture/capture.h"
#include "capture/label.h"
#include "collective/collective.h"
#include "collective/comm.h"
#include "engine/callback.h"
#include "engine/device.h"
#include "engine/event.h"
#include "engine/gate.h"
#include "engine/init.h"
#include "engine/limits.h"
#include "engine/recorder.h"
#include "engine/schedule.h"
#include "engine/snapshot.h"
#include "kernel/kernel.h"
#include "memory/allocator.h"
#include "memory/ipc.h"
#include "memory/notify.h"
#include "memory/pool.h"
#include "memory/saturation.h"
#include "model/dataset.h"
#include "model/format/format.h"
#include "model/model.h"
#include "observe/check.h"
#include "observe/clock_model.h"
#include "observe/dump.h"
#include "observe/fault.h"
#include "observe/prof.h"
#include "observe/trace.h"
#include "operator/op.h"
#include "operator/row.h"
#include "operator/tensor.h"
#include "operator/tensordesc.h"
#include "queue/channel.h"
#include "queue/queue.h"
#include "share/exchange.h"

#include "../ops/tables.h"

/* Ordered from the uppermost room to the lowest. */
static const struct sim_room rooms[] = {
    {.rm_name = "observe/trace",
     .rm_after_fork = sim_trace_after_fork,
     .rm_open = sim_trace_open,
     .rm_finalize = sim_trace_finalize,
     .rm_reset = sim_trace_reset},
    {.rm_name = "observe/fault",
     .rm_after_fork = sim_fault_after_fork,
     .rm_open = sim_fault_open,
     .rm_device_closing = sim_fault_device_closing},
    {.rm_name = "observe/check",
     .rm_after_fork = sim_check_after_fork,
     .rm_open = sim_check_open,
     .rm_device_closing = sim_check_leak_device,
     .rm_finalize = sim_check_leak_finalize,
     .rm_event_waited = sim_check_race_waited,
     .rm_reset = sim_check_reset},
    {.rm_name = "observe/clock_model",
     .rm_after_fork = sim_clock_model_after_fork,
     .rm_open = sim_clock_model_open,
     .rm_event_waited = sim_clock_model_waited,
     .rm_reset = sim_clock_model_reset},
    {.rm_name = "observe/dump",
     .rm_after_fork = sim_dump_after_fork,
     .rm_reset = sim_dump_reset,
     .rm_section = "dump",
     .rm_configure = sim_dump_command,
     .rm_finalize = sim_dump_command_end},
    {.rm_name = "observe/prof",
     .rm_after_fork = sim_prof_after_fork,
     .rm_reset = sim_prof_reset,
     .rm_section = "profiler",
     .rm_configure = sim_prof_command,
     .rm_finalize = sim_prof_command_end},
    {.rm_name = "model/format/onnx",
     .rm_after_fork = sim_onnx_after_fork,
     .rm_reset = sim_onnx_stop,
     .rm_finalize = sim_onnx_stop},
    {.rm_name = "model/model",
     .rm_after_fork = sim_model_after_fork,
     .rm_begin_reset = sim_model_stop_feeders,
     .rm_reset = sim_model_reset},
    {.rm_name = "model/dataset", .rm_after_fork = sim_dataset_after_fork, .rm_reset = sim_dataset_reset},
    {.rm_name = "queue/channel", .rm_after_fork = sim_channel_after_fork, .rm_reset = sim_channel_reset},
    {.rm_name = "queue/queue", .rm_after_fork = sim_queue_after_fork, .rm_reset = sim_queue_reset},
    {.rm_name = "capture/capture",
     .rm_after_fork = sim_capture_after_fork,
     .rm_open = sim_capture_open,
     .rm_stream_release = sim_capture_release,
     .rm_context_close = sim_capture_close,
     .rm_setter = sim_capture_setter},
    {.rm_name = "capture/label", .rm_after_fork = sim_label_after_fork, .rm_devices_closed = sim_label_forget_all},
    {.rm_name = "kernel/kernel",
     .rm_after_fork = sim_kernel_after_fork,
     .rm_reset = sim_kernel_reset,
     .rm_exception = sim_kernel_exception},
    {.rm_name = "operator/op", .rm_after_fork = sim_op_after_fork, .rm_reset = sim_op_reset},
    {.rm_name = "operator/row", .rm_after_fork = sim_row_after_fork, .rm_reset = sim_row_reset},
    {.rm_name = "operator/tensor", .rm_after_fork = sim_tensor_after_fork, .rm_reset = sim_tensor_reset},
    {.rm_name = "operator/tensordesc", .rm_after_fork = sim_tensordesc_after_fork, .rm_reset = sim_tensordesc_reset},
    {.rm_name = "collective",
     .rm_after_fork = sim_comm_after_fork,
     .rm_device_closed = sim_comm_end_device,
     .rm_device_aborted = sim_comm_suspend_device,
     .rm_devices_closed = sim_comm_reset,
     .rm_setter = sim_collective_setter},
    {.rm_name = "memory/allocator",
     .rm_after_fork = sim_allocator_after_fork,
     .rm_reset = sim_allocator_reset,
     .rm_stream_destroyed = sim_allocator_forget},
    {.rm_name = "memory/saturation",
     .rm_open = sim_saturation_open,
     .rm_after_fork = sim_saturation_reset,
     .rm_reset = sim_saturation_reset,
     .rm_context_close = sim_saturation_close},
    {.rm_name = "memory/notify",
     .rm_after_fork = sim_notify_after_fork,
     .rm_devices_closed = sim_notify_forget_all,
     .rm_setter = sim_notify_setter},
    {.rm_name = "memory/pool", .rm_after_fork = sim_pool_after_fork, .rm_event_waited = sim_pool_note_wait},
    {.rm_name = "memory/ipc", .rm_after_fork = sim_ipc_after_fork},
    {.rm_name = "engine/schedule",
     .rm_after_fork = sim_schedule_after_fork,
     .rm_open = sim_schedule_open,
     .rm_finalize = sim_schedule_finalize,
     .rm_devices_closed = sim_schedule_devices_closed,
     .rm_reset = sim_schedule_reset},
    {.rm_name = "engine/event",
     .rm_after_fork = sim_event_after_fork,
     .rm_open = sim_event_open,
     .rm_devices_closed = sim_event_forget_all,
     .rm_setter = sim_event_setter},
    {.rm_name = "engine/callback",
     .rm_after_fork = sim_callback_after_fork,
     .rm_stream_destroyed = sim_callback_forget,
     .rm_context_close = sim_callback_close},
    {.rm_name = "engine/init", .rm_after_fork = sim_init_after_fork, .rm_reset = sim_init_reset},
    {.rm_name = "engine/limits", .rm_after_fork = sim_limits_reset, .rm_reset = sim_limits_reset},
    {.rm_name = "address/memory", .rm_reset = sim_memory_reset},
    {.rm_name = NULL},
};

static const struct sim_owner *const owners[] = {&sim_pool_owner, &sim_ipc_owner, NULL};

static const struct sim_recorder recorder = {
    .rc_submit = sim_capture_submit,
    .rc_record = sim_capture_record,
    .rc_wait = sim_capture_wait,
    .rc_refuse_unsafe = sim_capture_refuse_unsafe,
    .rc_find_task = sim_capture_find_task,
    .rc_replace = sim_capture_replace,
};

static struct sim_row *const own_rows[SIM_OWN_COUNT] = {
    [SIM_OWN_GEMM] = &sim_op_gemm_row,
    [SIM_OWN_EXP] = &sim_op_exp_row,
    [SIM_OWN_LOG] = &sim_op_log_row,
    [SIM_OWN_POWER] = &sim_op_power_row,
    [SIM_OWN_LEAKY_RELU] = &sim_op_leaky_relu_row,
    [SIM_OWN_SWISH] = &sim_op_swish_row,
    [SIM_OWN_RELU6] = &sim_op_relu6_row,
    [SIM_OWN_HARD_SWISH] = &sim_op_hard_swish_row,
    [SIM_OWN_ADDCMUL] = &sim_op_addcmul_row,
    [SIM_OWN_ADDCDIV] = &sim_op_addcdiv_row,
    [SIM_OWN_AXPY] = &sim_op_axpy_row,
    [SIM_OWN_CLIP] = &sim_op_clip_row,
    [SIM_OWN_STRIDED] = &sim_op_strided_row,
    [SIM_OWN_SPLIT] = &sim_op_split_row,
    [SIM_OWN_PAD] = &sim_op_pad_row,
    [SIM_OWN_PAD_EDGES] = &sim_op_pad_edges_row,
    [SIM_OWN_TOP_K] = &sim_op_top_k_row,
    [SIM_OWN_SORT] = &sim_op_sort_row,
    [SIM_OWN_SOFTMAX] = &sim_op_softmax_row,
    [SIM_OWN_LOG_SOFTMAX] = &sim_op_log_softmax_row,
    [SIM_OWN_BIASED_PRODUCT] = &sim_op_biased_product_row,
    [SIM_OWN_GATHER_ND] = &sim_op_gather_nd_row,
    [SIM_OWN_PROD] = &sim_op_prod_row,
    [SIM_OWN_LAYER_NORM] = &sim_op_layer_norm_row,
    [SIM_OWN_RANGE] = &sim_op_range_row,
    [SIM_OWN_MAX_POOL] = &sim_op_max_pool_row,
    [SIM_OWN_AVG_POOL] = &sim_op_avg_pool_row,
    [SIM_OWN_CONV2D] = &sim_op_conv2d_row,
    [SIM_OWN_TRANSPOSED] = &sim_op_transposed_row,
    [SIM_OWN_LSTM] = &sim_op_lstm_row,
    [SIM_OWN_GRU] = &sim_op_gru_row,
    [SIM_OWN_LSTM_GRAD] = &sim_op_lstm_grad_row,
    [SIM_OWN_GRU_GRAD] = &sim_op_gru_grad_row,
    [SIM_OWN_BATCH_NORM] = &sim_op_batch_norm_row,
    [SIM_OWN_CDIST_GRAD] = &sim_op_cdist_grad_row,
    [SIM_OWN_NORM_POWERS] = &sim_op_norm_powers_row,
    [SIM_OWN_INDEX_PUT] = &sim_op_index_put_row,
    [SIM_OWN_LAYER_NORM_GRAD] = &sim_op_layer_norm_grad_row,
    [SIM_OWN_IOU] = &sim_op_iou_row,
    [SIM_OWN_BOX_ENCODE] = &sim_op_box_encode_row,
    [SIM_OWN_BOX_DECODE] = &sim_op_box_decode_row,
    [SIM_OWN_PAD_EDGES_GRAD] = &sim_op_pad_edges_grad_row,
    [SIM_OWN_MAX_POOL_MASK] = &sim_op_max_pool_mask_row,
    [SIM_OWN_MAX_POOL_MASK_GRAD] = &sim_op_max_pool_mask_grad_row,
    [SIM_OWN_MAX_POOL_3D] = &sim_op_max_pool_3d_row,
    [SIM_OWN_BN_REDUCE] = &sim_op_bn_reduce_row,
    [SIM_OWN_BN_UPDATE] = &sim_op_bn_update_row,
    [SIM_OWN_BN_UPDATE_GRAD] = &sim_op_bn_update_grad_row,
    [SIM_OWN_BN_REDUCE_GRAD] = &sim_op_bn_reduce_grad_row,
    [SIM_OWN_BN_INFER_GRAD] = &sim_op_bn_infer_grad_row,
    [SIM_OWN_RENORM] = &sim_op_renorm_row,
    [SIM_OWN_MASKED_SCATTER] = &sim_op_masked_scatter_row,
    [SIM_OWN_SCATTER_ND_ADD] = &sim_op_scatter_nd_add_row,
    [SIM_OWN_NONZERO] = &sim_op_nonzero_row,
    [SIM_OWN_CDIST] = &sim_op_cdist_row,
    [SIM_OWN_MAX_POOL_3D_GRAD] = &sim_op_max_pool_3d_grad_row,
    [SIM_OWN_BINCOUNT] = &sim_op_bincount_row,
    [SIM_OWN_MULTILABEL_LOSS] = &sim_op_multilabel_loss_row,
};

static const struct sim_model_kind kinds[] = {
    {"recorded", sim_recorded_open}, {"saved", sim_saved_open}, {"onnx", sim_onnx_open}, {NULL, NULL}};

static const struct sim_model_format format = {
    .mf_view = sim_file_view,
    .mf_part = sim_file_part,
    .mf_signature = sim_file_signature,
    .mf_bundle = sim_bundle_view,
    .mf_kinds = kinds,
};

static const struct sim_model_observer observer = {
    .ov_dump_open = sim_dump_of_model,
    .ov_dump_drop = sim_dump_drop,
    .ov_dump = sim_dump_model,
    .ov_is_subscribed = sim_prof_is_subscribed,
    .ov_tell = sim_prof_tell,
    .ov_step = sim_clock_model_step,
};

static const struct sim_runtime runtime = {.rt_find_current = sim_context_find_current,
                                           .rt_open_device = sim_device_open_id,
                                           .rt_wait_unlocked = sim_snapshot_wait};

extern const struct sim_trace_functions sim_calls; /* generated */

__attribute__((constructor)) static void hand_in(void)
{
    sim_room_set(rooms);
    sim_owner_set(owners);
    sim_exchange_share_set_count(sim_gate_count);
    sim_engine_recorder = &recorder;
    sim_row_table = &sim_rows;
    sim_op_own_rows = own_rows;
    sim_model_format = &format;
    sim_model_observer = &observer;
    sim_runtime_set(&runtime);
    sim_trace_functions = &sim_calls;
    sim_config_check_faults = sim_fault_is_valid;
    sim_config_check_log = sim_schedule_is_log;
    if (sim_trace_is_wanted()) {
        sim_check_wants_lines = 1;
        sim_trace_hook();
        sim_fault_load();
    }
}
