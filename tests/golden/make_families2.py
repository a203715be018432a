#!/usr/bin/env python3
"""Reference data for further decoder families: checkpoints/.

    make_families2.py [OUTPUT_DIRECTORY]      default: the directory of this script

Each family is a table (`plan`) that one forward pass interprets; the tables follow the sources of transformers 4.57.5.
Needs Debian's python3-torch and python3-numpy.
"""
import json
import math
import os
import sys

import numpy as np
import torch

import make_families as f
import make_golden as g

EXTRA = ("norm1", "norm2", "attn_added", "mlp_added", "final_out")


# ------------------------------------------------------------------ config keys

def rope_keys(cfg, theta, partial=1.0, kind=None):
    """(theta, rotated part of a head, scaling) from rope_theta + rope_scaling or, newer, rope_parameters."""
    s = cfg.get("rope_parameters")
    if s is None:
        s = dict(cfg.get("rope_scaling") or {})
    if kind in s:
        s = s[kind]
    return (s.get("rope_theta", cfg.get("rope_theta", theta)),
            s.get("partial_rotary_factor", cfg.get("partial_rotary_factor", partial)), s)


def frequencies(cfg, dim, theta, s, n):
    """Angle per position of each pair, and the factor on cos and sin, for a sequence of n tokens."""
    kind = s.get("rope_type", s.get("type", "default"))
    i = np.arange(0, dim, 2, dtype=np.float64) / dim
    longest, factor, grow = cfg.get("max_position_embeddings"), s.get("factor"), 1.0
    if kind == "linear":
        return 1.0 / theta ** i / factor, grow
    if kind == "dynamic":
        theta = theta * (factor * max(n, longest) / longest - (factor - 1)) ** (dim / (dim - 2))
    if kind == "llama3":
        speed = 1.0 / theta ** i
        wave, old = 2 * math.pi / speed, s["original_max_position_embeddings"]
        lo, hi = s["low_freq_factor"], s["high_freq_factor"]
        t = (old / wave - lo) / (hi - lo)
        middle = (1 - t) * speed / factor + t * speed
        return np.where(wave > old / lo, speed / factor, np.where(wave < old / hi, speed, middle)), grow
    if kind == "yarn":
        old = s.get("original_max_position_embeddings") or longest
        turns = lambda r: dim * math.log(old / (r * 2 * math.pi)) / (2 * math.log(theta))
        lo, hi = turns(s.get("beta_fast") or 32), turns(s.get("beta_slow") or 1)
        if s.get("truncate", True):
            lo, hi = math.floor(lo), math.ceil(hi)
        lo, hi = max(lo, 0), min(hi, dim - 1)
        ramp = np.clip((np.arange(dim // 2) - lo) / ((hi - lo) or 0.001), 0, 1)
        grow = s.get("attention_factor")
        mscale = lambda m: 1.0 if factor <= 1 else 0.1 * m * math.log(factor) + 1
        if grow is None:
            a, b = s.get("mscale"), s.get("mscale_all_dim")
            grow = mscale(a) / mscale(b) if a and b else mscale(1)
        return ramp / theta ** i / factor + (1 - ramp) / theta ** i, grow
    if kind in ("longrope", "su"):
        old = cfg.get("original_max_position_embeddings")
        if old:
            factor = longest / old
        else:
            old = longest
        grow = s.get("attention_factor") or (1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(old)))
        return 1.0 / (np.array(s["long_factor" if n > old else "short_factor"]) * theta ** i), grow
    return 1.0 / theta ** i, grow


def alibi(n_head, n, rounded=False):
    """[heads, keys]: slope times key position; slopes are powers of 2^(-8/p), p the largest power of two, then odd
    powers of 2^(-4/p)."""
    p = 2 ** int(math.floor(math.log2(n_head)))
    slope = np.array([2.0 ** (-8.0 / p * (i + 1)) for i in range(p)] +
                     [2.0 ** (-4.0 / p * (2 * i + 1)) for i in range(n_head - p)])
    if not rounded:
        return slope[:, None] * np.arange(n)
    short = lambda x: g.to_bf16(x)[1].reshape(x.shape).astype(np.float64)
    return short(short(slope)[:, None] * short(np.arange(n)))


# ----------------------------------------------------------------------- plans

def llama_like(cfg, n, theta=10000.0, eps=1e-6, tied=False, head_dim=None, bias_key="attention_bias", partial=1.0,
               act="silu", rms="rms"):
    """What the families with Llama's tensor names share; each family then changes some entries."""
    d, h = cfg["hidden_size"], cfg["num_attention_heads"]
    kv = cfg.get("num_key_value_heads") or h
    hd = cfg.get("head_dim") or head_dim or d // h
    ff, bias, mlp_bias = cfg["intermediate_size"], bool(cfg.get(bias_key, False)), bool(cfg.get("mlp_bias", False))
    base, part, scaling = rope_keys(cfg, theta, partial)
    dim = int(hd * part)
    speed, grow = frequencies(cfg, dim, base, scaling, n)
    P = {"d": d, "vocab": cfg["vocab_size"], "norm": (rms, cfg.get("rms_norm_eps", eps)), "embed": "model.embed_tokens",
         "final": "model.norm",
         "unembed": "model.embed_tokens" if cfg.get("tie_word_embeddings", tied) else "lm_head", "layers": []}
    for i in range(cfg["num_hidden_layers"]):
        b = "model.layers.%d." % i
        P["layers"].append({
            "heads": (h, kv, hd), "norm1": b + "input_layernorm", "norm2": b + "post_attention_layernorm",
            "q": (b + "self_attn.q_proj", h * hd, d, bias), "k": (b + "self_attn.k_proj", kv * hd, d, bias),
            "v": (b + "self_attn.v_proj", kv * hd, d, bias),
            "o": (b + "self_attn.o_proj", d, h * hd, bias), "rope": (speed, grow, False), "scale": 1 / math.sqrt(hd),
            "gate": (b + "mlp.gate_proj", ff, d, mlp_bias), "in": (b + "mlp.up_proj", ff, d, mlp_bias),
            "out": (b + "mlp.down_proj", d, ff, mlp_bias),
            "act": cfg.get("hidden_act", act)})
    return P


def layer_types(cfg, default):
    return cfg.get("layer_types") or [default(i) for i in range(cfg["num_hidden_layers"])]


def slide(P, cfg, kinds):
    for L, kind in zip(P["layers"], kinds):
        if kind == "sliding_attention":
            L["window"] = cfg["sliding_window"]


def plan_llama(cfg, n):
    return llama_like(cfg, n)


def plan_mistral(cfg, n):
    P = llama_like(cfg, n, bias_key="")
    if cfg.get("sliding_window", 4096) is not None:
        slide(P, dict({"sliding_window": 4096}, **cfg), ["sliding_attention"] * len(P["layers"]))
    return P


def plan_qwen3(cfg, n):
    P = llama_like(cfg, n, head_dim=128)
    for i, L in enumerate(P["layers"]):
        b = "model.layers.%d.self_attn." % i
        L["qk_norm"] = ("head", "rms", b + "q_norm", b + "k_norm", P["norm"][1])
    on = cfg.get("use_sliding_window", False)
    slide(P, cfg, layer_types(cfg, lambda i: "sliding_attention" if on and
                              i >= cfg.get("max_window_layers", 28) else "full_attention"))
    return P


def plan_qwen2(cfg, n):
    P, on = llama_like(cfg, n, bias_key=""), cfg.get("use_sliding_window", False)
    for L in P["layers"]:
        for c in "qkv":
            L[c] = L[c][:3] + (True,)
    slide(P, cfg, layer_types(cfg, lambda i: "sliding_attention" if on and
                              i >= cfg.get("max_window_layers", 28) else "full_attention"))
    return P


def plan_gemma(cfg, n):
    P = llama_like(cfg, n, tied=True, head_dim=256, rms="rms1", act="gelu_pytorch_tanh")
    P["embed_scale"] = math.sqrt(P["d"])
    return P


def plan_gemma2(cfg, n):
    P = llama_like(cfg, n, tied=True, head_dim=256, rms="rms1")
    P["embed_scale"], P["cap"] = math.sqrt(P["d"]), cfg.get("final_logit_softcapping", 30.0)
    for i, L in enumerate(P["layers"]):
        b = "model.layers.%d." % i
        L.update(norm2=b + "pre_feedforward_layernorm", post1=b + "post_attention_layernorm",
                 post2=b + "post_feedforward_layernorm",
                 scale=cfg.get("query_pre_attn_scalar", 256) ** -0.5, cap=cfg.get("attn_logit_softcapping", 50.0),
                 act=cfg.get("hidden_activation", "gelu_pytorch_tanh"))
    slide(P, cfg, layer_types(cfg, lambda i: "full_attention" if i % 2 else "sliding_attention"))
    return P


def plan_gemma3(cfg, n):
    P = plan_gemma2(dict({"final_logit_softcapping": None, "attn_logit_softcapping": None,
                          "layer_types": ["full_attention"] * cfg["num_hidden_layers"]}, **cfg), n)
    every = cfg.get("sliding_window_pattern", 6)
    kinds = layer_types(cfg, lambda i: "sliding_attention" if (i + 1) % every else "full_attention")
    for i, (L, kind) in enumerate(zip(P["layers"], kinds)):
        b, hd, local = "model.layers.%d.self_attn." % i, L["heads"][2], kind == "sliding_attention"
        L["qk_norm"] = ("head", "rms1", b + "q_norm", b + "k_norm", P["norm"][1])
        if "rope_parameters" in cfg:
            base, _, s = rope_keys(cfg, 10000.0 if local else 1000000.0, kind=kind)
        else:
            base, s = (cfg.get("rope_local_base_freq", 10000.0),
                       {}) if local else (cfg.get("rope_theta", 1000000.0), cfg.get("rope_scaling") or {})
        L["rope"] = frequencies(cfg, hd, base, s, n) + (False,)
        # attn_logit_softcapping is read but never applied
        L["window"], L["cap"] = cfg.get("sliding_window", 4096) if local else None, None
    return P


def plan_phi3(cfg, n):
    P = llama_like(cfg, n, eps=1e-5, bias_key="")
    for i, L in enumerate(P["layers"]):
        (h, kv, hd), b, ff = L["heads"], "model.layers.%d." % i, cfg["intermediate_size"]
        L["qkv"] = (b + "self_attn.qkv_proj", (h + 2 * kv) * hd, P["d"], False)
        L["rows"] = np.split(np.arange((h + 2 * kv) * hd), [h * hd, (h + kv) * hd])
        L["gate_in"] = (b + "mlp.gate_up_proj", 2 * ff, P["d"], False)
        for name in ("q", "k", "v", "gate", "in"):
            del L[name]
    slide(P, cfg, ["sliding_attention" if cfg.get("sliding_window") else ""] * len(P["layers"]))
    return P


def plan_phi(cfg, n):
    P = llama_like(cfg, n, partial=0.5)
    d, ff = P["d"], cfg["intermediate_size"]
    P.update(norm=("layer", cfg.get("layer_norm_eps", 1e-5)), final="model.final_layernorm", unembed_bias=True)
    for i, L in enumerate(P["layers"]):
        b = "model.layers.%d." % i
        for c in "qkv":
            L[c] = L[c][:3] + (True,)
        L.update(norm2=None, parallel=True, o=(b + "self_attn.dense",) + L["o"][1:3] + (True,),
                 act=cfg.get("hidden_act", "gelu_new"))
        L["in"], L["out"] = (b + "mlp.fc1", ff, d, True), (b + "mlp.fc2", d, ff, True)
        del L["gate"]
        if cfg.get("qk_layernorm"):
            L["qk_norm"] = ("head", "layer", b + "self_attn.q_layernorm", b + "self_attn.k_layernorm", P["norm"][1])
    return P


def plan_olmo2(cfg, n):
    P = llama_like(cfg, n, eps=1e-5)
    for i, L in enumerate(P["layers"]):
        b = "model.layers.%d." % i
        L.update(norm1=None, norm2=None, post1=b + "post_attention_layernorm", post2=b + "post_feedforward_layernorm",
                 qk_norm=("whole", "rms", b + "self_attn.q_norm", b + "self_attn.k_norm", P["norm"][1]))
    return P


def plan_smollm3(cfg, n):
    P = llama_like(cfg, n, theta=2000000.0, tied=True)
    every = cfg.get("no_rope_layer_interval", 4)
    turns = cfg.get("no_rope_layers") or [int((i + 1) % every != 0) for i in range(len(P["layers"]))]
    for L, turn in zip(P["layers"], turns):
        if not turn:
            L["rope"] = None
    on = cfg.get("use_sliding_window", False) and cfg.get("sliding_window") is not None
    slide(P, cfg, layer_types(cfg, lambda i: "sliding_attention" if on and not turns[i] else "full_attention"))
    return P


def plan_granite(cfg, n):
    P = llama_like(cfg, n)
    P["embed_scale"], P["logit_scale"] = cfg.get("embedding_multiplier", 1.0), 1 / cfg.get("logits_scaling", 1.0)
    for L in P["layers"]:
        L["scale"], L["mult"] = cfg.get("attention_multiplier", 1.0), cfg.get("residual_multiplier", 1.0)
    return P


def plan_stablelm(cfg, n):
    P = llama_like(cfg, n, bias_key="use_qkv_bias", partial=0.25)
    P["norm"] = ("layer", cfg.get("layer_norm_eps", 1e-5))
    for i, L in enumerate(P["layers"]):
        L["o"] = L["o"][:3] + (False,)
        if cfg.get("use_parallel_residual", False):
            L.update(parallel=True, norm2=None)
        if cfg.get("qk_layernorm", False):
            b = "model.layers.%d.self_attn." % i
            L["qk_norm"] = ("each", "layer0", b + "q_layernorm.norms.%d", b + "k_layernorm.norms.%d", P["norm"][1])
    return P


def plan_starcoder2(cfg, n):
    P = llama_like(dict(cfg, use_bias=cfg.get("use_bias", True)), n, tied=True, bias_key="use_bias")
    d, ff, bias = P["d"], cfg["intermediate_size"], cfg.get("use_bias", True)
    P["norm"] = ("layer", cfg.get("norm_epsilon", 1e-5))
    for i, L in enumerate(P["layers"]):
        b = "model.layers.%d.mlp." % i
        L.update({"in": (b + "c_fc", ff, d, bias), "out": (b + "c_proj", d, ff, bias),
                  "act": cfg.get("hidden_act", "gelu_pytorch_tanh")})
        del L["gate"]
    slide(P, cfg, ["sliding_attention" if cfg.get("sliding_window") else ""] * len(P["layers"]))
    return P


def plan_gptj(cfg, n):
    d, h, ff = cfg["n_embd"], cfg["n_head"], cfg.get("n_inner") or 4 * cfg["n_embd"]
    rope = frequencies(cfg, cfg.get("rotary_dim", 64), 10000.0, {}, n) + (True,)
    P = {"d": d, "vocab": cfg["vocab_size"], "norm": ("layer", cfg.get("layer_norm_epsilon", 1e-5)),
         "embed": "transformer.wte", "final": "transformer.ln_f",
         "unembed": "lm_head", "unembed_bias": True, "layers": []}
    for i in range(cfg["n_layer"]):
        b = "transformer.h.%d." % i
        L = {c: (b + "attn.%s_proj" % c, d, d, False) for c in "qkv"}
        L.update({"heads": (h, h, d // h), "norm1": b + "ln_1", "norm2": None, "parallel": True,
                  "o": (b + "attn.out_proj", d, d, False), "rope": rope,
                  "scale": 1 / math.sqrt(d // h), "in": (b + "mlp.fc_in", ff, d, True),
                  "out": (b + "mlp.fc_out", d, ff, True),
                  "act": cfg.get("activation_function", "gelu_new")})
        P["layers"].append(L)
    return P


def plan_opt(cfg, n):
    d, h, ff, bias = cfg["hidden_size"], cfg["num_attention_heads"], cfg["ffn_dim"], cfg.get("enable_bias", True)
    narrow, before = cfg.get("word_embed_proj_dim") or d, cfg.get("do_layer_norm_before", True)
    t = "model.decoder."
    P = {"d": d, "vocab": cfg["vocab_size"], "norm": ("layer" if cfg.get("layer_norm_elementwise_affine", True)
                                                      else "plain", 1e-5), "embed": t + "embed_tokens",
         "narrow": narrow, "pos": (t + "embed_positions", cfg["max_position_embeddings"] + 2, 2),
         "final": t + "final_layer_norm" if before and not cfg.get("_remove_final_layer_norm", False) else None,
         "unembed": t + "embed_tokens" if cfg.get("tie_word_embeddings", True) else "lm_head", "layers": []}
    if narrow != d:
        P["project_in"], P["project_out"] = (t + "project_in", d, narrow, False), (t + "project_out", narrow, d, False)
    for i in range(cfg["num_hidden_layers"]):
        b = t + "layers.%d." % i
        L = {c: (b + "self_attn.%s_proj" % c, d, d, bias) for c in "qkv"}
        L.update({"heads": (h, h, d // h), "norm1": b + "self_attn_layer_norm", "norm2": b + "final_layer_norm",
                  "after": not before,
                  "o": (b + "self_attn.out_proj", d, d, bias), "rope": None, "scale": 1 / math.sqrt(d // h),
                  "in": (b + "fc1", ff, d, bias), "out": (b + "fc2", d, ff, bias),
                  "act": cfg.get("activation_function", "relu")})
        P["layers"].append(L)
    return P


def interleaved(h, hd):
    return np.arange(3 * h * hd).reshape(h, 3, hd).transpose(1, 0, 2).reshape(3, -1)


def plan_bloom(cfg, n):
    d, h, t = cfg["hidden_size"], cfg["n_head"], cfg.get("prefix", "transformer.")
    P = {"d": d, "vocab": cfg["vocab_size"], "norm": ("layer", cfg.get("layer_norm_epsilon", 1e-5)),
         "embed": t + "word_embeddings",
         "embed_norm": t + "word_embeddings_layernorm", "final": t + "ln_f", "unembed": t + "word_embeddings",
         "layers": []}
    for i in range(cfg["n_layer"]):
        b = t + "h.%d." % i
        P["layers"].append({
            "heads": (h, h, d // h), "norm1": b + "input_layernorm", "norm2": b + "post_attention_layernorm",
            "qkv": (b + "self_attention.query_key_value", 3 * d, d, True),
            "rows": interleaved(h, d // h), "o": (b + "self_attention.dense", d, d, True), "rope": None,
            "scale": 1 / math.sqrt(d // h),
            "bias": alibi(h, n), "residual_norm": cfg.get("apply_residual_connection_post_layernorm", False),
            "in": (b + "mlp.dense_h_to_4h", 4 * d, d, True), "out": (b + "mlp.dense_4h_to_h", d, 4 * d, True),
            "act": "bloom_gelu"})
    return P


def plan_falcon(cfg, n):
    d, h = cfg["hidden_size"], cfg["num_attention_heads"]
    hd, ff, bias, new = d // h, cfg.get("ffn_hidden_size") or 4 * d, cfg.get("bias", False), cfg.get(
        "new_decoder_architecture", False)
    parallel, norms = cfg.get("parallel_attn", True), cfg.get("num_ln_in_parallel_attn") or (2 if new else 1)
    if new:
        kv = cfg.get("num_kv_heads") or h
        rows = np.arange((h + 2 * kv) * hd).reshape(kv, -1)
        rows = [rows[:, :-2 * hd].reshape(-1), rows[:, -2 * hd:-hd].reshape(-1), rows[:, -hd:].reshape(-1)]
    elif cfg.get("multi_query", True):
        kv, rows = 1, np.split(np.arange((h + 2) * hd), [h * hd, (h + 1) * hd])
    else:
        kv, rows = h, interleaved(h, hd)
    base, _, scaling = rope_keys(cfg, 10000.0)
    bias_rows = alibi(h, n, rounded=True) / math.sqrt(hd) if cfg.get("alibi", False) else None
    P = {"d": d, "vocab": cfg["vocab_size"], "norm": ("layer", cfg.get("layer_norm_epsilon", 1e-5)),
         "embed": "transformer.word_embeddings", "final": "transformer.ln_f",
         "unembed": "transformer.word_embeddings" if cfg.get("tie_word_embeddings", True) else "lm_head", "layers": []}
    for i in range(cfg["num_hidden_layers"]):
        b = "transformer.h.%d." % i
        two = new and norms == 2
        P["layers"].append({
            "heads": (h, kv, hd), "norm1": b + ("ln_attn" if two else "input_layernorm"),
            "norm2": b + "ln_mlp" if two else None if parallel else b + "post_attention_layernorm",
            "parallel": parallel,
            "qkv": (b + "self_attention.query_key_value", (h + 2 * kv) * hd, d, bias), "rows": rows,
            "o": (b + "self_attention.dense", d, d, bias),
            "rope": None if bias_rows is not None else frequencies(cfg, hd, base, scaling, n) + (False,),
            "scale": 1 / math.sqrt(hd), "bias": bias_rows,
            "in": (b + "mlp.dense_h_to_4h", ff, d, bias), "out": (b + "mlp.dense_4h_to_h", d, ff, bias),
            "act": cfg.get("activation", "gelu")})
    return P


PLANS = {"llama": plan_llama, "mistral": plan_mistral, "qwen2": plan_qwen2, "qwen3": plan_qwen3, "gemma": plan_gemma,
         "gemma2": plan_gemma2, "gemma3_text": plan_gemma3, "phi3": plan_phi3,
         "phi": plan_phi, "olmo2": plan_olmo2, "smollm3": plan_smollm3, "granite": plan_granite,
         "stablelm": plan_stablelm, "starcoder2": plan_starcoder2,
         "gptj": plan_gptj, "opt": plan_opt, "bloom": plan_bloom, "falcon": plan_falcon}


def plan(cfg, n):
    return PLANS[cfg["model_type"]](cfg, n)


# --------------------------------------------------------------------- forward

ACT = {"silu": lambda x: x * torch.sigmoid(x), "relu": torch.relu,
       "gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
       "gelu_new": g.gelu_new, "gelu_pytorch_tanh": g.gelu_new,
       "bloom_gelu": lambda x: 0.5 * x * (1 + torch.tanh(0.79788456 * x * (1 + 0.044715 * x * x)))}


def normalise(p, kind, eps, name, x):
    if kind == "rms":
        return g.rms_norm(x, p[name + ".weight"], eps)
    if kind == "rms1":
        return g.rms_norm(x, 1 + p[name + ".weight"], eps)
    one = torch.ones(x.shape[-1], dtype=x.dtype)
    return g.layer_norm(x, p.get(name + ".weight", one), p.get(name + ".bias", one * 0), eps)


def turn(x, rope):
    """Rotate the first 2 * len(speed) numbers of each head; pairs (i, i + half) or, interleaved, (2 i, 2 i + 1)."""
    if rope is None:
        return x
    speed, grow, together = rope
    angle = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64), torch.from_numpy(speed))
    cos, sin = ((fn(angle) * grow).to(x.dtype) for fn in (torch.cos, torch.sin))
    m = len(speed)
    a, b = (x[..., 0:2 * m:2], x[..., 1:2 * m:2]) if together else (x[..., :m], x[..., m:2 * m])
    a, b = a * cos - b * sin, b * cos + a * sin
    front = torch.stack([a, b], dim=-1).flatten(-2) if together else torch.cat([a, b], dim=-1)
    return torch.cat([front, x[..., 2 * m:]], dim=-1)


def forward(w, cfg, ids, dtype):
    n = len(ids)
    P, p = plan(cfg, n), {k: torch.from_numpy(v).to(dtype) for k, v in w.items()}
    norm = lambda name, x: normalise(p, *P["norm"], name, x)
    linear = lambda row, x: f.linear(p, row[0], x)
    x = p[P["embed"] + ".weight"][ids]
    if "project_in" in P:
        x = linear(P["project_in"], x)
    if "pos" in P:
        x = x + p[P["pos"][0] + ".weight"][P["pos"][2]:P["pos"][2] + n]
    x = x * P.get("embed_scale", 1.0)
    if "embed_norm" in P:
        x = norm(P["embed_norm"], x)
    r = dict({k: [] for k in f.KEYS + EXTRA[:4]}, embeddings=x)
    for L in P["layers"]:
        (h, kv, hd), before = L["heads"], not L.get("after")
        a = norm(L["norm1"], x) if before and L["norm1"] else x
        if "qkv" in L:
            y = linear(L["qkv"], a)
            q, k, v = (y[:, torch.as_tensor(rows)] for rows in L["rows"])
        else:
            q, k, v = (linear(L[c], a) for c in "qkv")
        scope, kind, *names = L.get("qk_norm") or ("", "")
        if scope == "whole":
            q, k = (normalise(p, kind, names[2], name, t) for name, t in zip(names, (q, k)))
        q, k, v = f.heads(q, h), f.heads(k, kv), f.heads(v, kv)
        if scope == "head":
            q, k = (normalise(p, kind, names[2], name, t) for name, t in zip(names, (q, k)))
        if scope == "each":
            q, k = (torch.stack([normalise(p, kind, names[2], name % c, row) for c, row in enumerate(t)])
                    for name, t in zip(names, (q, k)))
        q, k = turn(q, L["rope"]), turn(k, L["rope"])
        kk, vv = (t.repeat_interleave(h // kv, dim=0) for t in (k, v))
        scores = q @ kk.transpose(1, 2) * L["scale"]
        if L.get("bias") is not None:
            scores = scores + torch.from_numpy(L["bias"]).to(dtype)[:, None, :]
        if L.get("cap"):
            scores = L["cap"] * torch.tanh(scores / L["cap"])
        scores, pattern = f.masked_softmax(scores, L.get("window") or n)
        z = pattern @ vv
        attn = linear(L["o"], z.transpose(0, 1).reshape(n, h * hd))
        added = L.get("mult", 1.0) * (norm(L["post1"], attn) if "post1" in L else attn)
        middle = (a if L.get("residual_norm") else x) + added
        if not before:
            middle = norm(L["norm1"], middle)
        source = x if L.get("parallel") else middle
        b = (norm(L["norm2"], source) if L["norm2"] else a if L.get("parallel") else source) if before else middle
        if "gate_in" in L:
            gate, up = linear(L["gate_in"], b).chunk(2, dim=-1)
            m = ACT[L["act"]](gate) * up
        else:
            m = (ACT[L["act"]](linear(L["gate"], b)) * linear(L["in"], b) if "gate" in L
                 else ACT[L["act"]](linear(L["in"], b)))
        mlp = linear(L["out"], m)
        more = L.get("mult", 1.0) * (norm(L["post2"], mlp) if "post2" in L else mlp)
        x = (b if L.get("residual_norm") else middle) + more
        if not before:
            x = norm(L["norm2"], x)
        for key, val in zip(f.KEYS + EXTRA[:4], (q, k, v, scores, pattern, z, attn, mlp, x, a, b, added, more)):
            r[key].append(val)
    r = f.collect(r)
    r["final_norm"] = y = norm(P["final"], x) if P["final"] else x
    if "project_out" in P:
        r["final_out"] = y = linear(P["project_out"], y)
    y = linear((P["unembed"],), y) * P.get("logit_scale", 1.0)
    r["logits"] = P["cap"] * torch.tanh(y / P["cap"]) if P.get("cap") else y
    return r


def extras(P):
    """Which additional arrays say something new for this plan."""
    out = [k for k in ("norm1", "norm2") if all(L[k] and not L.get("after") for L in P["layers"])]
    if any("post1" in L or L.get("mult", 1.0) != 1.0 for L in P["layers"]):
        out += ["attn_added", "mlp_added"]
    return tuple(out) + (("final_out",) if "project_out" in P else ())


# --------------------------------------------------------------------- weights

def weights(cfg, seed, sharp=1.5, embed=0.3, loud=1.6):
    P, r, w = plan(cfg, 1), f.Draw(seed), {}
    d = P["d"]

    def norm(name, size, kind=None, strong=0.0):
        kind = kind or P["norm"][0]
        if kind == "plain":
            return
        draw = r.normal(size, std=0.2) + strong
        w[name + ".weight"] = (draw if kind == "rms1" else 1 + draw).astype(np.float32)
        if kind == "layer":
            w[name + ".bias"] = r.normal(size, std=0.1)

    def linear(row, std=1.0):
        r.linear(w, *row, std=std / math.sqrt(row[2]))
        if row[3]:
            w[row[0] + ".bias"] *= 3

    w[P["embed"] + ".weight"] = r.normal(P["vocab"], P.get("narrow", d), std=embed)
    if "pos" in P:
        w[P["pos"][0] + ".weight"] = r.normal(P["pos"][1], d, std=embed)
    for row in ("project_in", "project_out"):
        if row in P:
            linear(P[row], 1.4)
    if "embed_norm" in P:
        norm(P["embed_norm"], d)
    for L in P["layers"]:
        h, kv, hd = L["heads"]
        for key in ("norm1", "norm2", "post1", "post2"):
            if L.get(key):
                norm(L[key], d)
        for key in ("q", "k", "v", "qkv", "o", "gate", "in", "gate_in", "out"):
            if key in L:
                linear(L[key], {"q": sharp, "k": sharp, "o": loud, "out": loud}.get(key, 1.0))
        if "qkv" in L:
            for rows in L["rows"][:2]:
                w[L["qkv"][0] + ".weight"][rows] *= np.float32(sharp)
        scope, kind, *names = L.get("qk_norm") or ("", "")
        for name, count in zip(names[:2], (h, kv)):
            for c in range(count if scope == "each" else 1):
                norm(name % c if scope == "each" else name, count * hd if scope == "whole" else hd, kind,
                     strong=sharp - 1)
    if P["final"]:
        norm(P["final"], d)
    if P["unembed"] != P["embed"]:
        linear((P["unembed"], P["vocab"], d, bool(P.get("unembed_bias"))), 1.5)
    return {k: np.ascontiguousarray(v, dtype=np.float32) for k, v in w.items()}


# ----------------------------------------------------------------- checkpoints

def continuation(w, cfg, ids, count=12):
    """Greedy ids, and the smallest distance between the two largest logits."""
    seq, margin = list(ids), math.inf
    for _ in range(count):
        top = torch.topk(forward(w, cfg, seq, torch.float64)["logits"][-1], 2)
        margin = min(margin, float(top.values[0] - top.values[1]))
        seq.append(int(top.indices[0]))
    return seq[len(ids):], margin


def checkpoint(out, name, cfg, seed, bpe, dtype, text, train, json_tokenizer=False, mixed=None, buffers=None, **how):
    path = os.path.join(out, "checkpoints", name)
    for seed in range(seed, seed + 60000, 1000):           # the first seed whose continuation is neither dull nor close
        w = weights(cfg, seed, **how)
        kinds = {k: mixed if mixed and v.ndim == 1 else dtype for k, v in w.items()}
        w = {k: g.stored({k: v}, kinds[k])[k] for k, v in w.items()}
        ids, margin = continuation(w, cfg, bpe.encode(text))
        if len(set(ids)) > 3 and margin > 0.01:
            break
    else:
        raise SystemExit("no seed for " + name)
    saved = {k: v for k, v in cfg.items() if k != "prefix"}
    g.save_checkpoint_meta(path, saved, bpe)
    if json_tokenizer:
        for old in ("vocab.json", "merges.txt"):
            os.remove(os.path.join(path, old))
        with open(os.path.join(path, "tokenizer.json"), "w") as file:
            json.dump(f.tokenizer_json(bpe, cfg["vocab_size"]), file, ensure_ascii=False, indent=1)
    stored = dict({k: (kinds[k], x) for k, x in sorted(w.items())}, **(buffers or {}))
    g.save_file(os.path.join(path, "model.safetensors"), g.safetensors_bytes(stored, {"format": "pt"}))
    keep, g.DETAIL = g.DETAIL, g.DETAIL + extras(plan(cfg, 1))
    try:
        g.save_expected(path, forward, w, cfg, bpe, text, checks=train)
    finally:
        g.DETAIL = keep


def common(model_type, arch, vocab, dtype="float32", **keys):
    """The keys every config.json has; newer writers say dtype, older ones torch_dtype."""
    return dict({"architectures": [arch], "attention_dropout": 0.0, "bos_token_id": vocab - 1,
                 "eos_token_id": vocab - 1, "initializer_range": 0.02,
                 "model_type": model_type, "pad_token_id": None, "torch_dtype": dtype, "transformers_version": "4.57.5",
                 "use_cache": True,
                 "vocab_size": vocab}, **keys)


def gptj(vocab, dtype, **keys):
    return {k: v for k, v in common("gptj", "GPTJForCausalLM", vocab, dtype, **keys).items()
            if k != "attention_dropout"}


def sizes(layers, h, kv, d, ff, context=64, hd=None):
    keys = {"hidden_size": d, "intermediate_size": ff, "max_position_embeddings": context, "num_attention_heads": h,
            "num_hidden_layers": layers,
            "num_key_value_heads": kv}
    return dict(keys, head_dim=hd) if hd else keys


S, F = "sliding_attention", "full_attention"
TEXT = "the cat sat on the mat and the cat ran to the man; then the man and that cat ate"


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    torch.set_num_threads(1)
    bpe = g.Bpe(f.TRAIN, 64)
    v = 64

    def make(name, cfg, seed, dtype="F32", **how):
        checkpoint(out, name, cfg, seed, bpe, dtype, TEXT, f.TRAIN, **how)

    make("mistral-a", common("mistral", "MistralForCausalLM", v, **sizes(3, 4, 2, 32, 56, hd=8), hidden_act="silu",
                             rms_norm_eps=1e-05, rope_theta=10000.0,
                             sliding_window=7, tie_word_embeddings=False), 101, "F16")
    make("qwen3-a", common("qwen3", "Qwen3ForCausalLM", v, "bfloat16", **sizes(3, 4, 2, 32, 48, hd=12),
                           attention_bias=False, hidden_act="silu", layer_types=[F, F, F],
                           max_window_layers=3, rms_norm_eps=1e-06, rope_scaling=None, rope_theta=1000000.0,
                           sliding_window=None, tie_word_embeddings=True,
                           use_sliding_window=False), 102, "BF16")
    make("qwen2-window-a", common("qwen2", "Qwen2ForCausalLM", v, **sizes(3, 4, 2, 32, 48), hidden_act="silu",
                                  max_window_layers=1, rms_norm_eps=1e-06, rope_theta=1000000.0,
                                  sliding_window=6, tie_word_embeddings=False, use_sliding_window=True), 125, "F16")
    make("gemma-a", common("gemma", "GemmaForCausalLM", v, "bfloat16", **sizes(2, 4, 1, 48, 64, hd=16),
                           attention_bias=False, hidden_act="gelu_pytorch_tanh",
                           hidden_activation=None, rms_norm_eps=1e-06, rope_theta=10000.0, tie_word_embeddings=True),
                           103, "BF16", embed=0.08)
    make("gemma2-a", common("gemma2", "Gemma2ForCausalLM", v, **sizes(3, 4, 2, 32, 48, hd=12), attention_bias=False,
                            attn_logit_softcapping=4.0,
                            final_logit_softcapping=1.0, hidden_act="gelu_pytorch_tanh",
                            hidden_activation="gelu_pytorch_tanh", layer_types=[S, F, S],
                            query_pre_attn_scalar=20, rms_norm_eps=1e-06, rope_theta=10000.0, sliding_window=6,
                            tie_word_embeddings=True), 104, "F16", embed=0.08)
    make("gemma3-a", common("gemma3_text", "Gemma3ForCausalLM", v, "bfloat16", **sizes(4, 4, 2, 32, 48, hd=8),
                            attention_bias=False, attn_logit_softcapping=None,
                            final_logit_softcapping=None, hidden_activation="gelu_pytorch_tanh",
                            layer_types=[S, S, F, S], query_pre_attn_scalar=12,
                            rms_norm_eps=1e-06, rope_local_base_freq=100.0,
                            rope_scaling={"factor": 8.0, "rope_type": "linear"}, rope_theta=1000000.0, sliding_window=5,
                            tie_word_embeddings=True, use_bidirectional_attention=False), 105, "BF16", embed=0.1)
    make("phi3-a", common("phi3", "Phi3ForCausalLM", v, "bfloat16", **sizes(2, 4, 2, 32, 56), embd_pdrop=0.0,
                          hidden_act="silu", original_max_position_embeddings=64,
                          partial_rotary_factor=1.0, resid_pdrop=0.0, rms_norm_eps=1e-05, rope_scaling=None,
                          rope_theta=10000.0, sliding_window=9,
                          tie_word_embeddings=False), 106, "BF16")
    make("phi3-longrope-a", common("phi3", "Phi3ForCausalLM", v, "bfloat16", **sizes(2, 4, 4, 32, 48, context=96),
                                   embd_pdrop=0.0, hidden_act="silu",
                                   original_max_position_embeddings=16, partial_rotary_factor=0.75, resid_pdrop=0.0,
                                   rms_norm_eps=1e-05,
                                   rope_scaling={"long_factor": [1.0, 2.5, 6.0], "short_factor": [1.0, 1.1, 1.5],
                                                 "type": "longrope"}, rope_theta=10000.0,
                                   sliding_window=None, tie_word_embeddings=True), 107, "BF16")
    make("phi-a", common("phi", "PhiForCausalLM", v, "float16", **sizes(2, 4, 4, 32, 64), embd_pdrop=0.0,
                         hidden_act="gelu_new", layer_norm_eps=1e-05,
                         partial_rotary_factor=0.5, qk_layernorm=False, resid_pdrop=0.0, rope_scaling=None,
                         rope_theta=10000.0, tie_word_embeddings=False), 108, "F16")
    make("olmo2-a", common("olmo2", "Olmo2ForCausalLM", v, "bfloat16", **sizes(3, 4, 4, 32, 48), attention_bias=False,
                           hidden_act="silu", rms_norm_eps=1e-06,
                           rope_scaling=None, rope_theta=500000, tie_word_embeddings=False), 109, "BF16", sharp=1.7)
    make("gptj-a", gptj(v, "float16", activation_function="gelu_new", attn_pdrop=0.0, embd_pdrop=0.0,
                        layer_norm_epsilon=1e-05, n_embd=32,
                          n_head=2, n_inner=None, n_layer=2, n_positions=64, resid_pdrop=0.0, rotary=True, rotary_dim=8,
                          scale_attn_weights=True,
                          tie_word_embeddings=False), 110, "F16")
    make("opt-a", common("opt", "OPTForCausalLM", v, "float16", _remove_final_layer_norm=False,
                         activation_function="relu", do_layer_norm_before=True, dropout=0.1,
                         enable_bias=True, ffn_dim=80, hidden_size=32, init_std=0.02,
                         layer_norm_elementwise_affine=True, layerdrop=0.0, max_position_embeddings=64,
                         num_attention_heads=4, num_hidden_layers=2, word_embed_proj_dim=32), 111, "F16")
    make("opt-post-a", common("opt", "OPTForCausalLM", v, "float16", _remove_final_layer_norm=False,
                              activation_function="relu", do_layer_norm_before=False, dropout=0.1,
                              enable_bias=True, ffn_dim=64, hidden_size=32, init_std=0.02,
                              layer_norm_elementwise_affine=True, layerdrop=0.0,
                              max_position_embeddings=64, num_attention_heads=4, num_hidden_layers=2,
                              word_embed_proj_dim=20), 112, "F16")
    make("smollm3-a", common("smollm3", "SmolLM3ForCausalLM", v, "bfloat16", **sizes(4, 4, 2, 32, 48),
                             attention_bias=False, hidden_act="silu",
                             layer_types=[F, F, F, F], mlp_bias=False, no_rope_layer_interval=4,
                             no_rope_layers=[1, 0, 1, 0], rms_norm_eps=1e-06, rope_scaling=None,
                             rope_theta=5000000.0, sliding_window=None, tie_word_embeddings=True,
                             use_sliding_window=False), 113, "BF16")
    make("granite-a", common("granite", "GraniteForCausalLM", v, "bfloat16", **sizes(2, 4, 2, 32, 56),
                             attention_bias=False, attention_multiplier=0.25,
                             embedding_multiplier=4.0, hidden_act="silu", logits_scaling=1.5, mlp_bias=False,
                             residual_multiplier=0.44, rms_norm_eps=1e-05,
                             rope_scaling=None, rope_theta=10000.0, tie_word_embeddings=True), 114, "BF16", embed=0.08)
    make("bloom-a", common("bloom", "BloomForCausalLM", v, "float16", apply_residual_connection_post_layernorm=False,
                           hidden_dropout=0.0, hidden_size=32,
                           layer_norm_epsilon=1e-05, n_head=4, n_layer=2, pretraining_tp=1, slow_but_exact=False), 115,
                           "F16", loud=3.0)
    make("falcon-a", common("falcon", "FalconForCausalLM", v, "bfloat16", activation="gelu", alibi=False, bias=False,
                            ffn_hidden_size=128, hidden_dropout=0.0,
                            hidden_size=32, layer_norm_epsilon=1e-05, max_position_embeddings=64, multi_query=True,
                            new_decoder_architecture=False, num_attention_heads=4,
                            num_hidden_layers=2, num_kv_heads=4, num_ln_in_parallel_attn=None, parallel_attn=True,
                            rope_scaling=None, rope_theta=10000.0), 116, "BF16")
    make("falcon-new-a", common("falcon", "FalconForCausalLM", v, "bfloat16", activation="gelu", alibi=False,
                                bias=False, ffn_hidden_size=96, hidden_dropout=0.0,
                                hidden_size=32, layer_norm_epsilon=1e-05, max_position_embeddings=64, multi_query=True,
                                new_decoder_architecture=True,
                                num_attention_heads=4, num_hidden_layers=2, num_kv_heads=2, num_ln_in_parallel_attn=2,
                                parallel_attn=True, rope_scaling=None,
                                rope_theta=10000.0), 117, "BF16")
    make("falcon-alibi-a", common("falcon", "FalconForCausalLM", v, "bfloat16", activation="gelu", alibi=True,
                                  bias=True, ffn_hidden_size=96, hidden_dropout=0.0,
                                  hidden_size=32, layer_norm_epsilon=1e-05, max_position_embeddings=64,
                                  multi_query=False, new_decoder_architecture=False,
                                  num_attention_heads=4, num_hidden_layers=2, num_kv_heads=4,
                                  num_ln_in_parallel_attn=None, parallel_attn=False, rope_scaling=None,
                                  rope_theta=10000.0), 118, "BF16")
    make("stablelm-a", common("stablelm", "StableLmForCausalLM", v, "bfloat16", **sizes(2, 2, 2, 32, 56),
                              hidden_act="silu", hidden_dropout=0.0, layer_norm_eps=1e-05,
                              partial_rotary_factor=0.25, qk_layernorm=False, rope_scaling=None, rope_theta=10000,
                              tie_word_embeddings=False,
                              use_parallel_residual=False, use_qkv_bias=True), 119, "BF16")
    make("starcoder2-a", common("starcoder2", "Starcoder2ForCausalLM", v, "bfloat16", **sizes(2, 4, 2, 32, 80),
                                embedding_dropout=0.0, hidden_act="gelu_pytorch_tanh",
                                norm_epsilon=1e-05, residual_dropout=0.0, rope_scaling=None,
                                rope_theta=999999.4420358813, sliding_window=8, use_bias=True),
         120, "BF16")
    llama = lambda **keys: common("llama", "LlamaForCausalLM", v, "bfloat16", attention_bias=False, hidden_act="silu",
                                  mlp_bias=False, pretraining_tp=1,
                                  rms_norm_eps=1e-05, tie_word_embeddings=False, **keys)
    make("llama-linear-a", llama(**sizes(2, 4, 2, 32, 48), rope_scaling={"factor": 4.0, "rope_type": "linear"},
                                 rope_theta=10000.0), 121, "BF16")
    make("llama-llama3-a", llama(**sizes(2, 4, 2, 32, 48, context=128), rope_theta=500000.0, rope_scaling={
        "factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 64,
        "rope_type": "llama3"}), 122, "BF16")
    make("llama-yarn-a", llama(**sizes(2, 4, 2, 32, 48, context=64), rope_theta=10000.0, rope_scaling={
        "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 4.0, "beta_slow": 0.5,
        "rope_type": "yarn"}), 123, "BF16")
    make("llama-dynamic-a", llama(**sizes(2, 4, 2, 32, 48, context=64), rope_theta=10000.0,
                                  rope_scaling={"factor": 2.0, "rope_type": "dynamic"}), 124, "BF16")


if __name__ == "__main__":
    main()
