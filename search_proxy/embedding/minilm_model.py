"""Turns the weights of a MiniLM sentence model into an int8 ONNX model. Runs once, at set-up.

The graph is written node by node: embeddings, layers of attention and feed-forward, the mean over the tokens,
length 1. Every weight matrix becomes int8 with one scale per output channel; activations are quantised while
they run. Per tensor instead of per channel costs five hundredths of cosine (docs/embeddings.md).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import orjson
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[np.float32]
Weights = Mapping[str, Array]

HEAD_SIZE = 32
"""Of this family: 384 numbers in 12 heads."""

EPSILON = 1e-12
_TABLE_RANGE = 127
_OPSET = 20
_CONTRIB = "com.microsoft"
_IR_VERSION = 10


def read_safetensors(path: Path) -> Weights:
    """Return every float32 tensor of the file, mapped.

    Raises:
        ValueError: The file is not in the safetensors format.
    """
    with path.open("rb") as file:
        prefix = file.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else 0
        if not 2 <= length <= path.stat().st_size - 8:
            raise ValueError(f"{path.name!r} is no safetensors file: its header would have {length} bytes")
        header = orjson.loads(file.read(length))
    weights = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            offset = 8 + length + entry["data_offsets"][0]
            weights[name] = np.memmap(path, "<f4", "r", offset, tuple(entry["shape"]))
    return weights


def build_model(weights: Weights, weight_range: int = 127) -> bytes:
    """Return the serialised int8 model: the `input_ids` of one text in, its `embedding` out.

    It takes one text, because the quantisation of activations looks at all of its input: in a batch, a
    text's vector would depend on its neighbours. On CPU a batch gains less than a tenth in speed.

    `weight_range` is the largest int8 weight.

    Raises:
        KeyError: A tensor of this family of models is missing.
    """
    graph = _Graph(weights, weight_range)
    hidden = _embedded(graph)
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        hidden = _layer(graph, f"encoder.layer.{layer}", hidden)
        layer += 1
    total = graph.node("ReduceSum", [hidden, graph.integers([0])], keepdims=0)
    length = graph.node("ReduceL2", [total], keepdims=1)
    graph.node("Div", [total, length], output="embedding")
    return graph.serialised()


def _embedded(graph: _Graph) -> str:
    words = graph.quantised_rows("embeddings.word_embeddings.weight", "input_ids")
    table = (
        graph.weights["embeddings.position_embeddings.weight"]
        + graph.weights["embeddings.token_type_embeddings.weight"][0]
    )
    length = graph.node("Shape", ["input_ids"])
    positions = graph.node("Slice", [graph.float_tensor(table), graph.integers([0]), length])
    return graph.normalised("embeddings.LayerNorm", graph.node("Add", [words, positions]))


def _layer(graph: _Graph, name: str, hidden: str) -> str:
    """Return what one layer makes of `hidden`, which has a row per token."""
    attention = f"{name}.attention"
    heads = graph.integers([0, graph.hidden_size // HEAD_SIZE, HEAD_SIZE])
    parts = graph.node_with_outputs("Split", [graph.attended(attention, hidden)], 3, axis=-1, num_outputs=3)
    query, key, value = (graph.node("Reshape", [part, heads]) for part in parts)
    query, value = (graph.node("Transpose", [part], perm=[1, 0, 2]) for part in (query, value))
    key = graph.node("Transpose", [key], perm=[1, 2, 0])
    shares = graph.node("Softmax", [graph.node("MatMul", [query, key])], axis=-1)
    mixed = graph.node("Transpose", [graph.node("MatMul", [shares, value])], perm=[1, 0, 2])
    mixed = graph.node("Reshape", [mixed, graph.integers([0, graph.hidden_size])])
    mixed = graph.node("Add", [graph.dense(f"{attention}.output.dense", mixed), hidden])
    hidden = graph.normalised(f"{attention}.output.LayerNorm", mixed)
    wide = graph.node("Gelu", [graph.dense(f"{name}.intermediate.dense", hidden)])
    narrow = graph.dense(f"{name}.output.dense", wide)
    return graph.normalised(f"{name}.output.LayerNorm", graph.node("Add", [narrow, hidden]))


@dataclass
class _Graph:
    """Collects nodes and constants; each method returns the name of what its node gives."""

    weights: Weights
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

    def node_with_outputs(self, kind: str, inputs: Sequence[str], count: int, **more: Any) -> list[str]:
        names = [f"{kind}_{len(self.nodes)}_{number}" for number in range(count)]
        self.nodes.append(helper.make_node(kind, inputs, names, **more))
        return names

    def attended(self, name: str, inputs: str) -> str:
        """Give query, key and value side by side; the scale of their product is in the query's weights."""
        matrices, biases = (
            [self.weights[f"{name}.self.{part}.{kind}"] for part in ("query", "key", "value")]
            for kind in ("weight", "bias")
        )
        scale = HEAD_SIZE**-0.5
        return self._multiplied(
            np.concatenate([matrices[0] * scale, *matrices[1:]]),
            np.concatenate([biases[0] * scale, *biases[1:]]),
            inputs,
        )

    def dense(self, name: str, inputs: str) -> str:
        return self._multiplied(self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], inputs)

    def _multiplied(self, rows: Array, bias: Array, inputs: str) -> str:
        """Multiply with the int8 form of a matrix that has a row and a scale per output; add the bias."""
        scales = np.abs(rows).max(axis=1) / self.weight_range
        rounded = np.round(rows / scales[:, None]).astype(np.int8).T
        zeros = self.constant(np.zeros(len(scales), np.int8))
        constants = [self.constant(rounded), self.float_tensor(scales), zeros, self.float_tensor(bias)]
        return self.node("DynamicQuantizeMatMul", [inputs, *constants], domain=_CONTRIB)

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
        return self.constant(np.ascontiguousarray(values, np.float32))

    def integers(self, values: Sequence[int]) -> str:
        return self.constant(np.array(values, np.int64))

    def constant(self, values: npt.NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def serialised(self) -> bytes:
        graph = helper.make_graph(
            self.nodes,
            "sentence-embedding",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ("tokens",))],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, (self.hidden_size,))],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content
