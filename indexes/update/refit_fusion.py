"""Give an index a learned fusion: a new version, which differs from the one in use by that alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from indexes.build import learned_fusion
from indexes.corpus.corpus import read, to_learn_from
from indexes.store import paths
from indexes.store.manifest import stamp, verify
from indexes.store.open_index import damaged_if_unreadable, index_analyser
from indexes.store.versions import DEFAULT_VERSIONS, only_one, stamp_now, written
from indexes.update import reuse
from indexes.update.diff import FILE as CHANGES
from indexes.update.reuse import Start
from indexes.update.term_counts import canonical
from rag.errors import BadInput
from rag.ltr.ranker import Ranker
from rag.retrieval.bm25 import BM25Settings
from rag.retrieval.term_counts import count
from rag.types import ArticleOrder


def refine(name: str, start: Start, ranker: Ranker | None, keep: int = DEFAULT_VERSIONS) -> Path:
    """Switch in a version with this learned fusion, and return its folder; pages keep the one they have open.

    `start` is the version that the fusion was fitted to; None as the fusion takes away the one that is there.

    Raises:
        BadInput: the index was changed meanwhile, or another command of this name is running.
        DamagedIndex, StaleIndex: a file of the version is not what was built, or cannot be used here.
    """
    again = paths.rebuild(name)
    with only_one(name):
        if paths.current(name) != start.folder:
            raise BadInput(f"{name!r} was changed by another command meanwhile: type this one again")
        verify(start.folder, start.manifest, again)  # a file that was copied would be stamped as it is now
        version = f"{stamp_now()}-{start.manifest.corpus['sha256'][:8]}"
        with written(name, version, keep) as part:
            # what changed against the version before is not said again: the law is the same
            other = (learned_fusion.FOLDER, CHANGES)
            same = [each for each in start.manifest.files if each.partition("/")[0] not in other]
            known = reuse.link_files(start, part, same)
            if ranker is not None:
                cut = index_analyser(start.manifest, again)
                with damaged_if_unreadable(start.folder, again):
                    corpus = read(start.folder / "corpus")
                    order = ArticleOrder.of([article.id for article in corpus.articles])
                    counts = reuse.stored_counts(start.folder, order)
                if counts is None:
                    questions = to_learn_from(corpus.questions)
                    counts = canonical(count(corpus.articles, cut).with_questions(questions, cut.terms))
                settings = BM25Settings(**start.manifest.bm25)
                learned_fusion.save(ranker, corpus, counts, settings, cut, part)
            built = datetime.now(UTC).isoformat(timespec="seconds")
            stamp(replace(start.manifest, version=version, built=built, files={}), part, known)
        return paths.index_folder(name) / version
