"""mMARCO, which is no law: what published systems were trained on first."""

from __future__ import annotations

from collections.abc import Mapping

MMARCO: Mapping[str, str] = {
    "published": "mMARCO (Bonifacio et al. 2021); unicamp-dl/mmarco on the Hugging Face hub. From MS "
    "MARCO (Microsoft 2016).",
    "rationale": "To train and measure passage retrieval in languages for which no such set had been made.",
    "language_variety": "Machine translation from English: web prose and search queries, not how "
    "speakers of the language write.",
    "written_by": "Authors of web pages, in English; a translation program put them into this language.",
    "asked_by": "Users of a web search engine, in English; translated by program.",
    "labelled_by": "The annotators of MS MARCO, on the English texts; few passages are judged for each "
    "query.",
    "preparation": "8,841,823 passages; each is one article without a number here. Queries without a "
    "judgement are left out.",
    "intended_use": "Training and measuring general retrieval, for research.",
    "out_of_scope": "Anything about law; commercial use; being shown to people.",
    "maintenance": "Published once.",
    "known_gaps": "Most passages that would answer a query are not judged. Translations have errors. "
    "Nobody checked them here.",
}
