"""The store of corpora and indexes: where they lie, how one is switched in, how one is opened."""

from __future__ import annotations

from indexes.store.atomic import switch, sync
from indexes.store.keeping import only_one
from indexes.store.open import HASH_AT_OPENING, assemble, open_index
from indexes.store.paths import (
    BUILTIN,
    CURRENT,
    builtin,
    checked_name,
    command,
    corpus_folder,
    current,
    home,
    index_folder,
    learn_fusion,
    locate,
    names,
    page,
    rebuild,
)
from indexes.store.versions import new_corpus, new_version, refuse_existing, remove, stamp_now

__all__ = [
    "BUILTIN",
    "CURRENT",
    "HASH_AT_OPENING",
    "assemble",
    "builtin",
    "checked_name",
    "command",
    "corpus_folder",
    "current",
    "home",
    "index_folder",
    "learn_fusion",
    "locate",
    "names",
    "new_corpus",
    "new_version",
    "only_one",
    "open_index",
    "page",
    "rebuild",
    "refuse_existing",
    "remove",
    "stamp_now",
    "switch",
    "sync",
]
