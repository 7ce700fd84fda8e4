"""Long questions: a story of which one sentence asks.

What is told around a question weighs as much as the question itself wherever terms are summed: a story of
120 words is found by where it plays. The sentences that ask are therefore read twice.
"""

from __future__ import annotations

import re

from rag.text.highlight import sentences

LONG = 60  # words, of three sentences or more
_ASKS = re.compile(r"\?\W*$")


def repeat_asked(question: str) -> str:
    """Return a long question with the sentences that ask once more behind it; others as they are.

    Of a story without a question mark the last sentence is taken. Tried on 120 stories, half German and half
    French (docs/results.md); text without blanks, such as Chinese, is left alone.
    """
    if len(question.split()) < LONG:
        return question
    told = [question[start:end].strip() for start, end in sentences(question)]
    if len(told) < 3:
        return question
    return " ".join((question, *([each for each in told if _ASKS.search(each)] or told[-1:])))
