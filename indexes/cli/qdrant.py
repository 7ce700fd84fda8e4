"""`python -m indexes qdrant` and `postgres`: bring an index into a store, and its versions into use there."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing

from indexes.cli.progress import Bars
from indexes.qdrant.address import connect
from indexes.qdrant.collection import version_of
from indexes.qdrant.upload import list_collections, patient, roll_back, upload
from indexes.store import paths
from indexes.store.manifest import read, verify


def qdrant(parsed: argparse.Namespace) -> Iterator[str]:
    """Do what was typed; yield what is to be said. Raises as `upload` and `roll_back`, and as `connect`."""
    name, address = parsed.name, parsed.to.rstrip("/")
    store = connect(address)
    if parsed.what == "upload":
        folder, cure = paths.locate(name)
        manifest = read(folder, cure)
        verify(folder, manifest, cure)
        with closing(Bars()) as bars:
            done = upload(folder, manifest, cure, store, bars, parsed.keep)
        counts = f"{done.written:,} articles written, {done.same:,} there already, {done.removed:,} removed"
        yield f"{name}: {counts}"
        yield f"{name}: version {version_of(done.collection)} is in use at {address}"
        yield f"next: {paths.page(f'{address}/{name}')}"
    elif parsed.what == "rollback":
        collection = roll_back(store, name, parsed.version)
        yield f"{name}: version {version_of(collection)} is in use at {address}"
    else:
        store = patient(store)
        in_use = store.aliases().get(name)
        for collection, about in list_collections(store, name):
            told = "not whole"
            if about is not None and about["complete"]:
                told = f"{about['articles']:>9,} articles  uploaded {about['uploaded']}"
            yield f"{'*' if collection == in_use else ' '} {version_of(collection)}  {told}"
