from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import indexes
from rag.answer.extractive import LONG, LONGEST, Extract, Extractor
from rag.text.analysers import analyser
from rag.text.highlight import sentences
from rag.types import Article

FR = analyser("fr")


def extractor(documents: dict[str, int] | None = None, n: int = 100, language: str = "fr") -> Extractor:
    return Extractor(analyser(language), documents or {}, n)


def law(text: str, id_: str = "a") -> Article:
    return Article(id_, "Code", "1", text)


def passage(text: str, question: str, **of: object) -> tuple[str, Extract]:
    [made] = extractor(language=str(of.get("language", "fr"))).extract(question, [law(text)])
    return text[made.start : made.end], made


def test_the_sentence_with_the_questions_words_is_chosen() -> None:
    text = (
        "Le bail est écrit ou verbal. Le preneur répond de l'incendie. Il paie le prix aux termes convenus."
    )
    shown, made = passage(text, "qui répond d'un incendie ?")
    assert shown == "Le preneur répond de l'incendie."
    assert [text[a:b] for a, b in made.matched] == ["répond", "incendie"]
    assert (made.cut_before, made.cut_after) == (False, False)


def test_rare_words_count_more_than_common_ones() -> None:
    text = "Autre chose. Le mur du jardin de la maison. La clôture mitoyenne."
    common = dict.fromkeys(FR.terms("mur jardin maison"), 90)
    [made] = extractor(common).extract("mur jardin maison clôture mitoyenne", [law(text)])
    assert text[made.start : made.end] == "La clôture mitoyenne."


def test_the_first_sentence_wins_where_nothing_or_the_same_matches() -> None:
    text = "Le mur est commun. Le mur est haut."
    assert passage(text, "mur")[0] == "Le mur est commun."
    shown, made = passage(text, "zzz")
    assert (shown, made.score, made.matched) == ("Le mur est commun.", 0.0, ())


def test_an_article_without_text_gives_none() -> None:
    assert extractor().extract("mur", [law(""), law(" \n"), law("Le mur.", "b")])[0].article_id == "b"
    assert extractor().extract("", []) == ()


def test_words_of_law_that_were_related_count_and_are_told_apart() -> None:
    text = "Le bail est écrit. Le preneur paie."
    [related] = FR.terms("preneur")
    [made] = extractor().extract("le locataire", [law(text)], {related: 0.8})
    assert text[made.start : made.end] == "Le preneur paie."
    assert made.matched == ()
    assert [text[a:b] for a, b in made.law_words] == ["preneur"]
    [asked] = extractor().extract("le preneur", [law(text)], {related: 0.8})
    assert (asked.law_words, len(asked.matched)) == ((), 1)


def test_a_sentence_that_the_next_one_narrows_says_so() -> None:
    text = "Le preneur paie le loyer. Toutefois, le juge peut accorder un délai."
    assert passage(text, "loyer")[1].limited
    assert not passage(text.replace("Toutefois, le", "Le"), "loyer")[1].limited


LONG_SENTENCE = ", ".join(f"le point numéro {n} de la liste du dossier" for n in range(20))


def test_a_long_sentence_is_cut_at_clauses_around_the_words() -> None:
    text = f"Le dossier contient {LONG_SENTENCE}, la clé du coffre, {LONG_SENTENCE}."
    shown, made = passage(text, "clé du coffre")
    assert "la clé du coffre" in shown
    assert len(shown) <= LONG
    assert made.cut_before
    assert made.cut_after
    assert text[: made.start].endswith(", ")


def test_a_clause_that_denies_or_excepts_is_never_cut_off() -> None:
    text = f"Il n'est pas permis d'ouvrir la clé du coffre, {', '.join(['avec le bois'] * 30)}, sauf accord."
    shown, made = passage(text, "clé du coffre")
    assert len(text) > LONG
    assert shown == text
    assert (made.cut_before, made.cut_after) == (False, False)


def test_chinese() -> None:
    shown, made = passage("夫妻共同财产平均分割。夫妻一方的债务由其清偿。", "一方的债务", language="zh")
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
    assert passage(text, question, language=language)[0] == expected


@given(st.text(alphabet="abc mur non,;:. \n😀\u0301。，", max_size=900), st.text(max_size=30))
def test_an_extract_begins_and_ends_where_a_sentence_or_clause_does(text: str, question: str) -> None:
    for made in extractor().extract(question, [law(text)]):
        [own] = [s for s in sentences(text) if s[0] <= made.start < s[1]]
        assert own[0] <= made.start < made.end <= own[1]
        assert made.cut_before == (made.start > own[0])
        assert made.cut_after == (made.end < own[1])
        assert text[made.start : made.end].strip()
        if made.cut_before or made.cut_after:
            assert made.end - made.start <= LONGEST
        assert all(made.start <= a < b <= made.end for a, b in (*made.matched, *made.law_words))


def test_the_builtin_index_answers_offline() -> None:
    engine = indexes.open("builtin")
    found = engine.ask("combien de jours pour déclarer une naissance")
    made = Extractor.of(engine).extract(found.question, [shown.article for shown in found.shown])
    assert len(made) == len(found.shown)
    assert all(extract.summary for extract in made)
    [own] = [e for e in made if engine.articles[e.article_id].article_no == "55"]
    assert "déclarer la naissance" in engine.articles[own.article_id].text[own.start : own.end]
