"""An engine small enough to read: five articles in our own words, answered by shared words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from rag.corpus.asker_situations import Situation, situations
from rag.corpus.card import Contact, CorpusCard, Elsewhere, LoadedLaw, Moved, Step
from rag.corpus.contents import Law
from rag.corpus.facts import Amount, ArticleFacts, TimeLimit
from rag.engine.engine import EncoderTraining
from rag.engine.result import Explanation, MeaningShare, Mode, Result, ResultPlace, SimilarQuestion
from rag.engine.topic_view import TopicCase
from rag.errors import DamagedIndex
from rag.graph.graph import Graph
from rag.retrieval.translation_model import KEEP_ALL, ExpansionTerm, Removed
from rag.text import SpellingCorrection, Token
from rag.types import Article, Filter, KnownItem, Question, Shown, Why, WordShare

QUESTION = "Mon voisin a planté un arbre contre ma clôture, que faire ?"
PATH = ("Livre II : Des biens", "Titre IV : Des servitudes", "Section 1 : Du mur et du fossé mitoyens")
SITE = "https://law.example/article/"

ARTICLES = (
    Article(
        "671",
        "Code civil",
        "671",
        "Un arbre de plus de deux mètres se plante à deux mètres au moins de la limite du voisin ; "
        "un plus petit, à un demi-mètre. Les règlements et les usages du lieu passent avant.",
        PATH,
        url=SITE + "671",
    ),
    Article(
        "672",
        "Code civil",
        "672",
        "Le voisin peut demander qu'un arbre planté trop près soit arraché ou raccourci.\n"
        + "Il ne le peut plus après trente ans. " * 12
        + "\nUn arbre mort ne se remplace qu'à la bonne distance.",
        PATH,
        url=SITE + "672",
    ),
    Article(
        "673", "Code civil", "673", "Les branches qui dépassent chez vous, le voisin doit les couper.", PATH
    ),
    Article(
        "1240",
        "Code civil",
        "1240",
        "Qui cause un dommage par sa faute le répare.",
        ("Livre III : Des manières d'acquérir", "Sous-titre II : La responsabilité extracontractuelle"),
        url=SITE + "1240",
    ),
    Article(
        "1382",
        "Code civil",
        "1382",
        "Le juge apprécie librement les présomptions.",
        ("Livre III : Des manières d'acquérir", "Chapitre III : Les modes de preuve"),
        url=SITE + "1382",
    ),
)

HOSTILE = (
    Article(
        '"><img src=x onerror=alert(1)>',
        "<script>alert(2)</script>",
        '1" onmouseover="alert(3)',
        "<img src=x onerror=alert(4)> arbre [a](javascript:alert(5)) $$x^2$$ <script>alert(6)</script> "
        "</p></div><iframe src='javascript:alert(7)'></iframe> :red[arbre] `code` &lt;b&gt; \x00\x07",
        ("<svg onload=alert(8)>", "**gras** [b](https://evil.example)"),
        language='fr" onclick="alert(9)',
        region="<b>Région</b>",
        url="javascript:alert(10)",
    ),
)

CARD = CorpusCard(
    name="civil",
    title="Code civil (fictif)",
    language="fr",
    jurisdiction="FR",
    licence="Licence Ouverte 2.0",
    licence_url="https://law.example/licence",
    source="Source: DILA, LEGI",
    law_date=date(2025, 1, 1),
    official_site="https://law.example/",
    text_kind="summary",
    contacts=(
        Contact("Point-justice", "https://law.example/point-justice", "39 39", "gratuit, près de chez vous"),
        Contact("Mairie", None, None, "permanences d'avocats"),
    ),
    examples=(QUESTION, "Les branches du voisin dépassent chez moi", "J'ai cassé la vitrine d'un magasin"),
)

EVIL = "<img src=x onerror=alert(11)> [c](javascript:alert(12)) $$y$$"
HOSTILE_CARD = CorpusCard(
    name="hostile",
    title=EVIL,
    language="fr",
    licence=EVIL,
    licence_url="javascript:alert(13)",
    source=EVIL,
    official_site="data:text/html,<script>alert(14)</script>",
    note=EVIL,
    contacts=(Contact(EVIL, "javascript:alert(15)", EVIL, EVIL),),
    examples=(EVIL,),
    elsewhere=(),
)

TENANCY = Elsewhere(
    "rent",
    {"fr": "Louer son logement", "en": "Renting a home"},
    "Loi du 6 juillet 1989",
    ("dépôt garantie",),
    {
        "fr": "Elle est rendue sous un mois si rien n'est abîmé. Sinon, le bailleur justifie ce qu'il garde.",
        "en": "The landlord gives the sum back within a month if nothing is damaged. Otherwise what is kept "
        "must be proved.",
    },
    "https://law.example/1989",
    deadline={
        "fr": "Vous avez trois ans à partir du jour où la somme devait être rendue.",
        "en": "You have three years from the day on which the sum was due.",
    },
    contact=Contact("Permanence du logement", phone="01 00 00 00 00"),
)
MOVED = Moved("Code civil", "1382", ("1240",), "2016-10-01", "réparer le dommage que l'on cause par sa faute")


class FakeAnalyser:
    """Words of four letters or more, in lower case, without a plural s."""

    id = "fake"
    language = "fr"

    def tokens(self, text: str) -> list[Token]:
        found = (m for m in re.finditer(r"\w{4,}", text))
        return [Token(m.start(), m.end(), m[0].lower().rstrip("s")) for m in found]

    def terms(self, text: str) -> list[str]:
        return [token.term for token in self.tokens(text)]


@dataclass(frozen=True)
class FakeInfo:
    name: str = "civil"
    version: str = "3"
    articles: int = 2889
    questions: int = 12
    corpus_sha256: str = "abc"
    encoder: str | None = "pandect-static-fr"
    built: str = "2026-11-20"
    encoder_knows: EncoderTraining = "fitted"


@dataclass(frozen=True)
class FakeFacets:
    codes: Mapping[str, int] = field(default_factory=lambda: {"Code civil": 5})
    law_types: Mapping[str, int] = field(default_factory=dict)
    regions: Mapping[str, int] = field(default_factory=dict)
    dated: bool = False


MANY_FACETS = FakeFacets(
    {"Code civil": 5, "Code rural": 2}, {"national": 6, "regional": 1}, {"Wallonie": 1, "Flandre": 1}, True
)


@dataclass
class FakeEngine:
    """Finds the articles that share a word with the question; remembers how it was asked."""

    card: CorpusCard = CARD
    info: FakeInfo = FakeInfo()
    articles: tuple[Article, ...] = ARTICLES
    offers: FakeFacets = FakeFacets()
    error: Exception | None = None
    fault: str = ""
    asked: list[tuple[str, int, Filter | None, Mode]] = field(default_factory=list)
    analyser: FakeAnalyser = field(default_factory=FakeAnalyser)
    modes: tuple[Mode, ...] = ("hybrid", "keyword", "meaning")
    confidence: float | None = None
    doubtful: bool = False
    answer_set: int | None = None
    topic: tuple[TopicCase, ...] = ()
    mended: tuple[SpellingCorrection, ...] = ()
    bridged: tuple[ExpansionTerm, ...] = ()
    without: list[Removed] = field(default_factory=list)
    searcher: SimpleNamespace = field(  # `app.py` makes an extractor of an engine's parts
        default_factory=lambda: SimpleNamespace(keyword=None, meaning=None)
    )

    situations: tuple[Situation, ...] = ()
    facts: Mapping[str, ArticleFacts] = field(default_factory=dict)
    graph: Graph | None = None
    missing: tuple[str, ...] = ()  # parts that do not answer
    other_law: Elsewhere = TENANCY
    like: str = "mon voisin a un arbre trop près, puis-je le faire couper"  # a question of the first article

    @property
    def silent(self) -> tuple[str, ...]:
        return self.missing

    def warm(self) -> None:
        """Nothing is slow here."""

    @cached_property
    def law(self) -> Law:
        asked = [Question("q1", "mon voisin a un arbre trop près, puis-je le faire couper", ("671", "672"))]
        return Law(self.articles, {"671": asked, "672": asked}, self.graph)

    def facets(self) -> FakeFacets:
        return self.offers

    def ask(
        self,
        question: str,
        *,
        k: int = 10,
        where: Filter | None = None,
        mode: Mode = "hybrid",
        without: Removed = KEEP_ALL,
    ) -> Result:
        self.asked.append((question, k, where, mode))
        self.without.append(without)
        if self.error is not None:
            raise self.error
        terms = frozenset(self.analyser.terms(question))
        admitted = [a for a in self.articles if where is None or where.admits(a)]
        if "1382" in question:
            item = KnownItem("article 1382", "1382", "Code civil", ("1382",), (MOVED,))
            by_id = {a.id: a for a in admitted}
            shown = (
                Shown(1, by_id["1382"], 1.0, Why(known=True)),
                Shown(2, by_id["1240"], 0.9, Why(moved_from="1382")),
            )
            return Result(question, "found", shown, (item,))
        if question == "seul article 672":
            item = KnownItem("article 672", "672", "Code civil", ("672",))
            [alone] = [Shown(1, a, 1.0, Why(known=True)) for a in admitted if a.id == "672"]
            return Result(question, "found", (alone,), (item,))
        if "9999" in question:
            return Result(question, "nothing", (), (KnownItem("article 9999", "9999", "Code civil", ()),))
        scored = [(len(terms & set(self.analyser.terms(a.text))), a) for a in admitted]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[:k]
        shown = tuple(
            Shown(rank, a, float(score), self._why(rank, a, terms)) for rank, (score, a) in enumerate(best, 1)
        )
        topics = (self.other_law,) if "dépôt" in question else ()
        if mode == "meaning":  # another order: from the end, and without the last
            shown = tuple(replace(s, rank=n) for n, s in enumerate(reversed(shown[:-1]), start=1))
        return Result(
            question,
            "found" if shown else "nothing",
            shown,
            (),
            topics,
            mode=mode,
            confidence=self.confidence,
            doubtful=self.doubtful,
            answer_set=self.answer_set,
            marked=self.answer_set == 1,
            topic=self.topic,
            missing=self.missing,
            mended=self.mended,
            bridged=tuple(p for p in self.bridged if (p.lay, p.law) not in without),
            without=without,
            in_force_on=where.in_force_on if where else None,
        )

    def explain(self, result: Result) -> list[Explanation]:
        return [explanation(shown) for shown in result.shown]

    def _why(self, rank: int, article: Article, terms: frozenset[str]) -> Why:
        asked = (self.like,) if rank == 1 else ()
        own = set(self.analyser.terms(article.text))
        law = frozenset(pair.law for pair in self.bridged) & own
        return Why(terms & own, {"bm25": rank, "dense": rank + 1}, asked, bridged=law)


def explanation(shown: Shown) -> Explanation:
    """Every shared word counts 2, three quarters of it in the text; ranks as they are told."""
    terms = sorted(shown.why.terms)
    return Explanation(
        shown.article.id,
        tuple(WordShare(term, term, 2.0, {"text": 1.5, "questions": 0.5}) for term in terms),
        0.5 if terms else None,
        (MeaningShare("clôture", "clôture", 0.59), MeaningShare("planté", "planté", -0.09)) if terms else (),
        tuple(ResultPlace(name, rank, 1 / (20 + rank)) for name, rank in sorted(shown.why.ranks.items())),
        tuple(SimilarQuestion(text, ("arbre",), 0.25, 0.71) for text in shown.why.asked),
    )


MANY_CODES = tuple(  # a box narrows the list of so many, and the articles of the first have two pages
    Article(f"{code}-{n}", f"Loi imaginaire {code}", str(n), "Chacun garde les feuilles de son arbre.")
    for code in range(1, 26)
    for n in range(1, 106 if code == 1 else 2)
)

_LONG = "Loi relative aux qualités et conditions requises pour pouvoir contracter un bail agricole"
REFERRING = (  # an article that must be read with another, and that long names refer to
    Article("1", "Code civil", "1", "Au sens de l'article 2, un arbre est une plante.", (_LONG, _LONG)),
    Article("2", "Code civil", "2", "Une plante pousse.", (_LONG,)),
    Article(
        "3", _LONG, "3", "Par dérogation aux articles 1 et 2 du Code civil, un arbre est un mur.", (_LONG,)
    ),
)


def _referring() -> FakeEngine:
    named = ((0, 1, "article 2"), *((2, to, "articles 1 et 2 du Code civil") for to in (0, 1)))
    starts = [REFERRING[of].text.index(words) for of, _, words in named]
    spans = np.array([(s, s + len(words)) for s, (_, _, words) in zip(starts, named, strict=True)], np.int32)
    pairs = np.array([each[:2] for each in named])
    graph = Graph.of(REFERRING, pairs, spans=spans, roles=np.array([1, 3, 3], np.int8))
    return FakeEngine(articles=REFERRING, graph=graph, card=replace(CARD, text_kind="official"))


_CODES = ("Code civil", "Code du travail", "Code de la route", "Code rural", "Loi des baux", "Code des jeux")
_THEMES = (("family", "land"), ("work",), ("road",), ("work", "land"), ("housing",), ())
LAWS = {  # many laws, each with a page and a day of its own
    code: LoadedLaw(f"https://law.example/code/{n}", date(2024 + n % 2, 3, 10 + n), themes)
    for n, (code, themes) in enumerate(zip(_CODES, _THEMES, strict=True))
}
LIMIT = TimeLimit(
    "faire couper l'arbre", "2 mois", "la lettre du voisin", "le voisin peut agir", "après trente ans"
)
FACTS = {
    "672": ArticleFacts(
        (LIMIT, *(replace(LIMIT, within=f"{n} ans") for n in range(3, 6))), note="Un décret."
    ),
    "671": ArticleFacts((), (Amount("hauteur de l'arbre", "2 m"), Amount("amende", "1 500 €"))),
    "673": ArticleFacts((LIMIT,), (Amount("branche", "1 m"),), outdated=True),
}
SEVERAL = (
    *ARTICLES[:3],
    *(
        Article(f"x{n}", code, f"L{n}", "", (f"Titre {n} : De l'arbre",))
        for n, code in enumerate(_CODES[1:], 1)
    ),
)


class LawsEngine(FakeEngine):
    """Finds as the last an article that nobody has summarised, or that one alone."""

    alone = False

    def ask(self, question: str, **options: Any) -> Result:
        found = super().ask(question, **options)
        if found.status != "found":
            return found
        others = () if self.alone else found.shown
        return replace(found, shown=(*others, Shown(len(others) + 1, SEVERAL[-1], 0.1, Why())))


def many_laws(**more: Any) -> FakeEngine:
    counts = {code: 3 if code == _CODES[0] else 1 for code in _CODES}
    card = replace(CARD, title="Le droit courant", laws=LAWS)
    return LawsEngine(card=card, articles=SEVERAL, offers=FakeFacets(counts), facts=FACTS, **more)


ENGINES: Mapping[str, FakeEngine] = {
    "laws": many_laws(),
    "referring": _referring(),
    "plain": FakeEngine(),
    "doubtful": FakeEngine(confidence=0.2, doubtful=True),
    "likely": FakeEngine(
        confidence=0.9,
        answer_set=1,
        articles=(*ARTICLES, *(replace(ARTICLES[0], id=f"9{n}", article_no=f"9{n}") for n in range(4))),
        card=replace(CARD, steps=(Step("letter", {"fr": "Écrivez au voisin."}, ("*",), SITE),)),
    ),
    "topic": FakeEngine(
        topic=(TopicCase("qui coupe les branches ?", PATH[-1]), TopicCase(QUESTION, PATH[-1]))
    ),
    "partial": FakeEngine(missing=("shard 2 of 3",)),
    "many": FakeEngine(offers=MANY_FACETS),
    "codes": FakeEngine(articles=MANY_CODES),
    "hostile": FakeEngine(card=HOSTILE_CARD, articles=HOSTILE, like=EVIL),
    "failing": FakeEngine(error=DamagedIndex("what was asked")),
    "one-way": FakeEngine(modes=("keyword",)),
    "telling": FakeEngine(
        mended=(SpellingCorrection("abre", "arbre", "arbre"),),
        situations=tuple(each for each in situations("fr") if each.id in ("tenant", "owner")),
    ),
}
