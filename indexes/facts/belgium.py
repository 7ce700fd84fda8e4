"""BSARD, its bilingual edition, and LLeQA."""

from __future__ import annotations

from collections.abc import Mapping

_LAW = (
    "Belgian legislators: federal codes, and codes of the Walloon and the Brussels-Capital region, none "
    "of Flanders. Officially published texts (ejustice.just.fgov.be)."
)
_SCOPE = (
    "Legal advice; being shown to people as the law in force; commercial use; conclusions about areas of "
    "law that the questions do not touch."
)

BSARD: Mapping[str, str] = {
    "published": "BSARD (Louis and Spanakis 2022); maastrichtlawtech/bsard on the Hugging Face hub.",
    "rationale": "To measure how well systems find the statutory articles that answer a citizen's "
    "question, which is put in everyday words and not in those of the law.",
    "language_variety": "French of Belgium: the law in its official French text, the questions in "
    "everyday French.",
    "written_by": _LAW,
    "asked_by": "Citizens in Belgium, through Droits Quotidiens, which explains the law to laypeople. At "
    "least 3,200 questions were collected; 1,108 were kept.",
    "labelled_by": "Six jurists named the relevant articles: three questions of four have fewer than "
    "five, one has 109. A measure of agreement is not known here.",
    "preparation": "32 codes cut into 22,633 articles, each with the headings above it; 886 questions to "
    "learn from and 222 to test with. Synthetic questions and hard negatives of BM25 are published "
    "beside them. The lengths that the paper calls words look like characters.",
    "intended_use": "Measuring and training retrieval of statutory articles, without commercial aim.",
    "out_of_scope": _SCOPE,
    "maintenance": "Published once; its files were renamed after 2021, its law is not brought up to date.",
    "known_gaps": "Family, housing, money and justice make up 87.6 % of the questions. 1,612 articles "
    "are ever relevant, and 18 of the 32 codes have fewer than five of them. There is no one date of the "
    "law. One question lists the same article twice.",
}

BBSARD: Mapping[str, str] = {
    "published": "bBSARD (Lotfi et al. 2025); clips/bBSARD on the Hugging Face hub. From BSARD (2022).",
    "rationale": "BSARD in French and in Dutch, so that retrieval in both can be compared on the same "
    "articles and questions.",
    "language_variety": "French or Dutch of Belgium: statutory language in the articles, everyday words "
    "in the French questions. The Dutch questions are translations by a language model.",
    "written_by": _LAW,
    "asked_by": "The askers of BSARD, citizens in Belgium. In Dutch a language model has put their "
    "questions into words; nobody asked them so.",
    "labelled_by": "The jurists of BSARD; the labels are the same in both languages.",
    "preparation": "22,417 articles a language, and the 886 and 222 questions of BSARD.",
    "intended_use": "Measuring and training retrieval in French and Dutch, without commercial aim.",
    "out_of_scope": f"{_SCOPE} The Dutch questions do not show how Dutch speakers ask.",
    "maintenance": "Published once; its law is not brought up to date.",
    "known_gaps": "Those of BSARD. It has 216 articles fewer, so its numbers are not comparable with "
    "BSARD's.",
}

LLEQA: Mapping[str, str] = {
    "published": "LLeQA (Louis et al. 2024); maastrichtlawtech/lleqa on the Hugging Face hub, given to "
    "those who sign its data use agreement.",
    "rationale": "To measure long answers to legal questions that rest on statutory articles, and the "
    "retrieval of these articles.",
    "language_variety": "French of Belgium: the law in its official French text, questions and answers "
    "in plain French.",
    "written_by": "Belgian legislators; officially published texts (ejustice.just.fgov.be).",
    "asked_by": "Citizens in Belgium, through Droits Quotidiens.",
    "labelled_by": "Legal experts, with Droits Quotidiens, who also gave the long answers; articles and "
    "paragraphs are named. A measure of agreement is not known here.",
    "preparation": "27,942 articles; 1,472 questions to learn from, 201 to validate, 195 to test with; a "
    "question has topics and regions.",
    "intended_use": "Measuring and training retrieval and answers, as the agreement allows.",
    "out_of_scope": f"{_SCOPE} Anything that the data use agreement forbids.",
    "maintenance": "Published once; its law is not brought up to date.",
    "known_gaps": "195 test questions cannot tell close systems apart. There is no one date of the law.",
}
