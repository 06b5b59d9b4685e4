"""Small models of transformers with random weights. They return a dictionary with their loss and their outputs."""

import torch
import transformers
from model import Inputs, Model

WORDS = 64
SMALL = {
    "vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 48, "max_position_embeddings": 64, "initializer_range": 0.2,
}  # fmt: skip
GROUPED = {**SMALL, "num_key_value_heads": 2}
SEEING = {**SMALL, "image_size": 32, "patch_size": 8}
IMAGES = 32


def made(name, **settings):
    """Return a function that makes the model of this class with these settings, without dropout."""

    def make():
        kind = getattr(transformers, name)
        return kind(kind.config_class(**settings)).eval()

    return make


def text(inputs, left=False):
    """Return three texts, the first with padding, as tokens and a mask."""
    mask = torch.ones(3, 12, dtype=torch.int64)
    mask[0, slice(0, 4) if left else slice(8, 12)] = 0
    return {"input_ids": inputs.integers(WORDS, 3, 12, low=5), "attention_mask": mask}


def encoders(inputs):
    """Return models that read texts, each with another task."""
    texts = text(inputs)
    distil = {"vocab_size": WORDS, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}
    deberta = {**SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
    tokens, classes = {**texts, "labels": inputs.integers(3, 3, 12)}, {**texts, "labels": inputs.integers(3, 3)}
    spans = {"start_positions": torch.tensor([1, 4, 6]), "end_positions": torch.tensor([3, 4, 9])}
    return [
        Model("bert", made("BertForMaskedLM", **SMALL), {**texts, "labels": texts["input_ids"]}),
        Model("distilbert", made("DistilBertForTokenClassification", **distil, num_labels=3), tokens),
        Model("roberta", made("RobertaForSequenceClassification", **SMALL, num_labels=3), classes),
        Model("albert", made("AlbertForQuestionAnswering", **SMALL, embedding_size=16), {**texts, **spans}),
        Model("electra", made("ElectraForPreTraining", **SMALL, embedding_size=16),
              {**texts, "labels": inputs.integers(2, 3, 12)}),
        Model("deberta", made("DebertaV2ForSequenceClassification", **deberta, num_labels=3), classes),
    ]  # fmt: skip


def decoders(inputs):
    """Return models that continue texts."""
    texts = text(inputs, left=True)
    inputs = {**texts, "labels": texts["input_ids"].masked_fill(texts["attention_mask"] == 0, -100)}
    ends = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    settings = {
        "gpt2": ("GPT2LMHeadModel", {
            "vocab_size": WORDS, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.2,
        }),
        "gpt_neox": ("GPTNeoXForCausalLM", SMALL),
        "opt": ("OPTForCausalLM", {
            "vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 48,
            "max_position_embeddings": 64, "init_std": 0.2, "word_embed_proj_dim": 16,
        }),
        "bloom": ("BloomForCausalLM", {"vocab_size": WORDS, "hidden_size": 32, "n_head": 4, "initializer_range": 0.2}),
        "llama": ("LlamaForCausalLM", GROUPED),
        "mistral": ("MistralForCausalLM", {**GROUPED, "sliding_window": 4}),
        "mixtral": ("MixtralForCausalLM", {**GROUPED, "num_local_experts": 4}),
        "qwen2": ("Qwen2ForCausalLM", GROUPED),
        "gemma": ("GemmaForCausalLM", {**GROUPED, "head_dim": 16}),
        "phi": ("PhiForCausalLM", {**SMALL, "qk_layernorm": True}),
        "mamba": ("MambaForCausalLM", {
            "vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8,
        }),
    }  # fmt: skip
    generate = "input_ids", "attention_mask"
    return [Model(name, made(kind, **small, **ends), inputs, generate) for name, (kind, small) in settings.items()]


def translators(inputs):
    """Return models that read one text, or sounds, and write another text."""
    both = {**text(inputs), "labels": inputs.integers(WORDS, 3, 7, low=5)}
    sounds = {"input_features": inputs.numbers(2, 16, 80), "labels": inputs.integers(WORDS, 2, 7, low=5)}
    t5 = {"vocab_size": WORDS, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in {"layers": 2, "attention_heads": 4, "ffn_dim": 48}.items()
    }
    sides.update(vocab_size=WORDS, d_model=32, init_std=0.2)
    whisper = {**sides, "num_mel_bins": 16, "max_source_positions": 40, "max_target_positions": 40}
    bart = {**sides, "max_position_embeddings": 64}
    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    starts = {**ends, "decoder_start_token_id": 2}
    whisper.update(starts, begin_suppress_tokens=None)
    generate = "input_ids", "attention_mask"
    return [
        Model("t5", made("T5ForConditionalGeneration", **t5, **ends, decoder_start_token_id=0), both, generate),
        Model("bart", made("BartForConditionalGeneration", **bart, **starts), both, generate),
        Model("blenderbot", made("BlenderbotForConditionalGeneration", **bart, **starts), both, generate),
        Model("whisper", made("WhisperForConditionalGeneration", **whisper), sounds, ("input_features",)),
    ]


def observers(inputs):
    """Return models that see images or hear sounds."""
    images = {"pixel_values": inputs.numbers(3, 3, IMAGES, IMAGES)}
    classes, pixels = ({**images, "labels": inputs.integers(3, *shape)} for shape in ((3,), (3, IMAGES, IMAGES)))
    shared = {"num_labels": 3, "initializer_range": 0.2}
    swin = {**shared, "image_size": IMAGES, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4],
            "window_size": 4}  # fmt: skip
    four = {"num_encoder_blocks": 4, "depths": [1] * 4, "num_attention_heads": [1, 2, 2, 4], "sr_ratios": [4, 2, 1, 1]}
    segformer = {**shared, **four, "hidden_sizes": [8, 16, 16, 32], "decoder_hidden_size": 16, "drop_path_rate": 0.0}
    convnext = {**shared, "hidden_sizes": [8, 16, 24, 32], "depths": [1] * 4, "layer_scale_init_value": 0.1}
    reads = {**SMALL, "hidden_act": "quick_gelu", "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}
    clip = {"text_config": reads, "vision_config": {**SEEING, "projection_dim": 16}, "projection_dim": 16}
    hears = {
        **SMALL, "conv_dim": [16] * 3, "conv_kernel": [10, 3, 3], "conv_stride": [5, 2, 2],
        "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4,
        "ctc_loss_reduction": "mean",
    }  # fmt: skip
    return [
        Model("vit", made("ViTForImageClassification", **SEEING, num_labels=3), classes),
        Model("swin", made("SwinForImageClassification", **swin), classes),
        Model("convnext", made("ConvNextForImageClassification", **convnext), classes),
        Model("segformer", made("SegformerForSemanticSegmentation", **segformer), pixels),
        Model("clip", made("CLIPModel", **clip), {**images, **text(inputs), "return_loss": True}),
        Model("wav2vec2", made("Wav2Vec2ForCTC", **hears), {
            "input_values": inputs.numbers(2, 800), "labels": inputs.integers(WORDS, 2, 6, low=5),
        }),
    ]  # fmt: skip


def cases():
    """Return the models with their inputs."""
    inputs = Inputs(13)
    return encoders(inputs) + decoders(inputs) + translators(inputs) + observers(inputs)
