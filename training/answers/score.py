"""What answers are worth: citations, refusals, faithfulness; computed here, not by the checks' own code.

Conventions, spelt out because they differ between publications:

- A *citation* is a sentence's mention of an article; an answer's cited articles are a set. Citation
  precision, recall and F1 are those of this set against the gold set, a mean over all questions with
  gold articles; an answer that cites nothing, a refusal or a failure among them, counts 0.
- An *invented* citation names an article that the model was not given. Before the checks: of all
  sentences that the model wrote; after them: of those that a reader sees. A passage of law is a sentence that
  cites and quotes its article.
- *Refusing is right* where no article answers, or some gold article is missing from the context.
- A sentence is *faithful by quote* if every article it cites was given and is quoted: after the checks,
  its passages lie inside that article and are not blank; before them, the quote the model gave stands in
  the article letter by letter, but for blanks.
- *words quoted* is the share of a sentence's terms that stand in its passages.

Shares of sentences or citations are taken over all of them together, and resampled by question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from rag.answer.types import ClaimPart, Ending, Statement
from rag.types import Article
from training.answers.run import WrittenAnswer

Values = npt.NDArray[np.float64]
Ratio = tuple[Values, Values]  # numerators and denominators, one a question
CITATION = ("citation P", "citation R", "citation F1")


def citations(written: Sequence[WrittenAnswer]) -> dict[str, Values]:
    """Return citation precision, recall and F1 of every question that has gold articles.

    Of what a reader sees; F1 also of what was written, before the checks.
    """
    rows, unfiltered = [], []
    for w in written:
        if gold := set(w.context.question.article_ids):
            cited = {article_id for s in w.sentences for article_id in s.article_ids}
            rows.append(_prf(cited, gold))
            stopped = (r.statement.article_ids for r in w.answer.removed)
            unfiltered.append(_prf(cited.union(*stopped), gold)[2])
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return {name: table[:, n] for n, name in enumerate(CITATION)} | {
        "citation F1 before": np.array(unfiltered)
    }


def invented(written: Sequence[WrittenAnswer]) -> dict[str, Ratio]:
    """Return invented citations and all citations of every question, before and after the checks."""
    unfiltered, after = [], []
    for w in written:
        shown = [set(s.article_ids) for s in w.sentences]
        # of what was stopped also those that are named as the place of a quote alone
        stopped = [
            {*r.statement.article_ids, *(q.article_id for q in r.statement.quotes)} for r in w.answer.removed
        ]
        after.append(_outside(shown, w.seen))
        unfiltered.append(_outside([*shown, *stopped], w.seen))
    return {"invented before": _ratio(unfiltered), "invented after": _ratio(after)}


def refusals(written: Sequence[WrittenAnswer]) -> dict[str, Ratio]:
    """Return refusal precision, recall and F1, as numerators and denominators of every question."""
    right = np.array([not w.context.complete for w in written], dtype=np.float64)
    refused = np.array([w.answer.ending == Ending.REFUSED for w in written], dtype=np.float64)
    both = right * refused
    return {
        "refusal P": (both, refused),
        "refusal R": (both, right),
        "refusal F1": (2 * both, refused + right),
    }


def faithful(written: Sequence[WrittenAnswer]) -> dict[str, Ratio]:
    """Return sentences that are faithful by quote and all sentences, before and after the checks."""
    unfiltered, after = [], []
    for w in written:
        good = sum(quoted(s, w.seen) for s in w.sentences)
        removed = sum(quotes_stand(r.statement, w.seen) for r in w.answer.removed)
        after.append((good, len(w.sentences)))
        unfiltered.append((good + removed, len(w.sentences) + len(w.answer.removed)))
    return {"faithful before": _ratio(unfiltered), "faithful after": _ratio(after)}


def words_quoted(written: Sequence[WrittenAnswer], terms: Callable[[str], Sequence[str]]) -> dict[str, Ratio]:
    """Return how many of the sentences' terms stand in their passages, of every question."""
    rows = []
    for w in written:
        words = quoted = 0
        for sentence in w.sentences:
            own = set(terms(sentence.text))
            words += len(own)
            quoted += len(own & set(terms(" ".join(passages(sentence, w.seen)))))
        rows.append((quoted, words))
    return {"words quoted": _ratio(rows)}


def passages(sentence: ClaimPart, articles: Mapping[str, Article]) -> list[str]:
    """Return the texts of a sentence's passages; "" for one that lies outside its article."""
    found = []
    for p in sentence.passages:
        text = articles[p.article_id].text if p.article_id in articles else ""
        found.append(text[p.start : p.end] if 0 <= p.start < p.end <= len(text) else "")
    return found


def quoted(sentence: ClaimPart, articles: Mapping[str, Article]) -> bool:
    """Tell whether every article that a sentence cites has a passage, and every passage is one."""
    texts = passages(sentence, articles)
    covered = {p.article_id for p in sentence.passages}
    cited = set(sentence.article_ids)
    return bool(cited) and cited <= covered and all(text.strip() for text in texts)


def quotes_stand(statement: Statement, articles: Mapping[str, Article]) -> bool:
    """Tell whether every article that a statement cites is quoted, and every quote stands in its article."""
    cited = set(statement.article_ids)
    stand = all(
        q.article_id in articles and (own := _blanks(q.text)) and own in _blanks(articles[q.article_id].text)
        for q in statement.quotes
    )
    return bool(cited) and stand and cited <= {q.article_id for q in statement.quotes}


def _blanks(text: str) -> str:
    return " ".join(text.split())


def _outside(sentences: Sequence[set[str]], seen: Mapping[str, Article]) -> tuple[int, int]:
    cited = [article_id for ids in sentences for article_id in ids]
    return sum(article_id not in seen for article_id in cited), len(cited)


def _prf(cited: set[str], gold: set[str]) -> tuple[float, float, float]:
    both = len(cited & gold)
    return both / max(len(cited), 1), both / len(gold), 2 * both / (len(cited) + len(gold))


def _ratio(rows: Sequence[tuple[int, int]]) -> Ratio:
    table = np.array(rows, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
