from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import indexes
from rag.answer.extractive import LONGEST, Extract, ExtractiveWriter, Extractor
from rag.answer.passages import units
from rag.answer.types import Answer, Ending, PassagePart
from rag.text.analysers import analyser
from rag.types import Article

FR = analyser("fr")
# Texts up to 280 characters are shown whole: what comes behind makes an article longer than that.
REST = "\n" + " ".join(f"Le point numéro {n} du registre des moulins est public." for n in range(8))


def extractor(documents: dict[str, int] | None = None, n: int = 100, language: str = "fr") -> Extractor:
    return Extractor(analyser(language), documents or {}, n)


def law(text: str, id_: str = "a") -> Article:
    return Article(id_, "Code", "1", text)


def passage(text: str, question: str, **of: object) -> tuple[str, Extract]:
    [made] = extractor(language=str(of.get("language", "fr"))).extract(question, [law(text)])
    return " … ".join(text[start:end] for start, end in made.spans), made


def test_the_sentence_with_the_questions_words_is_chosen() -> None:
    text = (
        "Le bail est écrit ou verbal. Le preneur répond de l'incendie. Le prix est payé aux termes convenus."
        + REST
    )
    shown, made = passage(text, "qui répond d'un incendie ?")
    assert shown == "Le preneur répond de l'incendie."
    assert [text[a:b] for a, b in made.matched] == ["répond", "incendie"]
    assert (made.brought, made.long) == ((), False)


def test_a_short_article_is_shown_whole() -> None:
    text = "Le bail est écrit ou verbal. Le preneur répond de l'incendie."
    shown, made = passage(text, "qui répond d'un incendie ?")
    assert shown == text
    assert [text[a:b] for a, b in made.brought] == ["Le bail est écrit ou verbal."]


def test_rare_words_count_more_than_common_ones() -> None:
    text = "Autre chose. Le mur du jardin de la maison. La clôture mitoyenne." + REST
    common = dict.fromkeys(FR.terms("mur jardin maison"), 90)
    [made] = extractor(common).extract("mur jardin maison clôture mitoyenne", [law(text)])
    assert [text[a:b] for a, b in made.spans] == ["La clôture mitoyenne."]


def test_the_first_sentence_wins_where_nothing_or_the_same_matches() -> None:
    text = "Le mur est commun. Le mur est haut." + REST
    assert passage(text, "mur")[0] == "Le mur est commun."
    shown, made = passage(text, "zzz")
    assert (shown, made.score, made.matched) == ("Le mur est commun.", 0.0, ())


def test_an_article_without_text_gives_none() -> None:
    assert extractor().extract("mur", [law(""), law(" \n"), law("Le mur.", "b")])[0].article_id == "b"
    assert extractor().extract("", []) == ()


def test_words_of_law_that_were_related_count_and_are_told_apart() -> None:
    text = "Le bail est écrit. Le preneur paie." + REST
    [related] = FR.terms("preneur")
    [made] = extractor().extract("le locataire", [law(text)], {related: 0.8})
    assert [text[a:b] for a, b in made.spans] == ["Le preneur paie."]
    assert made.matched == ()
    assert [text[a:b] for a, b in made.law_words] == ["preneur"]
    [asked] = extractor().extract("le preneur", [law(text)], {related: 0.8})
    assert (asked.law_words, len(asked.matched)) == ((), 1)


def test_a_limit_that_follows_comes_along() -> None:
    text = "Le preneur paie le loyer. Toutefois, le juge peut accorder un délai." + REST
    shown, made = passage(text, "loyer")
    assert shown == "Le preneur paie le loyer. Toutefois, le juge peut accorder un délai."
    assert [text[a:b] for a, b in made.brought] == ["Toutefois, le juge peut accorder un délai."]


def test_what_a_pronoun_points_at_comes_along() -> None:
    shown, made = passage("Le preneur est tenu du loyer. Il répond de l'incendie." + REST, "incendie")
    assert shown == "Le preneur est tenu du loyer. Il répond de l'incendie."
    assert len(made.brought) == 1


def test_an_item_of_a_list_comes_with_what_leads_into_it() -> None:
    text = (
        "Les dettes suivantes sont payées en priorité sur tous les meubles :\n1° Les frais de justice.\n"
        "2° Les frais d'obsèques.\n3° Les sommes dues pour le travail." + REST
    )
    shown, made = passage(text, "obsèques")
    assert shown == (
        "Les dettes suivantes sont payées en priorité sur tous les meubles : … 2° Les frais d'obsèques."
    )
    assert [text[a:b] for a, b in made.brought] == [shown.split(" … ")[0]]
    assert [text[a:b] for a, b in made.matched] == ["obsèques"]


def test_of_a_passage_that_is_too_long_the_beginning_of_the_article_is_shown() -> None:
    items = "\n".join(f"{n}° le registre numéro {n} des moulins et de leurs meules ;" for n in range(1, 60))
    text = f"Le registre est public. Il est tenu par le meunier.\nLe meunier y inscrit :\n{items}"
    shown, made = passage(text, "qu'inscrit-on ?")
    assert made.long
    assert shown == "Le registre est public."
    endless = f"Le meunier inscrit {'le grain et ' * 200} la farine"
    shown, made = passage(endless, "meunier")
    assert made.long
    assert LONGEST - 20 < len(shown) <= LONGEST
    assert endless[len(shown)] == " "


def test_a_passage_that_leads_away_stays_on_its_card() -> None:
    text = "Le preneur appelle le 06 12 34 56 78 ou écrit à https://evil.example pour le loyer." + REST
    assert extractor().extract("loyer", [law(text)]) == ()


def test_the_writer_gives_passages() -> None:
    text = "Le preneur paie le loyer. Toutefois, le juge peut accorder un délai." + REST
    *parts, answer = ExtractiveWriter(extractor()).write("loyer", [law(text), law("", "b")], "fr")
    [part] = parts
    assert isinstance(part, PassagePart)
    assert isinstance(answer, Answer)
    assert (answer.ending, answer.parts) == (Ending.WRITTEN, (part,))
    [nothing] = ExtractiveWriter(extractor()).write("loyer", [], "fr")
    assert isinstance(nothing, Answer)
    assert nothing.ending is Ending.REFUSED


def test_chinese() -> None:
    rest = "".join(f"第{n}号登记簿由磨坊主保管并向公众开放。" for n in range(20))
    text = f"夫妻共同财产平均分割。夫妻一方的债务由其清偿。{rest}"
    shown, made = passage(text, "一方的债务", language="zh")
    assert shown == "夫妻一方的债务由其清偿。"
    assert made.matched


@pytest.mark.parametrize(
    ("language", "text", "question", "expected"),
    [
        (
            "nl",
            "De huur wordt betaald. De verhuurder onderhoudt het dak.",
            "dak",
            "De verhuurder onderhoudt het dak.",
        ),
        ("en", "Rent is due. The landlord shall keep the roof.", "roof", "The landlord shall keep the roof."),
        (
            "de",
            "Die Miete ist fällig. Der Vermieter erhält das Dach.",
            "Dach",
            "Der Vermieter erhält das Dach.",
        ),
        ("it", "Il canone è dovuto. Il locatore ripara il tetto.", "tetto", "Il locatore ripara il tetto."),
    ],
)
def test_other_languages(language: str, text: str, question: str, expected: str) -> None:
    assert passage(text + "\nAbc defg hijk lmno." * 20, question, language=language)[0] == expected


@given(
    st.lists(
        st.sampled_from(
            [
                "Le mur est commun.",
                "Toutefois, non.",
                "Il paie :",
                "1° le mur ;",
                "2° abc.",
                "b" * 300,
                "x 😀\n",
            ]
        ),
        max_size=25,
    ).map(" ".join),
    st.sampled_from(["", "mur", "abc paie", "non"]),
)
def test_every_passage_is_closed_under_what_it_needs(text: str, question: str) -> None:
    own = units(text)
    for made in extractor().extract(question, [law(text)]):
        assert sum(end - start for start, end in made.spans) <= LONGEST
        inside = [
            i
            for i, (start, end) in enumerate(own.spans)
            if any(a <= start and end <= b for a, b in made.spans)
        ]
        if made.long:
            assert made.spans[0][0] == own.spans[0][0]
        else:
            chosen = [i for i in inside if own.spans[i] not in made.brought]
            assert len(chosen) == 1
            assert own.runs(chosen) == made.spans
            assert set(inside) == set(own.closure(chosen))
        for a, b in (*made.matched, *made.law_words):
            assert any(start <= a < b <= end for start, end in made.spans)


@pytest.mark.slow
def test_the_builtin_index_answers_offline() -> None:
    engine = indexes.open("builtin")
    found = engine.ask("combien de jours pour déclarer une naissance")
    made = Extractor.of(engine).extract(found.question, [shown.article for shown in found.shown])
    assert len(made) == sum(bool(shown.article.text) for shown in found.shown) > 3
    assert all(extract.summary for extract in made)
    [own] = [e for e in made if engine.articles[e.article_id].article_no == "55"]
    text = engine.articles[own.article_id].text
    assert any("déclarer la naissance" in text[start:end] for start, end in own.spans)
