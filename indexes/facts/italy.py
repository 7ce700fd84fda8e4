"""JuriFindIT."""

from __future__ import annotations

from collections.abc import Mapping

JURIFINDIT: Mapping[str, str] = {
    "published": "JuriFindIT (Noce et al. 2026); jurifindit/JuriFindIT on the Hugging Face hub.",
    "rationale": "To measure retrieval of Italian and European law for questions of experts, with the "
    "hierarchy of the acts and their cross-references at hand.",
    "language_variety": "Italian: statutory and regulatory language in the articles, an expert's prose "
    "in the questions.",
    "written_by": "Italian and European institutions, 159 documents: 35 of the Italian state, 23 of the "
    "European Parliament and Council, 20 of the Council, and others of supervisory authorities.",
    "asked_by": "Legal experts wrote 895 questions: civil code 574, criminal law 144, money laundering "
    "108, privacy 69. 169,301 more were written by a language model (Qwen3-32B), up to eight an article.",
    "labelled_by": "Legal experts. How many for each question, and how far they agree, is not known here.",
    "preparation": "23,458 articles and 20,608 cross-references. The 159 rows that stand for a whole act "
    "are kept apart as nodes: they are referred to, never found.",
    "intended_use": "Measuring and training retrieval in Italian, without commercial aim.",
    "out_of_scope": "Legal advice; being shown to people as the law in force; commercial use; how "
    "laypeople ask.",
    "maintenance": "Published once; its law is not brought up to date.",
    "known_gaps": "There is no test set beside validation (179 questions). 753 articles have fewer than "
    "five words, 227 more than 2,000; exact duplicates occur, and articles that refer to themselves. The "
    "reference extractor found about two thirds of the references to documents and half of those to "
    "sections. Questions on privacy have 23 relevant articles on average, those on the civil code one.",
}
