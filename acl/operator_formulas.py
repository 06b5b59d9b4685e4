"""What operators compute: a PyTorch function or a formula of one line; and why some have no kernel.

An operator is looked up by its name in :mod:`acl.nn`. Kin share an entry: ``inplace_adds`` is ``add`` with a number,
written to its argument. The names in formulas are those of the operator's parameters, or ``x`` for the only one.
"""

# Prefix of the functions, and the operators that they define. A function has the operator's own name, unless another
# one is given after an equals sign.
PYTORCH = {
    "torch.": """
        abs acos acosh add addbmm addcdiv addcmul addmm addmv addr all amax amin aminmax
        amp_update_scale=_amp_update_scale_ angle any arange
        arg_max=argmax arg_min=argmin argsort asin asinh atan atan2 atanh baddbmm batch_mat_mul=bmm bernoulli
        bincount bitwise_and bitwise_not bitwise_or bitwise_xor bucketize cat cdist ceil channel_shuffle clamp
        clamp_max clamp_min complex conv_tbc cos cosh cummax cummin cumprod cumsum diag diag_flat=diagflat
        digamma div dot einsum eq equal erf erfc erfinv exp exp2 expm1 eye flatten flip floor floor_divide fmod
        foreach_non_finite_check_and_unscale=_amp_foreach_non_finite_check_and_unscale_
        frac gather gcd ge ger gt heaviside histc index_add index_copy index_fill index_select inverse
        is_close=isclose is_finite=isfinite is_in=isin is_inf=isinf is_neg_inf=isneginf is_pos_inf=isposinf
        kthvalue le left_shift=bitwise_left_shift lerp lgamma linspace log log10 log1p log2
        log_add_exp2=logaddexp2 log_add_exp=logaddexp log_space=logspace log_sum_exp=logsumexp logdet
        logical_and logical_not logical_or logical_xor logit lt masked_select matmul max maximum mean median min
        minimum mm mul multinomial mv nan_median=nanmedian nan_to_num ne neg nonzero norm normal permute polar
        pow prod qr quantize=quantize_per_channel randperm range real reciprocal reduce_nansum=nansum
        reduce_sum=sum relu remainder renorm repeat_interleave right_shift=bitwise_right_shift roll round rsqrt
        rsub s_where=where scatter scatter_add scatter_reduce search_sorted=searchsorted sigmoid sign signbit
        sin sinc sinh slogdet sort split split_with_size=split sqrt square stack std
        std_mean_correction=std_mean stft sub svd take tan tanh topk trace triangular_solve tril triu trunc
        unique2=_unique2 unique=unique unique_consecutive var var_correction=var var_mean x_log_y=xlogy""",
    "torch.Tensor.": """
        cast=to expand inplace_copy=copy_ inplace_fill=fill_ inplace_fill_diagonal=fill_diagonal_
        inplace_masked_fill=masked_fill_ inplace_masked_scatter=masked_scatter_ inplace_put=put_
        inplace_random=random_ inplace_uniform=uniform_ inplace_zero=zero_ repeat""",
    "torch._foreach_": "foreach_copy=copy_ foreach_zero=zero_",
    "torch.nn.functional.": """
        adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d affine_grid avg_pool2d
        avg_pool3d batch_norm binary_cross_entropy binary_cross_entropy_with_logits celu circular_pad2d=pad
        circular_pad3d=pad constant_pad_nd=pad cross_entropy_loss=cross_entropy ctc_loss dropout elu embedding
        embedding_bag glu group_norm hardshrink hardsigmoid hardswish hardtanh im2col=unfold instance_norm
        kl_div l1_loss layer_norm leaky_relu log_sigmoid=logsigmoid log_softmax max_pool2d_with_indices
        max_pool2d_with_mask=max_pool2d_with_indices max_pool3d_with_argmax=max_pool3d_with_indices
        max_pool=max_pool2d max_unpool2d max_unpool3d mish mse_loss multilabel_margin_loss nll_loss
        nll_loss2d=nll_loss one_hot pdist prelu r_relu_with_noise=rrelu reflection_pad1d=pad
        reflection_pad2d=pad reflection_pad3d=pad replication_pad1d=pad replication_pad2d=pad
        replication_pad3d=pad resize=interpolate rms_norm selu silu smooth_l1_loss soft_margin_loss softmax
        softplus softshrink threshold upsample_bicubic2d=interpolate upsample_bilinear2d=interpolate
        upsample_linear1d=interpolate upsample_nearest1d=interpolate upsample_nearest2d=interpolate
        upsample_nearest3d=interpolate upsample_nearest_exact1d=interpolate upsample_nearest_exact2d=interpolate
        upsample_nearest_exact3d=interpolate upsample_trilinear3d=interpolate""",
    "torch.linalg.": "linalg_cross=cross linalg_qr=qr linalg_vector_norm=vector_norm linalg_cholesky=cholesky",
    "torch.fft.": "rfft1_d=rfft",
    "torch.ops.aten.": """
        batch_norm_elemt batch_norm_elemt_backward=batch_norm_backward_elemt batch_norm_gather_stats_with_counts
        batch_norm_reduce_backward=batch_norm_backward_reduce batch_norm_stats
        conv_depthwise2d=_conv_depthwise2d convolution embedding_renorm=embedding_renorm_
        fake_quant_per_channel_affine_cachemask=fake_quantize_per_channel_affine_cachemask
        fake_quant_per_tensor_affine_cachemask=fake_quantize_per_tensor_affine_cachemask
        grid_sampler2_d=grid_sampler_2d grid_sampler3_d=grid_sampler_3d index index_put_impl=_index_put_impl_
        chunk_cat=_chunk_cat slice unfold_grad=unfold_backward""",
    "torchvision.ops.": "roi_align non_max_suppression=nms deformable_conv2d=deform_conv2d",
}

# Operators that no PyTorch function defines.
FORMULAS = {
    "add_layer_norm": "x = x1 + x2 + bias; layer_norm(x) * gamma + beta",
    "add_lora": "y + x @ weight_a[indices] @ weight_b[indices] * scale",
    "add_relu": "relu(self + alpha * other)",
    "add_rms_norm": "x = x1 + x2; rms_norm(x, gamma, epsilon)",
    "add_rms_norm_cast": "add_rms_norm, with the result in float32 as well",
    "add_rms_norm_dynamic_quant": "add_rms_norm, scaled per row to int8",
    "add_rms_norm_quant": "add_rms_norm, then round(y / scales + zero_points) as int8",
    "advance_step": "the positions, lengths and slots of the next decoding step",
    "all_gather_matmul": "x1 of all ranks @ x2 + bias",
    "allto_all_all_gather_batch_mat_mul": "torch.bmm of x after its exchange between the ranks",
    "aminmax_all": "torch.aminmax over all elements",
    "apply_adam_w": "one step of torch.optim.AdamW",
    "apply_fused_ema_adam": "one step of torch.optim.Adam, and the moving average of the weights",
    "apply_rotary_pos_emb": "query * cos + rotate_half(query) * sin, and the same for key",
    "apply_top_k_top_p": "x with -inf except for the k greatest elements of a row, and of these the most probable ones",
    "ascend_anti_quant": "(x + offset) * scale",
    "ascend_quant": "round(x * scale + offset) as int8 or int4",
    "attention_update": "partial attentions, added with the weights exp(lse - logsumexp(lse))",
    "batch_mat_mul_reduce_scatter_allto_all": "torch.bmm, summed over the ranks and exchanged between them",
    "batch_matmul_quant": "round(x1 @ x2 * scale + bias) as int8",
    "bidirection_lstm": "torch.nn.LSTM(bidirectional=True)",
    "binary_cross_entropy_with_logits_target_backward": "gradient of binary_cross_entropy_with_logits for its target",
    "chamfer_distance": "the sum of squared distances to the nearest point of the other set",
    "clipped_swiglu": "a, b = halves along dim, clipped; a * sigmoid(alpha * a) * (b + bias)",
    "confusion_transpose": "x.permute(perm).reshape(shape), or x.reshape(shape).permute(perm)",
    "convert_weight_to_int4_pack": "int32 elements packed as 4-bit integers, eight in an int32",
    "deep_norm": "layer_norm(alpha * x + gx) * gamma + beta",
    "dequant_bias": "x * weight_scale * activate_scale + bias",
    "dequant_rope_quant_kvcache": "split x, rotate query and key, and write quantised key and value into the caches",
    "dequant_swiglu_quant": "swi_glu(x * weight_scale * activation_scale), scaled to int8",
    "div_mod": "torch.div with rounding_mode: 0 None, 1 'trunc', 2 'floor'",
    "dropout_backward": "grad_output * mask * scale",
    "dropout_do_mask": "self * mask / (1 - prob), with a mask of one bit per element",
    "dropout_gen_mask": "a mask of one bit per element, 1 with the probability 1 - prob",
    "dynamic_quant": "scale = max(|x|) / 127 per row; round(x / scale) as int8",
    "embedding_dense_backward": "gradient of torch.nn.functional.embedding",
    "fast_gelu": "x * sigmoid(1.702 * x)",
    "fatrelu_mul": "x, y = halves of the last dimension; (x > threshold ? x : 0) * y",
    "ffn": "activation(x @ weight1 + bias1) @ weight2 + bias2, per expert",
    "flash_attention_score": "dropout(softmax(query @ key.T * scale_value + pse, atten_mask)) @ value",
    "flash_attention_unpadding_score": "flash_attention_score, over sequences of various lengths in one tensor",
    "flash_attention_var_len_score": "flash_attention_score, over sequences of various lengths in one tensor",
    "flat_quant": "kronecker_p1 @ x @ kronecker_p2, scaled to int4",
    "foreach_round_off_number": "1 half to even, 2 floor, 3 ceil, 4 half away from zero, 5 trunc, 6 to odd",
    "fused_infer_attention_score": "softmax(query @ key.T * scale_value + pse_shift, atten_mask) @ value",
    "fused_sgd": "one step of torch.optim.SGD",
    "gather_nd": "self[indices[..., 0], indices[..., 1], ...]",
    "gather_v2": "torch.index_select",
    "gather_v3": "torch.index_select, with batch dimensions",
    "ge_glu": "a, b = halves along dim; a * gelu(b)",
    "ge_glu_v3": "a, b = halves along dim; a * gelu(b), or gelu(a) * b if activate_left",
    "gelu": "torch.nn.functional.gelu(approximate='tanh')",
    "gelu_mul": "a, b = halves of the last dimension; gelu(a) * b",
    "gelu_v2": "torch.nn.functional.gelu; approximate: 0 'none', 1 'tanh'",
    "gemm": "alpha * op(a) @ op(b) + beta * c",
    "gemma_rms_norm": "x / sqrt(mean(x ** 2) + epsilon) * (1 + gamma)",
    "global_average_pool": "torch.mean over the spatial dimensions",
    "global_max_pool": "torch.amax over the spatial dimensions",
    "group_norm_silu": "silu(group_norm(self))",
    "group_norm_swish": "y = group_norm(x); y * sigmoid(swish_scale * y)",
    "group_quant": "round(x * scale[group] + offset) as int8 or int4",
    "grouped_bias_add_grad": "the sums of grad_y over the rows of each group",
    "grouped_mat_mul_all_reduce": "grouped_matmul, summed over the ranks",
    "grouped_matmul": "x[i] @ weight[i] + bias[i] for each i",
    "grouped_matmul_add": "y + x.T @ weight, per group of rows",
    "grouped_matmul_finalize_routing_weight_nz": "grouped_matmul with int8 weights, then moe_finalize_routing",
    "grouped_matmul_swiglu_quant": "swi_glu(grouped_matmul(x, weight)), scaled per row to int8",
    "gru": "torch.nn.GRU",
    "im2col_backward": "torch.nn.functional.fold",
    "incre_flash_attention": "fused_infer_attention_score for a query of one row",
    "inplace_one": "torch.Tensor.fill_(1)",
    "inplace_quant_scatter": "self[indices] = round(updates / quant_scales + quant_zero_points)",
    "inplace_scatter_update": "data[indices] = updates along axis",
    "interleave_rope": "y = x[0::2], x[1::2] of the last dimension; y * cos + rotate_half(y) * sin",
    "iou": "intersection / union of each pair of boxes; mode 'iof': intersection / area of the second",
    "kl_div_target_backward": "gradient of kl_div for its target",
    "lstm": "torch.nn.LSTM",
    "masked_scale": "self * mask * scale",
    "masked_softmax_with_rel_pos_bias": "softmax(x * scale_value + atten_mask + relative_pos_bias)",
    "matmul_all_reduce": "x1 @ x2 + bias, summed over the ranks",
    "matmul_all_reduce_add_rms_norm": "matmul_all_reduce, then add_rms_norm with residual",
    "matmul_reduce_scatter": "x1 @ x2 + bias, summed over the ranks; each keeps its rows",
    "max_n": "the elementwise maximum of several tensors",
    "max_v2": "torch.amax",
    "min_n": "the elementwise minimum of several tensors",
    "mla_prolog": "the projections, norms and rotations before latent attention, and its caches",
    "moe_compute_expert_tokens": "the number of entries of sorted_experts up to each expert",
    "moe_distribute_combine": "rows sent back to the ranks of their tokens, and summed with their scales",
    "moe_distribute_dispatch": "rows sent to the ranks of their experts",
    "moe_finalize_routing": "the sum over k of scales * (expanded_x[expanded_row_idx] + bias[expert]), plus x1 and x2",
    "moe_gating_top_k": "torch.topk(softmax(x) + bias, k) per row, among the best groups of experts",
    "moe_gating_top_k_backward": "gradient of moe_gating_top_k with scores of the sigmoid",
    "moe_gating_top_k_softmax": "torch.topk(softmax(x), k) per row",
    "moe_init_routing": "the rows of x sorted by expert, and their places",
    "moe_init_routing_quant": "moe_init_routing, with rows scaled to int8",
    "moe_token_permute": "the rows of tokens sorted by expert, and their places",
    "moe_token_permute_with_routing_map": "the rows of tokens sorted by expert, for a map of the experts of each token",
    "moe_token_unpermute": "rows in their first order, summed with the weights probs",
    "moe_token_unpermute_with_routing_map": "rows in their first order, summed with the weights probs",
    "multi_scale_deformable_attention_grad": "gradient of multi_scale_deformable_attn_function",
    "multi_scale_deformable_attn_function": "the sum over levels and points of weight * grid_sample(value, location)",
    "nonzero_v2": "torch.nonzero, transposed",
    "prompt_flash_attention": "fused_infer_attention_score for a whole prompt",
    "quant_grouped_matmul_dequant": "quant_matmul_dequant, per group of rows",
    "quant_matmul": "x1 @ x2 of int8, multiplied by scale, plus bias",
    "quant_matmul_dequant": "x scaled to int8 @ weight, multiplied by the scales",
    "quant_matmul_weight_nz": "quant_matmul with a weight in the NZ format",
    "reduce_log_sum": "torch.log(torch.sum(data, axes))",
    "repeat_interleave_with_dim": "torch.repeat_interleave(dim=dim)",
    "ring_attention_update": "two partial attentions, combined with the weights of their softmax",
    "rms_norm_quant": "round((rms_norm(x, gamma, epsilon) + beta) * scale + offset) as int8",
    "rope_with_sin_cos_cache": "query and key rotated with the rows positions of cos_sin_cache",
    "rotary_position_embedding": "x * cos + rotate_half(x) * sin; mode 1: interleaved pairs",
    "scale": "x * scale + bias, along axis",
    "scaled_masked_softmax": "softmax(x * scale) with the mask",
    "scatter_list": "var_ref[i][indice[i]:] = updates[i] along axis",
    "scatter_nd": "zeros of the shape; out[indices] += updates",
    "scatter_nd_update": "self[indices] = updates",
    "shrink": "x < -lambd: x + bias; x > lambd: x - bias; otherwise 0",
    "sign_bits_pack": "one bit per element: 1 if it is at least 0",
    "sign_bits_unpack": "1 or -1 for each bit",
    "sinkhorn": "the cost matrix scaled until rows and columns have equal sums",
    "softmax_cross_entropy_with_logits": "loss = -sum(labels * log_softmax(x)); backprop = softmax(x) - labels",
    "squared_relu": "relu(x) ** 2",
    "strided_slice_assign": "self[begin:end:strides] = input_value",
    "sum": "the elementwise sum of several tensors",
    "swi_glu": "a, b = halves along dim; silu(a) * b",
    "swi_glu_quant": "swi_glu(x), scaled per row to int8 or int4",
    "swin_attention_score_quant": "attention of int8 query, key and value, with their scales",
    "swin_transformer_ln_qkv_quant": "layer_norm(x), scaled to int8 @ weight: query, key and value",
    "swish": "x * sigmoid(scale * x)",
    "thnn_fused_lstm_cell": "torch.nn.LSTMCell, from the products of its weights",
    "trans_convolution_weight": "the weight in the layout of the cube cores",
    "trans_matmul_weight": "the weight in the layout of the cube cores",
    "trans_quant_param": "scale and offset of float32 in the 64-bit form of the cube cores",
    "weight_quant_batch_matmul": "x @ ((weight + antiquant_offset) * antiquant_scale) + bias",
}

# Patterns of kin, in the order in which they are tried: the name without the match has the formula, which the text
# takes up.
KIN = (
    (r"^inplace_", "{}, written to the argument"),
    (r"^foreach_", "{} of each tensor of a list"),
    (r"_(backward|grad)(?=$|_v\d+$)", "gradient of {}"),
    (r"(_scalar_and_tensor|_tensor|_scalar|_float|_other|_self|_list)+$", "{}"),
    (r"_(all|dim|int|decimals|inplace|out|value|forward|aa|weight_nz|with_impl_mode|with_dim)$", "{}"),
    (r"_?v\d+$", "{}"),
    (r"^(weight_)?quant_", "{}, of quantised operands"),
    (r"s$", "{}"),
)

# Why an operator has no kernel: the first pattern that its name in acl.nn matches; PLANNED if none does.
WHY = (
    ("communicates", r"all_reduce|all_gather|allto_?all|reduce_scatter|distribute|_to_(ffn|attention)$|_worker_"),
    ("not-public", r"_custom$|background_replace|precision_compare|silent_check|matmul_compress"),
    ("quantised", r"(?<!trans_)quant"),
    ("layout", r"weight_nz|convolution_weight|to_int4_pack|trans_quant_param|format_cast"),
    ("fused", r"attention|attn|_mla|mla_|swin_|rope|rotary|ffn|lora|moe_|grouped_|fused_|masked_softmax"),
    ("fused", r"nsa_|[mb]sa_|mhc_|kda_|indexer|kv|gated_delta|causal_conv|compressor|swiglu|situ_glu|segsum"),
)
PLANNED = "planned"
