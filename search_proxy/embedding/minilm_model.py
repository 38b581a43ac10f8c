"""Turns the weights of a MiniLM sentence model into an int8 ONNX model. Runs once, at set-up.

The graph is written node by node: embeddings, layers of attention and feed-forward, the mean over the
tokens, length 1. Every weight matrix becomes int8 with one scale per output channel, what goes into it uint8
in the range that was measured. One scale per matrix would cost five hundredths of cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from search_proxy.embedding.activations import Activations
from search_proxy.embedding.published_weights import EPSILON, HEAD_SIZE, Array, Weights

_TABLE_RANGE = 127
_OPSET = 23
_CONTRIB = "com.microsoft"
_IR_VERSION = 10


def build_model(weights: Weights, activations: Activations, weight_range: int = 127) -> bytes:
    """Return the serialised int8 model: `input_ids` of texts of one length in, their `embedding` out.

    Texts of one length need no padding and no mask, and nothing of the graph looks at two texts at once: a
    text's vector is the same in every batch, bit for bit.

    `weight_range` is the largest int8 weight.

    Raises:
        KeyError: A tensor of this family of models is missing.
    """
    graph = _Graph(weights, activations, weight_range)
    length = graph.node("Shape", ["input_ids"], start=1)
    hidden = _embedded(graph, length)
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        hidden = _layer(graph, f"encoder.layer.{layer}", hidden)
        layer += 1
    # Not ReduceSum: the runtime adds up in another order for one text than for several.
    ones = graph.node(
        "ConstantOfShape", [length], value=helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0])
    )
    graph.node("LpNormalization", [graph.node("MatMul", [ones, hidden])], output="embedding", axis=-1, p=2)
    return graph.serialised()


def _embedded(graph: _Graph, length: str) -> str:
    words = graph.quantised_rows("embeddings.word_embeddings.weight", "input_ids")
    table = (
        graph.weights["embeddings.position_embeddings.weight"]
        + graph.weights["embeddings.token_type_embeddings.weight"][0]
    )
    positions = graph.node("Slice", [graph.float_tensor(table), graph.integers([0]), length])
    return graph.normalised("embeddings.LayerNorm", graph.node("Add", [words, positions]))


def _layer(graph: _Graph, name: str, hidden: str) -> str:
    """Return what one layer makes of `hidden`, which has a row per token of every text."""
    output = f"{name}.attention.output.dense"
    # A value's channels go straight into that matrix, so its smoothing costs nothing: they are made smaller.
    smoothing = graph.smoothing(output)
    heads = graph.hidden_size // HEAD_SIZE
    parts = graph.attended(f"{name}.attention.self", hidden, smoothing)
    mixed = graph.node("Attention", parts, q_num_heads=heads, kv_num_heads=heads, scale=HEAD_SIZE**-0.5)
    attended = graph.node("Add", [graph.dense(output, mixed, smoothing), hidden])
    hidden = graph.normalised(f"{name}.attention.output.LayerNorm", attended)
    inner = f"{name}.intermediate.dense"
    smoothing = graph.smoothing(inner)
    smooth = graph.node("Mul", [hidden, graph.float_tensor(1 / smoothing)])
    wide = graph.node("Gelu", [graph.dense(inner, smooth, smoothing)], approximate="tanh")
    narrow = graph.dense(f"{name}.output.dense", wide)
    return graph.normalised(f"{name}.output.LayerNorm", graph.node("Add", [narrow, hidden]))


@dataclass
class _Graph:
    """Collects nodes and constants; each method returns the name of what its node gives."""

    weights: Weights
    activations: Activations
    weight_range: int
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    @property
    def hidden_size(self) -> int:
        return int(self.weights["embeddings.LayerNorm.weight"].shape[0])

    def node(self, kind: str, inputs: Sequence[str], *, output: str | None = None, **more: Any) -> str:
        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **more))
        return name

    def smoothing(self, name: str) -> Array:
        return self.activations[name].smoothing(self.weights[f"{name}.weight"])

    def attended(self, name: str, inputs: str, smoothing: Array) -> list[str]:
        """Give query, key and value; the value's channels divided by `smoothing`."""
        quantised = self._quantised(name, inputs, 1.0)
        parts = []
        for part, divisor in (("query", 1.0), ("key", 1.0), ("value", smoothing)):
            rows, bias = (self.weights[f"{name}.{part}.{kind}"] for kind in ("weight", "bias"))
            parts.append(self._multiplied((rows.T / divisor).T, bias / divisor, quantised))
        return parts

    def dense(self, name: str, inputs: str, smoothing: Array | float = 1.0) -> str:
        """Multiply `inputs`, whose channels are divided by `smoothing`, and add the bias."""
        rows, bias = (self.weights[f"{name}.{kind}"] for kind in ("weight", "bias"))
        return self._multiplied(rows * smoothing, bias, self._quantised(name, inputs, smoothing))

    def _quantised(self, name: str, inputs: str, smoothing: Array | float) -> tuple[str, str, str]:
        """Give `inputs` as uint8, with the scale and the zero point."""
        scale, zero = self.activations[name].scale_and_zero_point(smoothing)
        constants = self.float_tensor(scale), self.constant(np.asarray(zero))
        return self.node("QuantizeLinear", [inputs, *constants]), *constants

    def _multiplied(self, rows: Array, bias: Array, quantised: tuple[str, str, str]) -> str:
        """Multiply with the int8 form of a matrix that has a row and a scale per output; add the bias."""
        values, scale, zero = quantised
        scales = np.abs(rows).max(axis=1) / self.weight_range
        matrix = self.constant(np.round(rows / scales[:, None]).astype(np.int8).T)
        zeros = self.constant(np.zeros(len(scales), np.int8))
        inputs = [values, matrix, scale, self.float_tensor(scales), zero, zeros, self.float_tensor(bias)]
        return self.node("MatMulIntegerToFloat", inputs, domain=_CONTRIB)

    def quantised_rows(self, name: str, positions: str) -> str:
        """Look rows up in the int8 form of a table with one scale per row."""
        table = self.weights[name]
        scales = np.abs(table).max(axis=1, keepdims=True) / _TABLE_RANGE
        scales[scales == 0] = 1.0
        rows = self.node("Gather", [self.constant(np.round(table / scales).astype(np.int8)), positions])
        rows = self.node("Cast", [rows], to=TensorProto.FLOAT)
        return self.node("Mul", [rows, self.node("Gather", [self.float_tensor(scales), positions])])

    def normalised(self, name: str, inputs: str) -> str:
        constants = [self.float_tensor(self.weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        return self.node("LayerNormalization", [inputs, *constants], axis=-1, epsilon=EPSILON)

    def float_tensor(self, values: Any) -> str:
        return self.constant(np.asarray(values, np.float32))

    def integers(self, values: Sequence[int]) -> str:
        return self.constant(np.array(values, np.int64))

    def constant(self, values: npt.NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name

    def serialised(self) -> bytes:
        graph = helper.make_graph(
            self.nodes,
            "sentence-embedding",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ("texts", "tokens"))],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ("texts", self.hidden_size))],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content
