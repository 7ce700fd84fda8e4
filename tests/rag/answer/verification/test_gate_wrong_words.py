"""One wrong word in a sentence that else is the law's: every lie here came through an earlier gate."""

# ruff: noqa: E501 - what differs is seen where a sentence stands on one line
from __future__ import annotations

import pytest

from rag.answer.types import AcceptedSentence, Quote, Statement
from rag.answer.verification.gate import CitationGate
from rag.types import Article

FR = (
    "Le bailleur est tenu de restituer le dépôt de garantie au locataire dans un délai d'un mois à compter de la"
    " remise des clés.",
    "Le montant du dépôt de garantie ne peut excéder un mois de loyer hors charges.",
    "L'employeur verse au salarié une indemnité égale à un quart de mois de salaire par année d'ancienneté.",
    "La demande est adressée au tribunal judiciaire par lettre recommandée avec accusé de réception.",
    "Toute personne âgée d'au moins seize ans peut disposer par testament de la moitié de ses biens.",
    "Les parents exercent en commun l'autorité parentale, sauf décision contraire du juge.",
    "Est puni d'un an d'emprisonnement et de 15 000 euros d'amende le fait d'occuper sans droit le domicile"
    " d'autrui.",
    "Le contrat conclu avant le 1er janvier 2015 reste soumis à la loi ancienne.",
)
EN = (
    "The landlord must return the deposit to the tenant within thirty days after the tenant has vacated the"
    " premises.",
    "An employee who has worked for at least two years is entitled to one week's wages for each full year of"
    " service.",
    "A person commits an offence if he enters a dwelling without permission and intends to steal.",
    "The parents are jointly liable for damage caused by their minor children.",
    "The surviving spouse receives one half of the estate and the children receive the remainder.",
    "A fine not exceeding 5,000 pounds may be imposed by the county court.",
)
DE = (
    "Der Vermieter hat dem Mieter die Kaution spätestens sechs Monate nach Beendigung des Mietverhältnisses"
    " zurückzugewähren.",
    "Kinder unter sieben Jahren sind für einen Schaden nicht verantwortlich, den sie einem anderen zufügen.",
    "Wird die Miete nicht gezahlt, so kann der Vermieter den Vertrag fristlos kündigen.",
    "Der Käufer trägt die Kosten der Versendung, es sei denn, die Ware ist mangelhaft.",
)
NL = (
    "De verhuurder moet de waarborg binnen twee maanden na het einde van de huur aan de huurder teruggeven.",
    "De boete bedraagt ten hoogste vijfhonderd euro per dag.",
)
IT = (
    "Il minore di almeno quattordici anni può accettare la donazione con il consenso di entrambi i genitori.",
    "La prescrizione ordinaria è di dieci anni e decorre dal giorno in cui il diritto può essere fatto valere.",
)
ZH = (
    "承租人应当在租赁期限届满后三十日内将房屋返还出租人。",
    "租赁期限不得超过二十年，超过二十年的，超过部分无效。",
    "夫妻一方因抚育子女负担较多义务的，离婚时有权向另一方请求补偿。",
    "债务人逾期不履行的，债权人可以请求人民法院强制执行。",
    "故意伤害他人身体的，处三年以下有期徒刑、拘役或者管制。",
)
LAW = {"fr": FR, "en": EN, "de": DE, "nl": NL, "it": IT, "zh": ZH}

LIES = (
    # a word for another one
    ("fr", 3, "La demande est adressée au tribunal de commerce par lettre recommandée avec accusé de réception."),
    ("fr", 3, "La demande est adressée au tribunal judiciaire par lettre simple avec accusé de réception."),
    ("fr", 1, "Le montant du dépôt de garantie ne peut excéder un mois de loyer charges comprises."),
    ("fr", 5, "Les parents exercent séparément l'autorité parentale, sauf décision contraire du juge."),
    ("fr", 7, "Le contrat conclu avant le 1er janvier 2015 est soumis à la loi nouvelle."),
    ("en", 0, "The landlord must return the rent to the tenant within 30 days after the tenant has vacated the premises."),
    ("en", 3, "The parents are severally liable for damage caused by their minor children."),
    ("de", 0, "Der Vermieter hat dem Mieter die Miete spätestens sechs Monate nach Beendigung des Mietverhältnisses zurückzugewähren."),
    ("de", 0, "Der Vermieter hat dem Mieter die Kaution spätestens sechs Monate nach Beginn des Mietverhältnisses zurückzugewähren."),
    ("de", 3, "Der Käufer trägt die Kosten der Rücksendung, es sei denn, die Ware ist mangelhaft."),
    ("de", 3, "Der Käufer trägt die Kosten der Versendung, es sei denn, die Ware ist mangelfrei."),
    ("nl", 0, "De verhuurder moet de huur binnen twee maanden na het einde van de huur aan de huurder teruggeven."),
    ("it", 1, "La prescrizione breve è di dieci anni e decorre dal giorno in cui il diritto può essere fatto valere."),
    ("zh", 0, "承租人应当在租赁期限届满前三十日内将房屋返还出租人。"),
    ("zh", 0, "承租人应当在租赁期限届满后三十日内将押金返还出租人。"),
    ("zh", 2, "夫妻一方因抚育子女负担较少义务的，离婚时有权向另一方请求补偿。"),
    ("zh", 3, "债务人逾期不履行的，债权人可以请求公安机关强制执行。"),
    ("zh", 4, "过失伤害他人身体的，处三年以下有期徒刑、拘役或者管制。"),
    # "or" for "and", and the other way round
    ("fr", 6, "Le fait d'occuper sans droit le domicile d'autrui est puni d'un an d'emprisonnement ou de 15 000 euros d'amende."),
    ("en", 2, "A person commits an offence if he enters a dwelling without permission or intends to steal."),
    ("zh", 4, "故意伤害他人身体的，处三年以下有期徒刑、拘役和管制。"),
    # what a number is of, and by what it is counted
    ("fr", 0, "Le bailleur est tenu de restituer le dépôt de garantie au locataire dans un délai d'un mois ouvrable."),
    ("fr", 2, "L'employeur verse au salarié une indemnité égale à un quart de mois de salaire par mois d'ancienneté."),
    ("fr", 4, "Toute personne âgée d'au moins seize ans peut disposer par testament de ses biens."),
    ("fr", 4, "Toute personne âgée d'au moins seize ans peut disposer par testament de la totalité de ses biens."),
    ("en", 0, "The landlord must return the deposit to the tenant within thirty working days after the tenant has vacated the premises."),
    ("en", 4, "The surviving spouse receives the estate and the children receive the remainder."),
    ("en", 4, "The children receive one half of the estate and the surviving spouse receives the remainder."),
    ("nl", 1, "De boete bedraagt ten hoogste vijfhonderd euro."),
    ("nl", 1, "De boete bedraagt ten hoogste vijfhonderd euro per week."),
    # who may, and under what condition
    ("fr", 4, "Toute personne peut disposer par testament de la moitié de ses biens."),
    ("en", 1, "Any employee is entitled to one week's wages for each full year of service."),
    ("en", 2, "A person commits an offence if he enters a dwelling without permission."),
    ("de", 1, "Kinder über sieben Jahren sind für einen Schaden nicht verantwortlich, den sie einem anderen zufügen."),
    ("de", 2, "Der Vermieter kann den Vertrag fristlos kündigen."),
    ("it", 0, "Il minore di almeno quattordici anni può accettare la donazione."),
    ("zh", 2, "离婚时，夫妻一方有权向另一方请求补偿。"),
    # parties where nothing must or may be done
    ("en", 3, "The minor children are jointly liable for damage caused by their parents."),
    ("en", 3, "The parents are jointly liable for damage caused to their minor children."),
    ("de", 0, "Der Mieter hat dem Vermieter die Kaution spätestens sechs Monate nach Beendigung des Mietverhältnisses zurückzugewähren."),
)  # fmt: skip

TRUTHS = (
    ("fr", 0, "Le bailleur doit rendre le dépôt de garantie au locataire dans un délai d'un mois."),
    ("fr", 1, "Le dépôt de garantie ne peut pas dépasser 1 mois de loyer hors charges."),
    ("fr", 3, "La demande est adressée au tribunal judiciaire par lettre recommandée."),
    ("fr", 4, "Toute personne de seize ans au moins peut disposer par testament de la moitié de ses biens."),
    ("fr", 5, "L'autorité parentale est exercée en commun par les parents, sauf décision contraire du juge."),
    ("fr", 6, "Le fait d'occuper sans droit le domicile d'autrui est puni de quinze mille euros d'amende."),
    ("en", 0, "The landlord must return the deposit to the tenant within 30 days after the tenant has left the premises."),
    ("en", 4, "The surviving spouse receives half of the estate."),
    ("en", 5, "A fine not exceeding £5,000 may be imposed by the county court."),
    ("de", 0, "Der Vermieter muss dem Mieter die Kaution spätestens 6 Monate nach Beendigung des Mietverhältnisses zurückgewähren."),
    ("de", 1, "Kinder unter 7 Jahren sind nicht für einen Schaden verantwortlich, den sie einem anderen zufügen."),
    ("de", 2, "Der Vermieter kann den Vertrag fristlos kündigen, wenn die Miete nicht gezahlt wird."),
    ("nl", 0, "De verhuurder moet de waarborg binnen 2 maanden aan de huurder teruggeven."),
    ("nl", 1, "De boete bedraagt ten hoogste € 500 per dag."),
    ("zh", 0, "租赁期限届满后30日内，承租人应当将房屋返还出租人。"),
    ("zh", 1, "租赁期限不得超过二十年。"),
    ("zh", 4, "故意伤害他人身体的，处三年以下有期徒刑。"),
)  # fmt: skip


def _passes(language: str, which: int, text: str) -> bool:
    law = LAW[language]
    article = Article("x", "Code", "12", ("" if language == "zh" else " ").join(law), language=language)
    statement = Statement(text, (article.id,), (Quote(article.id, law[which]),))
    return isinstance(CitationGate().check(statement, (article,)), AcceptedSentence)


@pytest.mark.parametrize(("language", "which", "text"), LIES)
def test_one_wrong_word_is_stopped(language: str, which: int, text: str) -> None:
    assert not _passes(language, which, text)


@pytest.mark.parametrize(("language", "which", "text"), TRUTHS)
def test_everyday_words_and_shorter_sentences_pass(language: str, which: int, text: str) -> None:
    assert _passes(language, which, text)


@pytest.mark.parametrize("language", LAW)
def test_the_law_itself_passes(language: str) -> None:
    assert all(_passes(language, which, text) for which, text in enumerate(LAW[language]))


BEFORE_FR = "Le contrat conclu avant le 1er janvier 2015 reste soumis à la loi ancienne."
BEFORE_EN = "The contract concluded before 1 February 2015 remains valid."
SHARES = "The spouse receives half of the land and the sister receives a fifth of the land."
SAME = (  # told otherwise, and a lie that is written the same way
    ("fr", BEFORE_FR, BEFORE_FR.replace("1er janvier 2015", "01/01/2015"), "02/01/2015", "01/01/2015"),
    ("fr", BEFORE_FR.replace("1er janvier 2015", "02/03/2015"), BEFORE_FR.replace("1er janvier", "2 mars"), "3 février", "2 mars"),
    ("de", "Der Vertrag vom 1. März 2016 bleibt immer gültig.", "Der Vertrag vom 01.03.2016 bleibt immer gültig.", "03.01.2016", "01.03.2016"),
    ("it", "Il contratto del 1 gennaio 2015 resta sempre valido.", "Il contratto del 2015-01-01 resta sempre valido.", "2015-01-02", "2015-01-01"),
    ("zh", "2015年1月1日以前订立的合同继续有效。", "2015-01-01以前订立的合同继续有效。", "2015-02-01", "2015-01-01"),
    ("en", "The contract of 13 January 2015 remains valid.", "The contract of 13/01/2015 remains valid.", "14/01/2015", "13/01/2015"),
    ("en", SHARES, "The spouse receives 50% of the land.", "20%", "50%"),
    ("fr", FR[4], "Toute personne âgée d'au moins seize ans peut disposer par testament de 50 % de ses biens.", "60 %", "50 %"),
    ("fr", FR[4], "Toute personne âgée de seize ans ou plus peut disposer par testament de la moitié de ses biens.", "ou moins", "ou plus"),
    ("en", EN[1], "An employee who has worked for two years or more is entitled to one week's wages for each full year of service.", "one week's wages or more", "one week's wages"),
    ("en", EN[1].replace("at least", "more than"), EN[1].replace("at least", "more than"), "for two years or more", "for more than two years"),
    ("de", "Der Vertrag von zwei Jahren oder mehr bleibt immer gültig.", "Der Vertrag von mindestens zwei Jahren bleibt immer gültig.", "von höchstens", "von mindestens"),
    ("nl", "De huurder van zestien jaar of meer krijgt altijd een kopie.", "De huurder van ten minste zestien jaar krijgt altijd een kopie.", "ten hoogste", "ten minste"),
)  # fmt: skip


@pytest.mark.parametrize(("language", "law", "text", "lie", "true"), SAME)
def test_dates_shares_and_least_numbers_may_be_written_otherwise(
    language: str, law: str, text: str, lie: str, true: str
) -> None:
    false = text.replace(true, lie)
    assert false != text
    assert _read(language, law, text)
    assert not _read(language, law, false)


def test_a_date_that_may_be_read_in_two_ways_is_not_read() -> None:
    assert not _read("en", BEFORE_EN, BEFORE_EN.replace("1 February 2015", "02/01/2015"))
    assert not _read("en", BEFORE_EN, BEFORE_EN.replace("1 February 2015", "01/02/2015"))


def _read(language: str, law: str, text: str) -> bool:
    article = Article("x", "Code", "12", law, language=language)
    return isinstance(
        CitationGate().check(Statement(text, ("x",), (Quote("x", law),)), (article,)), AcceptedSentence
    )


def test_a_sentence_with_both_of_two_contraries_passes_as_it_stands_and_not_turned() -> None:
    text = "La redevance ne peut être supérieure à 900 euros ni inférieure à 300 euros."
    article = Article("r", "Code fictif", "7", text, language="fr")
    turned = "La redevance ne peut être inférieure à 900 euros ni supérieure à 300 euros."
    for said, kept in ((text, True), (turned, False)):
        found = CitationGate().check(Statement(said, ("r",), (Quote("r", text),)), [article])
        assert isinstance(found, AcceptedSentence) == kept
