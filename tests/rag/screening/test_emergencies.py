from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import indexes
from rag.corpus.card import Contact, CorpusCard
from rag.errors import BadInput
from rag.screening import danger, danger_classifier
from rag.screening.decision import screen_danger
from rag.screening.emergencies import Danger, Emergency, help_for, situations
from rag.screening.lexicon import Lexicon
from rag.text.patterns import data
from training import before as measure
from training import screening

CASES = Path(__file__).parent / "cases"
RECORD = Path(__file__).parents[3] / "docs" / "results" / "everyday" / "screening.json"
CARD = CorpusCard(
    "law",
    "Law",
    "fr",
    "FR",
    contacts=(
        Contact("Écoute", phone="3919", note="Pour les victimes de violences"),
        Contact("Logement pour tous", note="location, impayés"),
    ),
)


@pytest.mark.slow
def test_of_those_who_ask_first_one_reads_the_words_and_the_others_wait() -> None:
    """Before, each read all of them: ten people waited half a minute."""
    danger._read_grammar.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(lambda _: danger._grammar(), range(4))
    assert all(other is first for other in others)


@pytest.mark.parametrize("part", ["before", "second", "third"])
def test_situations_of_the_written_cases_are_found(part: str) -> None:
    counts = measure.urgent(CASES / "urgent.tsv")[part]
    assert counts["found"] == counts["cases"]


def test_the_share_found_that_nothing_was_amended_for_is_as_published() -> None:
    assert measure.urgent(CASES / "urgent.tsv")["final"] == {"cases": 27, "found": 27}


def test_what_only_names_the_subject_is_told_from_what_happens() -> None:
    assert situations("quelle peine pour violences conjugales") == (Emergency(Danger.VIOLENCE, now=False),)
    assert situations("mon frère m'a mordue") == (Emergency(Danger.VIOLENCE, now=True),)
    assert situations("MON MARI ME FRAPPE") == (Emergency(Danger.VIOLENCE, now=True),)
    assert situations("mon mari me frappe, je veux mourir") == (
        Emergency(Danger.VIOLENCE, now=True),
        Emergency(Danger.SUICIDE, now=True, likeliest=True),
    )


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   \n",
        "qui paie les réparations du toit",
        "combien de jours pour déclarer une naissance",
        "mon fils a eu un coup de chance, le banquier réclame tout d'un coup 3 000 euros",
        "je veux en finir avec la procédure de divorce",
        "how long do I have to appeal a judgment",
        "Frist für die Kündigung einer Wohnung",
        "wat is de termijn voor hoger beroep",
        "离婚冷静期有多长",
        "le chien du voisin m'a mordu hier",
        "Der Hund meines Nachbarn hat mich gebissen",
    ],
)
def test_ordinary_questions_raise_no_alarm(question: str) -> None:
    assert not any(situation.now for situation in situations(question))


def test_accents_case_and_typography_make_no_difference() -> None:
    assert situations("Je   n’ai plus envie de VIVRE")[0].danger is Danger.SUICIDE
    assert situations("j'ai e\u0301te\u0301 viole\u0301e") == situations("j'ai été violée") != ()


def test_contacts_of_the_card_come_first_and_no_number_twice() -> None:
    found = help_for([Emergency(Danger.VIOLENCE, now=True)], CARD)
    assert found[0].name == "Écoute"
    phones = [contact.phone for contact in found]
    assert phones.count("3919") == 1
    assert {"17", "112", "114", "116 006"} <= set(phones)
    assert "Logement pour tous" not in [contact.name for contact in found]


def test_topics_of_a_contact_say_more_than_its_words() -> None:
    about = Contact("Violences", topics=("housing",))
    card = CorpusCard("law", "Law", "fr", "XX", contacts=(about,))
    assert help_for([Emergency(Danger.VIOLENCE, now=True)], card) == ()
    assert help_for([Emergency(Danger.HOUSING, now=True)], card) == (about,)


def test_nothing_is_invented_for_an_unknown_jurisdiction() -> None:
    assert help_for([Emergency(Danger.SUICIDE, now=True)], CorpusCard("law", "Law", "fr", "")) == ()
    assert help_for([], CARD) == ()


def test_every_jurisdiction_has_a_number_where_life_is_in_danger() -> None:
    for jurisdiction, numbers in data("rag.screening", "emergency").items():
        served = {danger for number in numbers for danger in number["for"]}
        assert {"violence", "sexual", "child", "suicide"} <= served, jurisdiction
        assert served <= set(Danger)


def test_a_very_long_question_takes_no_time() -> None:
    assert not any(each.now for each in situations("la cave et le grenier " * 1000))
    assert not any(each.now for each in situations("je suis a b c d e f " * 1000))  # "je suis" alone is named


def newcomers() -> list[tuple[str, str, str]]:
    lines = (CASES / "urgent-newcomers.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(danger, language, question) for danger, language, question in rows]


@pytest.mark.parametrize(("danger", "language", "question"), newcomers())
def test_danger_is_found_in_the_languages_of_newcomers_and_what_is_near_is_not(
    danger: str, language: str, question: str
) -> None:
    found = [each.danger for each in situations(question) if each.now and not each.is_limit]
    assert (danger in found) if danger != "-" else not found


def test_the_number_made_for_a_danger_comes_before_those_for_every_danger() -> None:
    first = [help_for(situations(q), CorpusCard("law", "Law", "fr", "FR"))[0].phone for q in (
        "je veux me suicider", "mon mari me frappe", "mon beau-père frappe mon enfant",
    )]  # fmt: skip
    assert first == ["3114", "3919", "119"]


@pytest.mark.parametrize(
    "question",
    [
        "j'ai 12 ans et mon beau-père vient dans mon lit la nuit",
        "j'ai 12 ans et mon beau-père vient dans mon lit la nuit et me touche",
        "j'ai 13 ans et mon oncle me force à le toucher",
        "j'ai 13 ans et mon oncle me fait des choses que je veux pas",
        "tengo 13 años y mi tío me toca",
        "I'm 13 and my uncle touches me",
        "ich bin 13 und mein Onkel fasst mich an",
        "мне 12 лет, отчим трогает меня",
    ],
)
def test_a_child_who_says_so_is_sent_to_the_help_for_children_first(question: str) -> None:
    assert help_for(situations(question), CorpusCard("law", "Law", "fr", "FR"))[0].phone == "119"


@pytest.mark.parametrize(
    "question",
    ["my husband threatens to kill me and take my passport", "he threatened to kill me and the kids"],
)
def test_what_the_rules_raise_twice_or_in_few_words_is_believed(question: str) -> None:
    assert any(each.danger == Danger.VIOLENCE and each.now for each in situations(question))


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Quiero suicidarme", "es"),
        ("Me violaron", "es"),
        ("Kendimi öldürmek istiyorum", "tr"),
        ("ik wil dood", "nl"),
    ],
)
def test_a_danger_in_few_words_is_answered_in_the_language_of_its_words(question: str, language: str) -> None:
    decision = screen_danger(question, CorpusCard("law", "Law", "fr", "FR"))
    assert (decision.grave, decision.language) == (True, language)


def test_a_child_who_wants_to_die_is_sent_to_the_help_against_suicide_first() -> None:
    found = situations("j'ai 13 ans, je veux mourir, mon père me frappe tous les soirs")
    assert help_for(found, CorpusCard("law", "Law", "fr", "FR"))[0].phone == "3114"


@pytest.mark.slow
def test_what_is_found_by_meaning_in_sixteen_languages_is_as_published() -> None:
    """The dev half is learnt from: that it is found says little. The test half is held out of what ships.

    What no rule and no fit has read says how unheard wording fares, and is told as it is.
    """
    counted = screening.counts(screening.outcomes())
    published = json.loads(RECORD.read_text(encoding="utf-8"))["counts"]
    assert {key: counts.record() for key, counts in counted.items()} == published
    groups = [group for group, names in screening.GROUPS.items() if names != (screening.ORDINARY,)]
    # of the 276 held out 2 % were wanted; what was tried to get there is told in docs/results/answers.md. Of
    # a group up to 6 % (5 % when what ships had read that half): 4 of the 69 of other emergencies raise one
    assert sum(counted[f"test: {group}"].alarms for group in groups) <= 7
    for group, (half, most) in product(groups, {"dev": 0.03, "test": 0.06}.items()):
        counts = counted[f"{half}: {group}"]
        assert min(counts.cases, counts.near) >= 23 * len(screening.GROUPS[group])
        assert counts.found / counts.cases >= 0.95
        assert counts.alarms / counts.near <= most


def test_a_phrase_may_end_behind_its_gap_at_the_end_of_the_text() -> None:
    """Of "miete … nicht?" the last part may be absent; the text ends within the gap, behind a denial."""
    assert situations(
        "Mein Exfreund will Bilder von mir ohne Kleidung an meine Eltern schicken, wenn ich ihm nicht "
        "500 Euro überweise. Ich bin 19 und habe die Miete dafür angebrochen."
    )


def test_a_folder_without_cases_is_refused_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suicide.jsonl").write_text('{"text": "x"}\n', encoding="utf-8")
    assert screening.main(["--cases", str(tmp_path)]) == 2
    assert "suicide.jsonl" in capsys.readouterr().err


def test_the_cases_of_danger_are_of_sixteen_languages_and_two_halves() -> None:
    for name in danger.CLASSES:
        path = CASES / "danger" / f"{name}.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert sum(each["danger"] is not None for each in lines) >= 40
        assert sum(each["danger"] is None for each in lines) >= 40
        assert len({each["language"] for each in lines}) == 16
        assert {each["half"] for each in lines} - set(screening.MEASURED) == {"dev", "test"}


@pytest.mark.parametrize(
    ("question", "raised"),
    [
        ("mon patron ma viré", {"dismissal"}),  # "m'a" without its apostrophe
        ("ma virée en moto", set()),
        ("jsuis dehors ce soir, jsé pas ou dormir", {"housing"}),
        ("je n'ai pas été licencié", set()),
        ("le 115 n'a pas de place, j'ai dormi dehors", {"housing"}),  # the denial ends where a subject begins
        ("film sur une fille mariée de force, quel titre ?", set()),
        ("j'ai été expulsée de mon logement il y a douze ans", set()),
        ("madame, je suis RH, comment se passe un entretien préalable ?", set()),
        ("oqtf reçue hier, je vis à Roubaix depuis 1974", {"removal"}),
        ("injonction de payer de 1900 euros reçue hier", {"deadline"}),  # an amount is no year
        ("amende majorée 375 € trésor public contestation", {"deadline"}),
        ("quelle amende pour un excès de vitesse ?", set()),
        ("madam me réclame encore 25000 et je dois travailler sur la route", {"trafficking"}),
    ],
)
def test_what_is_typed_in_haste_denied_invented_or_over_is_read_as_it_is_meant(
    question: str, raised: set[str]
) -> None:
    assert {each for each, now in danger.classes(question).items() if now} == raised


@pytest.mark.parametrize(
    ("question", "is_suicide"),
    [
        ("mon voisin menace de me tuer", False),
        ("il veut me tuer", False),
        ("elle menace de se tuer", True),
        ("je menace de me tuer", True),
        ("veux me tuer ce soir", True),
    ],
)
def test_who_is_threatened_with_death_is_sent_to_the_police_and_not_to_a_helpline(
    question: str, is_suicide: bool
) -> None:
    assert ("suicide" in danger.classes(question)) == is_suicide


def test_a_phrase_with_an_empty_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="empty choice"):
        Lexicon({"fired": {"fr": "(viré de|) mon travail"}}, {})


def test_a_text_made_of_words_of_danger_is_read_by_steps_and_not_by_all_combinations() -> None:
    """Each group of a rule has a hundred matches, far apart: their product is millions."""
    text = " ".join(["hlm"] * 80 + ["veut"] * 80 + ["virer"] * 60 + ["chose"] * 13 + ["m"] * 200)
    assert isinstance(danger.classes(text), dict)


def test_another_classifier_than_the_one_that_ships_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    lines = (screening.FOLDER / "suicide.jsonl").read_text(encoding="utf-8").splitlines()[:1]
    for name in (*danger.CLASSES, screening.ORDINARY):
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with np.load(danger_classifier.FILE) as shipped:
        arrays = dict(shipped)
    np.savez(tmp_path / "deaf.npz", **{**arrays, "raises": np.array(99.0), "hints": np.array(99.0)})
    (tmp_path / "none.npz").write_bytes(b"PK")
    try:
        assert screening.main(["--cases", str(folder), "--raises", "98"]) == 0
        assert danger_classifier.decider().raises == 98
        assert screening.main(["--cases", str(folder), "--classifier", str(tmp_path / "deaf.npz")]) == 0
        assert danger_classifier.decider().raises == 99
        assert "suicide" in capsys.readouterr().out
        assert screening.main(["--classifier", str(tmp_path / "none.npz")]) == 2
        assert "expected what `python -m training.danger --output` writes" in capsys.readouterr().err
        np.savez(tmp_path / "none.npz", **{name: arrays[name] for name in arrays if name != "raises"})
        assert screening.main(["--classifier", str(tmp_path / "none.npz")]) == 2
        assert "raises" in capsys.readouterr().err
        assert danger_classifier.decider().raises == 99  # what cannot be read changes nothing
    finally:
        danger_classifier.use()
        danger.classes.cache_clear()
        danger.log_odds.cache_clear()
    assert danger_classifier.decider().raises < 9


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("mon chef me harcèle tous les jours", True),
        ("Harcèlement moral au travail, que faire ?", True),
        ("je suis humiliée par ma responsable devant les clients", True),
        ("my manager bullies me in front of clients", True),
        ("mijn baas pest mij al maanden", True),
        ("Meine Kollegen mobben mich seit Monaten", True),
        ("subisco mobbing in ufficio", True),
        ("同事一直霸凌我", True),
        ("mi jefa me humilla delante de todos", True),
        ("mon chef me doit trois mois de salaire", False),
        ("mon voisin me harcèle avec ses lettres", False),
        ("начальник меня унижает при всех", True),
        ("șeful mă umilește în fiecare zi", True),
        ("assédio moral no trabalho", True),
        ("nękanie w pracy", True),
        ("цькування на роботі", True),
        ("начальник принижує мене перед усіма", True),
        ("szef mnie upokarza przy klientach", True),
        ("müdürüm herkesin önünde beni aşağılıyor", True),
        ("o meu chefe humilha-me todos os dias", True),
        ("مديري يهينني أمام الجميع", True),
        ("رئيسي في العمل يهينني", True),
        ("رئیسم جلوی همه مرا تحقیر می‌کند", True),
        ("shefi im më poshtëron para të gjithëve", True),
        ("مديرتي تهينني أمام الجميع", True),
        ("مديري لم يدفع لي راتبي", False),
        ("patronum beni aşağılıyor, çocuğumun okul parasını ödeyemiyorum", True),
        ("ومديري يهينني", True),
        ("drejtori im më poshtëron para të gjithëve", True),
        ("drejtori më fyen përpara klasës", False),
        ("آزار و اذیت در محل کارم", True),
        ("işyerinde psikolojik taciz", True),
        ("okul müdürüm beni aşağılıyor", False),
        ("minha chefe me humilha", True),
        ("o meu patrão humilha-me", True),
        ("shefja ime më poshtëron", True),
        ("pronari im më ngacmon, unë jam qiramarrës", False),
        ("در بازار سر کار هستم و حقوقم را ندادند", False),
        ("mon patron me harcèle tous les jours", True),
        ("harcelé par mon patron", True),
        ("je suis humilié de la part de mon patron", True),
        ("shefi im nuk më ka paguar", False),
        ("le directeur ne fait rien, mon fils est harcelé", False),
        ("la directrice de l'école de ma fille l'humilie", False),
        ("qui est responsable quand un enfant est harcelé à l'école ?", False),
        ("mon employeur m'accuse de harcèlement moral", False),
        ("mon employeur m'accuse d'avoir harcelé une collègue", False),
        ("my boss says I bullied a colleague", False),
        ("Was ist Mobbing in der Schule?", False),
        ("Ich habe meinen Chef beleidigt, darf er mir kündigen?", False),
    ],
)
def test_harassment_at_work_is_named_and_never_raised(question: str, told: bool) -> None:
    found = [each for each in situations(question) if each.danger is Danger.HARASSMENT]
    assert found == [Emergency(Danger.HARASSMENT, now=False)] * told


def test_a_child_that_is_harassed_at_school_is_named() -> None:
    assert situations("mon fils est harcelé au collège") == (Emergency(Danger.CHILD, now=False),)


def test_questions_that_ship_are_cases_by_what_was_judged_of_them(tmp_path: Path) -> None:
    law = tmp_path / "law"
    law.mkdir()
    asked = {"everyday": ("a", "dev"), "test": ("b", "test"), "common": ("c", None)}
    for name, (id_, split) in asked.items():
        line = {"id": id_, "question": f"question {id_}"} | ({"split": split} if split else {})
        (law / f"questions_{name}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert list(screening.question_cases(tmp_path, law)) == []  # nothing was judged
    judged = tmp_path / screening.JUDGEMENTS
    judged.write_text("a\tviolence\tyes\na\tchild\tmaybe\nc\tpolice\tmaybe\n", encoding="utf-8")
    assert [(case.text, case.half, case.is_case) for case in screening.question_cases(tmp_path, law)] == [
        ("question a", "questions-dev", True),
        ("question b", "questions-test", False),
    ]
    for odd in ("a\tviolence\tsure\n", "a\tremoval\tyes\n", "a\tchild\n"):
        judged.write_text(odd, encoding="utf-8")
        with pytest.raises(BadInput, match="questions"):
            list(screening.question_cases(tmp_path, law))


def test_the_examples_of_the_first_page_raise_an_alarm_where_there_is_a_danger_alone() -> None:
    for event, question in indexes.open("builtin").card.events.items():
        raised = [each for each in situations(question) if each.now and not each.is_limit]
        assert bool(raised) == (event == "danger"), question


@pytest.mark.slow
def test_ordinary_questions_that_ship_hardly_raise_an_alarm() -> None:
    """961 questions, each judged twice and apart; what may be a danger is left out."""
    cases = list(screening.question_cases())
    raised = [any(danger.classes(case.text).get(name) for name in screening.EMERGENCIES) for case in cases]
    for half in screening.QUESTION_HALVES.values():
        near = [
            now for case, now in zip(cases, raised, strict=True) if case.half == half and not case.is_case
        ]
        assert len(near) > 400
        assert sum(near) <= 0.02 * len(near)
    found = [now for case, now in zip(cases, raised, strict=True) if case.is_case]
    assert sum(found) >= 0.7 * len(found)
