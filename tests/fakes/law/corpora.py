"""Any corpus that could be: strategies for hypothesis."""

from __future__ import annotations

from datetime import date

from hypothesis import strategies as st

from indexes.corpus.corpus import Corpus
from indexes.corpus.extras import Extras
from rag.corpus.card import CorpusCard
from rag.types import Article, Question

CARD = CorpusCard(name="any", title="Any law", language="en", licence="CC0")
TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=30)
SAID = TEXT.filter(lambda text: bool(text.strip()))
NAME = st.text("abcXYZ019é-_.:%", min_size=1, max_size=6)  # what every format can hold as an id
MAYBE = st.none() | SAID
COLUMN = st.sampled_from(["authority", "regions", "paragraphs", "state"])
VALUE = (
    SAID
    | st.integers(1, 9)
    | st.lists(SAID, min_size=1, max_size=2)
    | st.dictionaries(SAID, SAID, min_size=1)
)
EXTRA = st.dictionaries(COLUMN, VALUE, min_size=1, max_size=2)


def _articles(id_: str) -> st.SearchStrategy[Article]:
    return st.builds(
        Article,
        id=st.just(id_),
        code=SAID,
        article_no=TEXT,
        text=SAID,
        headings=st.lists(TEXT, max_size=3).map(tuple),
        language=MAYBE,
        jurisdiction=MAYBE,
        law_type=MAYBE,
        region=MAYBE,
        url=MAYBE,
        valid_from=st.none() | st.dates(date(1804, 3, 21), date(2500, 1, 1)),
        valid_to=st.none() | st.dates(),
        references=st.lists(NAME, max_size=2, unique=True).map(tuple),
    )


def _questions(id_: str, articles: list[str]) -> st.SearchStrategy[Question]:
    return st.builds(
        Question,
        id=st.just(id_),
        text=SAID,
        article_ids=st.lists(st.sampled_from(articles), max_size=3, unique=True).map(tuple),
        category=MAYBE,
        answer=MAYBE,
        split=st.none() | st.sampled_from(["train", "test", "all", "a/b", "très"]),
    )


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """A corpus of up to four articles and four questions, with extra columns."""
    ids = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    asked = draw(st.lists(NAME, max_size=4, unique=True))
    extras: Extras = draw(st.dictionaries(st.sampled_from(ids), EXTRA, max_size=2))
    of_questions: Extras = draw(st.dictionaries(st.sampled_from(asked), EXTRA, max_size=2)) if asked else {}
    return Corpus(
        CARD,
        tuple(draw(_articles(id_)) for id_ in ids),
        tuple(draw(_questions(id_, ids)) for id_ in asked),
        extras,
        of_questions,
    )
