"""A code of law in six languages, in our own words, with true and false sentences about each of its rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from rag.types import Article


@dataclass(frozen=True)
class Rule:
    """A sentence of law; {a}, {b}: two parties, {n}: a number in words, {d}: in figures, {u}: its unit."""

    law: str
    true: tuple[str, ...]  # beside the sentence itself
    flipped: tuple[str, ...]  # its contrary, or another force, or without its exception


PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "fr": (
        ("bailleur", "locataire"),
        ("créancier", "débiteur"),
        ("vendeur", "acheteur"),
        ("prêteur", "emprunteur"),
    ),
    "en": (("landlord", "tenant"), ("creditor", "debtor"), ("seller", "buyer"), ("lender", "borrower")),
    "de": (
        ("Vermieter", "Mieter"),
        ("Gläubiger", "Schuldner"),
        ("Verkäufer", "Käufer"),
        ("Verpächter", "Pächter"),
    ),
    "nl": (("verhuurder", "huurder"), ("schuldeiser", "schuldenaar"), ("verkoper", "koper")),
    "it": (("locatore", "conduttore"), ("creditore", "debitore"), ("venditore", "compratore")),
    "zh": (("出租人", "承租人"), ("债权人", "债务人"), ("出卖人", "买受人"), ("出借人", "借款人")),
}
NUMBERS: Mapping[str, Mapping[int, str]] = {
    "fr": {
        2: "deux",
        3: "trois",
        6: "six",
        15: "quinze",
        21: "vingt et un",
        30: "trente",
        90: "quatre-vingt-dix",
    },
    "en": {2: "two", 3: "three", 6: "six", 15: "fifteen", 21: "twenty-one", 30: "thirty", 90: "ninety"},
    "de": {
        2: "zwei",
        3: "drei",
        6: "sechs",
        15: "fünfzehn",
        21: "einundzwanzig",
        30: "dreißig",
        90: "neunzig",
    },
    "nl": {2: "twee", 3: "drie", 6: "zes", 15: "vijftien", 21: "eenentwintig", 30: "dertig", 90: "negentig"},
    "it": {2: "due", 3: "tre", 6: "sei", 15: "quindici", 21: "ventuno", 30: "trenta", 90: "novanta"},
    "zh": {2: "二", 3: "三", 6: "六", 15: "十五", 21: "二十一", 30: "三十", 90: "九十"},
}
UNITS: Mapping[str, tuple[str, ...]] = {
    "fr": ("jours", "semaines", "mois", "ans"),
    "en": ("days", "weeks", "months", "years"),
    "de": ("Tagen", "Wochen", "Monaten", "Jahren"),
    "nl": ("dagen", "weken", "maanden", "jaren"),
    "it": ("giorni", "settimane", "mesi", "anni"),
    "zh": ("日", "周", "个月", "年"),
}

RULES: Mapping[str, tuple[Rule, ...]] = {
    "fr": (
        Rule(
            "Le {b} doit verser la somme convenue au {a} dans un délai de {n} {u}.",
            (
                "Dans un délai de {d} {u}, le {b} doit verser au {a} la somme convenue.",
                "La somme convenue doit être versée au {a} par le {b} dans un délai de {d} {u}.",
                "Les {b}s doivent verser les sommes convenues aux {a}s dans un délai de {d} {u}.",
            ),
            (
                "Le {b} peut verser la somme convenue au {a} dans un délai de {n} {u}.",
                "Le {b} ne doit pas verser la somme convenue au {a} dans un délai de {n} {u}.",
                "Le {b} n'est pas tenu de verser la somme convenue au {a} dans un délai de {n} {u}.",
            ),
        ),
        Rule(
            "Le {a} ne peut rompre le contrat avant {n} {u}, sauf si le {b} cesse de payer.",
            (
                "Sauf si le {b} cesse de payer, le {a} ne peut pas rompre le contrat avant {d} {u}.",
                "Avant {d} {u}, le {a} ne peut rompre le contrat, sauf si le {b} cesse de payer.",
            ),
            (
                "Le {a} peut rompre le contrat avant {n} {u}, sauf si le {b} cesse de payer.",
                "Le {a} ne peut rompre le contrat avant {n} {u}.",
                "Le {a} ne peut rompre le contrat avant {n} {u}, même si le {b} cesse de payer.",
                "Le {a} doit rompre le contrat avant {n} {u}, sauf si le {b} cesse de payer.",
            ),
        ),
        Rule(
            "Si la chose périt sans faute du {b}, le {a} supporte seul la perte et rend les frais"
            " sous {n} {u}.",
            (
                "Le {a} supporte seul la perte et rend les frais sous {d} {u}, si la chose périt"
                " sans faute du {b}.",
            ),
            (
                "Si la chose périt sans faute du {b}, le {a} ne supporte pas seul la perte et rend"
                " les frais sous {n} {u}.",
                "Le {a} supporte seul la perte et rend les frais sous {n} {u}.",
                "Si la chose périt par faute du {b}, le {a} supporte seul la perte et rend les frais"
                " sous {n} {u}.",
            ),
        ),
        Rule(
            "L'action du {a} n'est pas recevable après {n} {u} ; toute clause contraire est interdite.",
            (
                "Après {d} {u}, l'action du {a} n'est pas recevable ; toute clause contraire est interdite.",
                "L'action du {a} n'est pas recevable après {d} {u}.",
            ),
            (
                "L'action du {a} est recevable après {n} {u} ; toute clause contraire est interdite.",
                "L'action du {a} n'est pas recevable après {n} {u} ; toute clause contraire est permise.",
                "L'action du {a} n'est pas recevable avant {n} {u}.",
            ),
        ),
    ),
    "en": (
        Rule(
            "The {b} must pay the agreed sum to the {a} within {n} {u}.",
            (
                "Within {d} {u}, the {b} must pay the agreed sum to the {a}.",
                "The agreed sum must be paid to the {a} by the {b} within {d} {u}.",
            ),
            (
                "The {b} may pay the agreed sum to the {a} within {n} {u}.",
                "The {b} must not pay the agreed sum to the {a} within {n} {u}.",
                "The {b} is not required to pay the agreed sum to the {a} within {n} {u}.",
            ),
        ),
        Rule(
            "The {a} may not end the contract before {n} {u} unless the {b} stops performing.",
            (
                "Unless the {b} stops performing, the {a} may not end the contract before {d} {u}.",
                "Before {d} {u}, the {a} may not end contracts unless the {b} stops performing.",
            ),
            (
                "The {a} may end the contract before {n} {u} unless the {b} stops performing.",
                "The {a} may not end the contract before {n} {u}.",
                "The {a} must end the contract before {n} {u} unless the {b} stops performing.",
            ),
        ),
        Rule(
            "If the goods perish without fault, only the {a} bears the loss and refunds costs after {n} {u}.",
            (
                "Only the {a} bears the loss and refunds costs after {d} {u} if the goods perish"
                " without fault.",
            ),
            (
                "If the goods perish without fault, the {a} does not bear the loss and refunds costs"
                " after {n} {u}.",
                "Only the {a} bears the loss and refunds costs after {n} {u}.",
            ),
        ),
        Rule(
            "A claim of the {a} is not admissible after {n} {u}; any contrary clause is prohibited.",
            (
                "After {d} {u}, a claim of the {a} is not admissible; any contrary clause is prohibited.",
                "Claims of the {a} are not admissible after {d} {u}.",
            ),
            (
                "A claim of the {a} is admissible after {n} {u}; any contrary clause is prohibited.",
                "A claim of the {a} is not admissible before {n} {u}.",
            ),
        ),
    ),
    "de": (
        Rule(
            "Der {b} muss dem {a} die vereinbarte Summe binnen {n} {u} zahlen.",
            (
                "Binnen {d} {u} muss der {b} dem {a} die vereinbarte Summe zahlen.",
                "Die vereinbarte Summe muss der {b} dem {a} binnen {d} {u} zahlen.",
            ),
            (
                "Der {b} kann dem {a} die vereinbarte Summe binnen {n} {u} zahlen.",
                "Der {b} muss dem {a} die vereinbarte Summe nicht binnen {n} {u} zahlen.",
                "Der {b} darf dem {a} die vereinbarte Summe nicht binnen {n} {u} zahlen.",
            ),
        ),
        Rule(
            "Der {a} darf den Vertrag vor {n} {u} nicht kündigen, es sei denn, der {b} stellt die"
            " Zahlung ein.",
            (
                "Vor {d} {u} darf der {a} den Vertrag nicht kündigen, es sei denn, der {b} stellt"
                " die Zahlung ein.",
            ),
            (
                "Der {a} darf den Vertrag vor {n} {u} kündigen, es sei denn, der {b} stellt die Zahlung ein.",
                "Der {a} darf den Vertrag vor {n} {u} nicht kündigen.",
                "Der {a} muss den Vertrag vor {n} {u} kündigen, es sei denn, der {b} stellt die Zahlung ein.",
            ),
        ),
        Rule(
            "Geht die Sache ohne Verschulden unter, trägt nur der {a} den Verlust und erstattet"
            " Kosten nach {n} {u}.",
            (
                "Nur der {a} trägt den Verlust und erstattet Kosten nach {d} {u}, geht die Sache"
                " ohne Verschulden unter.",
            ),
            (
                "Geht die Sache ohne Verschulden unter, trägt der {a} den Verlust nicht und"
                " erstattet Kosten nach {n} {u}.",
                "Geht die Sache mit Verschulden unter, trägt nur der {a} den Verlust und erstattet"
                " Kosten nach {n} {u}.",
            ),
        ),
    ),
    "nl": (
        Rule(
            "De {b} moet de afgesproken som binnen {n} {u} aan de {a} betalen.",
            ("Binnen {d} {u} moet de {b} de afgesproken som aan de {a} betalen.",),
            (
                "De {b} mag de afgesproken som binnen {n} {u} aan de {a} betalen.",
                "De {b} moet de afgesproken som niet binnen {n} {u} aan de {a} betalen.",
            ),
        ),
        Rule(
            "De {a} mag de overeenkomst niet voor {n} {u} beëindigen, tenzij de {b} stopt met betalen.",
            ("Tenzij de {b} stopt met betalen, mag de {a} de overeenkomst niet voor {d} {u} beëindigen.",),
            (
                "De {a} mag de overeenkomst voor {n} {u} beëindigen, tenzij de {b} stopt met betalen.",
                "De {a} mag de overeenkomst niet voor {n} {u} beëindigen.",
            ),
        ),
    ),
    "it": (
        Rule(
            "Il {b} deve pagare la somma pattuita al {a} entro {n} {u}.",
            (
                "Entro {d} {u} il {b} deve pagare la somma pattuita al {a}.",
                "La somma pattuita deve essere pagata al {a} dal {b} entro {d} {u}.",
            ),
            (
                "Il {b} può pagare la somma pattuita al {a} entro {n} {u}.",
                "Il {b} non deve pagare la somma pattuita al {a} entro {n} {u}.",
            ),
        ),
        Rule(
            "Il {a} non può sciogliere il contratto prima di {n} {u}, salvo che il {b} cessi di pagare.",
            ("Salvo che il {b} cessi di pagare, il {a} non può sciogliere il contratto prima di {d} {u}.",),
            (
                "Il {a} può sciogliere il contratto prima di {n} {u}, salvo che il {b} cessi di pagare.",
                "Il {a} non può sciogliere il contratto prima di {n} {u}.",
            ),
        ),
    ),
    "zh": (
        Rule(
            "{b}应当在{n}{u}内向{a}支付约定的款项。",
            ("{b}应当在{d}{u}内向{a}支付约定款项。", "在{d}{u}内，{b}应当向{a}支付约定的款项。"),
            (
                "{b}可以在{n}{u}内向{a}支付约定的款项。",
                "{b}不得在{n}{u}内向{a}支付约定的款项。",
                "{b}无须在{n}{u}内向{a}支付约定的款项。",
            ),
        ),
        Rule(
            "{a}在{n}{u}内不得解除合同，但是{b}停止履行的除外。",
            ("在{d}{u}内，{a}不得解除合同，但{b}停止履行的除外。",),
            (
                "{a}在{n}{u}内可以解除合同，但是{b}停止履行的除外。",
                "{a}在{n}{u}内不得解除合同。",
                "{a}在{n}{u}内应当解除合同，但是{b}停止履行的除外。",
            ),
        ),
        Rule(
            "{a}的请求超过{n}{u}的，法院不予受理；相反的条款无效。",
            ("{a}的请求超过{d}{u}的，法院不予受理；相反的条款无效。",),
            (
                "{a}的请求超过{n}{u}的，法院予以受理；相反的条款无效。",
                "{a}的请求超过{n}{u}的，法院不予受理；相反的条款有效。",
            ),
        ),
    ),
}
PLAIN: Mapping[str, tuple[str, ...]] = {  # sentences that stand before and after a rule in its article
    "fr": (
        "Le présent chapitre règle les contrats conclus à distance.",
        "Un décret fixe la forme des registres tenus au greffe.",
    ),
    "en": (
        "This chapter governs contracts concluded at a distance.",
        "A decree settles the form of registers kept in court.",
    ),
    "de": (
        "Dieses Kapitel regelt Verträge im Fernabsatz.",
        "Eine Verordnung bestimmt die Form der Register bei Gericht.",
    ),
    "nl": (
        "Dit hoofdstuk regelt overeenkomsten op afstand.",
        "Een besluit bepaalt de vorm van registers bij de griffie.",
    ),
    "it": (
        "Questo capo disciplina i contratti conclusi a distanza.",
        "Un decreto stabilisce la forma dei registri in cancelleria.",
    ),
    "zh": ("本章调整远程订立的合同关系。", "法院登记簿的格式由条例另行确定。"),
}


@dataclass(frozen=True)
class Filled:
    """A rule with its parties and number, in an article; `slots` fill its sentences."""

    rule: Rule
    slots: Mapping[str, str]
    article: Article
    sentence: str

    def say(self, template: str, **other: str) -> str:
        return template.format(**{**self.slots, **other})


def fill(language: str, rule: Rule, at: int, random: Random) -> Filled:
    a, b = random.choice(PAIRS[language])
    number = random.choice(list(NUMBERS[language]))
    slots = {
        "a": a,
        "b": b,
        "n": NUMBERS[language][number],
        "d": str(number),
        "u": random.choice(UNITS[language]),
    }
    sentence = rule.law.format(**slots)
    before, after = PLAIN[language]
    joint = "" if language == "zh" else " "
    text = joint.join((before, sentence, after))
    article = Article(f"{language}-{at}", f"Code {language}", str(at), text, language=language)
    return Filled(rule, slots, article, sentence)


def shown(language: str, random: Random, count: int = 10) -> list[Filled]:
    """Ten articles as they are shown under one question; several may hold the same rule otherwise filled."""
    rules = RULES[language]
    return [fill(language, rules[at % len(rules)], at + 1, random) for at in range(count)]
