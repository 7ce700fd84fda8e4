"""French law: the bulk of LEGI, the eight codes for measuring, and what ships."""

from __future__ import annotations

from collections.abc import Mapping

_LAW = "The French legislator and government; consolidated by DILA, the state's office of legal information."

LEGI: Mapping[str, str] = {
    "published": "LEGI, the open bulk of consolidated French law, by DILA.",
    "rationale": "To publish French law, each version of each article with the days on which it holds.",
    "language_variety": "French of France, statutory and administrative language.",
    "written_by": _LAW,
    "preparation": "One file for each version of an article. Those in force are taken unless others are "
    "asked for; headings come from the titles above an article, references from its links.",
    "intended_use": "Searching French law, also commercially; the date of the import should be told.",
    "out_of_scope": "Legal advice. There are no questions: nothing can be measured on it alone.",
    "maintenance": "DILA publishes changes continually; what was imported stays as it was until it is "
    "imported again.",
    "known_gaps": "Case law, collective agreements and local rules are not in it. Days that LEGI does "
    "not know are written there as 2999-01-01 or 2222-02-22 and are left out here.",
}

MEASURING: Mapping[str, str] = {
    "published": "Eight codes from LEGI (DILA), and citizens' questions from service-public.fr (DILA).",
    "rationale": "To measure retrieval of French law on real questions, which are labelled by the "
    "state's own information service.",
    "language_variety": "French of France: statutory language in the articles; in the questions, the "
    "plain words of the administration.",
    "written_by": _LAW,
    "asked_by": "44 of the 70 questions are those of the service-public.fr sheets themselves; 26 were "
    "written from a sheet's title and introduction, before looking at the articles, where the title is "
    "only a topic.",
    "labelled_by": "The sheets' own lists of legal references, read by program: ranges expanded, "
    "sections taken as their articles. Where two ways of reading could be compared, four of eight gave "
    "the same set.",
    "preparation": "Repealed and empty articles dropped. References to more than 60 articles, to laws "
    "that are not here, and to ranges renumbered since 2015 left out.",
    "intended_use": "Measuring retrieval. MRR and success say more than recall, for gold sets are broad.",
    "out_of_scope": "Legal advice; being shown to people as the law in force.",
    "maintenance": "None: it is kept as it is, so that measurements stay comparable.",
    "known_gaps": "Labels are by section of a code: many are only loosely relevant. They are also "
    "incomplete: 79 of 360 references could not be mapped, most of them to laws that are not here, such "
    "as that of 6 July 1989 on renting. The Code civil is of January 2025, the other codes are of about "
    "2015 and have gaps. 48 of the 70 questions are about family; 88 % of the labels lie in the Code "
    "civil.",
}

BUILTIN: Mapping[str, str] = {
    "published": "With Pandect, in indexes/builtin.",
    "rationale": "So that the page works at once, without a network, on a law that concerns everybody; "
    "and so that a French corpus of one's own has questions to learn from.",
    "language_variety": "French of France, plain words in the summaries, everyday words in the questions.",
    "written_by": "A machine, from the official text: one unofficial summary an article. All were read "
    "against that text twice more, article by article, and compared with it by a program; what was found "
    "was mended (docs/builtin-law.md). The readers were machines too: no lawyer has checked them.",
    "asked_by": "A machine, which was told to imagine somebody who has never read the article: a short "
    "query, a plain question, a small story. Nobody asked them.",
    "labelled_by": "By construction: a question belongs to the article that it was written for. Each was "
    "then read beside it, by machine: where the article does not answer it, it was mended, attached to "
    "another or dropped. Other articles may answer it too, which is mostly not noted.",
    "preparation": "The numbers, headings and addresses are those of LEGI. Questions share almost no run "
    "of six words with their article. Test questions lie beside it (questions_test.jsonl) and are learnt "
    "from nowhere.",
    "intended_use": "Finding the article of the Code civil that deals with a situation, and the way to "
    "its official text; annotations for French retrieval.",
    "out_of_scope": "Legal advice; quoting it as the law; a test set for systems that have learnt from it.",
    "maintenance": "It stays at January 2025 until it is made again (python -m indexes make-builtin).",
    "known_gaps": "A summary may leave out a condition or be wrong. Some technical articles have no "
    "question. Only the Code civil is here: rents, work and social law are elsewhere.",
}
