"""Small models that tests write to a folder, read by the code that reads large ones."""

import json
from pathlib import Path

import numpy as np

WORDS = [
    "[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "cat", "dog", "horse", "stone",
    "iron", "gold", "the", "a", "runs", "shines",
]  # fmt: skip


def static_model(folder: Path, seed: int = 0, width: int = 8) -> Path:
    """Write a model as model2vec does: a vector per word."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    _tokenizer().save(str(folder / "tokenizer.json"))
    table = np.random.default_rng(seed).normal(size=(len(WORDS), width))
    # Animals in one direction, minerals in another.
    table[5:8, 0] += 5.0
    table[8:11, 1] += 5.0
    save_file({"embeddings": table.astype(np.float32)}, folder / "model.safetensors")
    settings = {"model_type": "model2vec", "normalize": True}
    (folder / "config.json").write_text(json.dumps(settings))
    return folder


def sentence_model(folder: Path, window: int = 8) -> Path:
    """Write a transformer of two layers as sentence-transformers does."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    bert, whole = folder.with_name(folder.name + "-bert"), folder
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=window,
    )
    BertModel(config).save_pretrained(bert)
    PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(),
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=window,
    ).save_pretrained(bert)
    body = Transformer(str(bert), max_seq_length=window)
    whole_model = SentenceTransformer(modules=[body, Pooling(16)], device="cpu")
    whole_model.save(str(whole), create_model_card=False)  # a card asks the hub
    return whole


def image_model(folder: Path) -> Path:
    """Write a vision transformer of two layers with random weights."""
    import torch
    from transformers import BitImageProcessor, Dinov2Config, Dinov2Model

    torch.manual_seed(0)
    config = Dinov2Config(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
    )
    Dinov2Model(config).save_pretrained(folder)
    settings = {
        "image_processor_type": BitImageProcessor.__name__.removesuffix("Pil"),
        "do_resize": True,
        "size": {"shortest_edge": 28},
        "do_center_crop": True,
        "crop_size": {"height": 28, "width": 28},
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder


def sound_model(folder: Path) -> Path:
    """Write an audio spectrogram transformer of two layers with random weights."""
    import torch
    from transformers import ASTConfig, ASTFeatureExtractor, ASTModel

    torch.manual_seed(0)
    config = ASTConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_length=64,
        num_mel_bins=32,
    )
    ASTModel(config).save_pretrained(folder)
    ASTFeatureExtractor(max_length=64, num_mel_bins=32).save_pretrained(folder)
    return folder


def _tokenizer():
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    words = Tokenizer(
        WordLevel({word: k for k, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    words.pre_tokenizer = Whitespace()
    words.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return words
