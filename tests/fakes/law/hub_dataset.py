"""A hub of data sets for `odd_server`: it lists files and serves them as the Hugging Face hub does."""

from __future__ import annotations

import hashlib
import json

from tests.fakes.law.odd_server import Answer, Behaviour, Seen

COMMIT = "c0" * 20


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324  # as git names content


def entry(path: str, content: bytes) -> dict[str, object]:
    if "big" in path:
        large = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
        return {"type": "file", "path": path, "size": len(content), "oid": "0" * 40, "lfs": large}
    return {"type": "file", "path": path, "size": len(content), "oid": git_blob(content)}


def the_hub(files: dict[str, bytes], address: str, key: str | None = None, name: str = "us/law") -> Behaviour:
    """A hub that lists one file a page and redirects large ones."""
    listed = [
        {"type": "directory", "path": "data"},
        *(entry(path, content) for path, content in files.items()),
    ]

    def answer(seen: Seen) -> Answer:
        if key and seen.headers.get("authorization") != f"Bearer {key}":
            return Answer(401, headers={"X-Error-Code": "GatedRepo"})
        path, _, query = seen.path.partition("?")
        if path == f"/api/datasets/{name}/revision/main":
            return Answer(200, json.dumps({"sha": COMMIT}).encode())
        if path == f"/api/datasets/{name}/tree/{COMMIT}":
            page = int(query.partition("page=")[2] or 0)
            more = f'<{address}{path}?recursive=true&page={page + 1}>; rel="next"'
            headers = {"Link": more} if page + 1 < len(listed) else {}
            return Answer(200, json.dumps(listed[page : page + 1]).encode(), headers)
        file = path.removeprefix("/cdn").removeprefix(f"/datasets/{name}/resolve/{COMMIT}/")
        if file not in files:
            return Answer(404)
        if "big" in file and not path.startswith("/cdn"):
            return Answer(302, headers={"Location": f"/cdn{path}"})
        return Answer(200, files[file])

    return answer
