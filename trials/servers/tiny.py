#!/usr/bin/env python3
"""tiny.py VOCABULARY OUT: a model file with the vocabulary of another one and one small layer of random weights."""

import sys

import gguf
import numpy

WIDTH, HEADS, INNER = 32, 2, 64

vocabulary, out = sys.argv[1:]
fields = gguf.GGUFReader(vocabulary).fields
tokens = len(fields["tokenizer.ggml.tokens"].data)

writer = gguf.GGUFWriter(out, "llama")
writer.add_name("tiny")
writer.add_context_length(131072)
writer.add_embedding_length(WIDTH)
writer.add_block_count(1)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_vocab_size(tokens)
for name, field in fields.items():
    if name.startswith("tokenizer."):
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), kind, inner)

dice = numpy.random.default_rng(7)
shapes = {
    "token_embd": (tokens, WIDTH),
    "output": (tokens, WIDTH),
    "blk.0.attn_q": (WIDTH, WIDTH),
    "blk.0.attn_k": (WIDTH, WIDTH),
    "blk.0.attn_v": (WIDTH, WIDTH),
    "blk.0.attn_output": (WIDTH, WIDTH),
    "blk.0.ffn_gate": (INNER, WIDTH),
    "blk.0.ffn_up": (INNER, WIDTH),
    "blk.0.ffn_down": (WIDTH, INNER),
}
for name, shape in shapes.items():
    writer.add_tensor(f"{name}.weight", dice.normal(0, 0.05, shape).astype(numpy.float32))
for name in ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"]:
    writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, numpy.float32))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
