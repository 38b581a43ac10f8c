"""Builds the int8 model from published weights and holds it to them before it counts as ready.

The ranges of its activations are measured first, on texts of their own. Processors without VNNI add two
products up in 16 bits, which can overflow; weights of one bit less cannot.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from search_proxy.embedding.activations import measured_activations
from search_proxy.embedding.calibration_texts import CALIBRATION_TEXTS
from search_proxy.embedding.minilm import MiniLmEmbedder, Tokens
from search_proxy.embedding.minilm_files import write_card
from search_proxy.embedding.minilm_model import build_model
from search_proxy.embedding.published_weights import Weights, read_safetensors
from search_proxy.embedding.reference import reference_embedding

FULL_RANGE = 127
REDUCED_RANGE = 63

MIN_COSINE = 0.97
"""Below it int8 went wrong, whatever the reason: 0.985 to 0.995 is what its rounding costs."""

CHECKED_TEXTS = (
    "tent",
    "27 inch gaming monitor",
    "wireless mouse black",
    "chaise longue pour le salon",
    "Wasserdichte Wanderschuhe für Herren, Größe 44",
    "Dell PowerEdge R740\nRack server with two Xeon processors, 64 GB of memory, redundant power.",
    "Linen sofa cover\nA soft, washable cover for sofas of two seats. Natural fibres, dyed without chlorine.",
    "USB-C cable, 2 m, 100 W\nCharges laptops and phones; braided nylon, tested to 20,000 bends.",
)


def build(safetensors: Path, tokenizer: Path, folder: Path) -> float:
    """Write the model and its tokenizer to `folder` and return the worst cosine to the weights as published.

    Raises:
        ValueError: The weights cannot be read, or no int8 form of them is close enough on this processor.
        KeyError: A tensor is missing.
        SearchUnavailable: The tokenizer is none, or the runtime cannot load the model.
    """
    weights = read_safetensors(safetensors)
    folder.mkdir()
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
    tokens = Tokens(folder / "tokenizer.json")
    activations = measured_activations(weights, [tokens.ids(text) for text in CALIBRATION_TEXTS])
    worst = -1.0
    for weight_range in (FULL_RANGE, REDUCED_RANGE):
        (folder / "model.onnx").write_bytes(build_model(weights, activations, weight_range))
        worst = worst_cosine(weights, folder, CHECKED_TEXTS)
        if worst >= MIN_COSINE:
            write_card(folder, {"weightRange": weight_range, "worstCosine": round(worst, 4)})
            return worst
    raise ValueError(f"the int8 model is off on this processor: cosine {worst:.3f}, not {MIN_COSINE} or more")


def worst_cosine(weights: Weights, folder: Path, texts: Sequence[str]) -> float:
    """Return the lowest cosine between the built model's vectors and the published one's."""
    with ThreadPoolExecutor(1) as threads:
        embedder = MiniLmEmbedder(folder / "model.onnx", folder / "tokenizer.json", threads)
        return min(
            float(embedder.embed_query(text) @ reference_embedding(weights, embedder.token_ids(text)))
            for text in texts
        )
