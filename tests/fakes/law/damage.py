"""Good files made bad: strategies for hypothesis that change bytes, records, columns and elements."""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from lxml import etree

Files: TypeAlias = Mapping[str, bytes]  # path below the folder -> content
Edit: TypeAlias = tuple[int, int, int]  # what is done, where, with what: each modulo what there is
Bytes: TypeAlias = Callable[[bytearray, int, int], None]

PUT_IN = (
    b'"',
    b"\n",
    b"\t",
    b",",
    b"null",
    b"{}",
    b"[]",
    b"\0",
    b"-1",
    b"1e999",
    b"\xff",
    b"\xc3",
    b"<!--",
    b"]]>",
)
WORDS = (
    b'"id"',
    b'"text"',
    b"article",
    b"1",
    b"Le",
    b'["',
    b"null",
    b"VIGUEUR",
    b"2020",
    b"PAR1",
    b"\x1f\x8b",
)
ODD: tuple[Any, ...] = (
    None, "", " ", 0, -1, 10**30, 1.5, True, [], [None], ["a", 1], {}, {"a": [1]}, "x" * 70_000, "2020-02-30",
    "\0", "1,2", "[1, 2]", float("nan"), float("inf"), "\ud800", [[]], "1", "[", "../x", 3, "2999-01-01",
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """How a folder of files is damaged."""

    victim: int  # which file
    level: Literal["bytes", "records", "both"]
    edits: tuple[Edit, ...]
    squeezed: (
        Literal["before", "after"] | None
    )  # the file comes as gzip, damaged before or after it became so
    archive: Literal["zip", "tar", "tar.gz"] | None  # the whole folder comes in one
    hit: bool  # whether the archive is damaged too
    lenient: bool


_SMALL = st.integers(0, 2**16)
PLANS: st.SearchStrategy[Plan] = st.builds(
    Plan,
    victim=st.integers(0, 7),
    level=st.sampled_from(["bytes", "records", "both"]),
    edits=st.lists(st.tuples(_SMALL, _SMALL, _SMALL), min_size=1, max_size=5).map(tuple),
    squeezed=st.sampled_from([None, None, "before", "after"]),
    archive=st.sampled_from([None, None, None, "zip", "tar", "tar.gz"]),
    hit=st.booleans(),
    lenient=st.booleans(),
)


def damaged(name: str, content: bytes, plan: Plan) -> bytes:
    """A file with its records and its bytes changed as planned."""
    if plan.level != "bytes":
        content = _records(name, content, plan.edits)
    if plan.squeezed == "after":
        content = gzip.compress(content)
    if plan.level != "records":
        content = _bytes(content, plan.edits)
    if plan.squeezed == "before":
        content = gzip.compress(content)
    return content


def packed(files: Files, at: Path, plan: Plan) -> Path:
    """The files in an archive, which is damaged itself where the plan says so."""
    path = at / f"law.{plan.archive}"
    if plan.archive == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz" if plan.archive == "tar.gz" else "w") as tar:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    if plan.hit:
        path.write_bytes(_bytes(path.read_bytes(), plan.edits))
    return path


def _bytes(content: bytes, edits: Sequence[Edit]) -> bytes:
    """Content with bytes changed, removed, repeated or put in, cut off, or its lines mixed."""
    found = bytearray(content)
    for what, where, chosen in edits:
        _EDITS[what % len(_EDITS)](found, where * (len(found) + 1) // (2**16 + 1), chosen)
    return bytes(found)


def _set(found: bytearray, at: int, chosen: int) -> None:
    found[at : at + 1] = bytes([chosen % 256])


def _delete(found: bytearray, at: int, chosen: int) -> None:
    del found[at : at + (1, 1, 8, 100)[chosen % 4]]


def _insert(found: bytearray, at: int, chosen: int) -> None:
    found[at:at] = PUT_IN[chosen % len(PUT_IN)]


def _repeat(found: bytearray, at: int, chosen: int) -> None:
    found[at:at] = found[at : at + chosen % 100]


def _cut_off(found: bytearray, at: int, chosen: int) -> None:
    del found[at:]


def _turn_lines(found: bytearray, at: int, chosen: int) -> None:
    rows = bytes(found).split(b"\n")
    turn = chosen % len(rows)
    found[:] = b"\n".join(rows[turn:] + rows[:turn])


def _replace_word(found: bytearray, at: int, chosen: int) -> None:
    one, two = WORDS[chosen % len(WORDS)], WORDS[chosen // len(WORDS) % len(WORDS)]
    found[:] = bytes(found).replace(one, two, 1)


_EDITS: tuple[Bytes, ...] = (_set, _delete, _insert, _repeat, _cut_off, _turn_lines, _replace_word)


def _records(name: str, content: bytes, edits: Sequence[Edit]) -> bytes:
    """Content that is well formed still, with values of other types, and records or columns gone or twice."""
    if content.startswith(b"\x1f\x8b"):
        return gzip.compress(_records(name.removesuffix(".gz"), gzip.decompress(content), edits))
    if name.endswith(".parquet"):
        return _parquet(content, edits)
    if name.endswith(".csv"):
        return _csv(content, edits)
    if name.endswith(".xml"):
        return _xml(content, edits)
    if name.endswith((".jsonl", ".json")):
        return _json(content, edits, lines=name.endswith(".jsonl"))
    return content


def _json(content: bytes, edits: Sequence[Edit], *, lines: bool) -> bytes:
    record = [json.loads(line) for line in content.splitlines()] if lines else json.loads(content)
    for what, where, chosen in edits:
        _change(record, what, where, ODD[chosen % len(ODD)])
    if lines:
        return "\n".join(json.dumps(each) for each in record).encode()
    return json.dumps(record).encode()


def _change(whole: Any, what: int, where: int, value: Any) -> None:
    """Change one value somewhere in a JSON value, in place."""
    places: list[tuple[Any, Any]] = []
    pending = [whole]
    while pending:
        part = pending.pop()
        inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, below in inside:
            places.append((part, key))
            pending.append(below)
    if not places:
        return
    part, key = places[where % len(places)]
    if what % 4 == 0:
        del part[key]
    elif what % 4 == 1 and isinstance(part, list):
        part.insert(key, copy.deepcopy(part[key]))
    else:
        part[key] = copy.deepcopy(value)  # else a list could come to hold itself


def _csv(content: bytes, edits: Sequence[Edit]) -> bytes:
    table = [row for row in csv.reader(io.StringIO(content.decode())) if row]
    for what, where, chosen in edits:
        row = table[where % len(table)]
        at = chosen % len(row)
        match what % 5:
            case 0:
                del row[at:]
            case 1:
                table.insert(where % len(table), list(row))
            case 2:
                row.append(row[at])
            case _:
                row[at] = str(ODD[where % len(ODD)])
        table = [row for row in table if row] or [[""]]
    out = io.StringIO()
    csv.writer(out).writerows(table)
    return out.getvalue().encode("utf-8", "surrogatepass")


def _parquet(content: bytes, edits: Sequence[Edit]) -> bytes:
    table = pq.read_table(io.BytesIO(content))
    for what, where, chosen in edits:
        if not table.num_columns:
            break
        at = where % table.num_columns
        name = table.column_names[at]
        if what % 5 == 0:
            table = table.remove_column(at)
        elif what % 5 == 1:
            table = pa.concat_tables([table, table.slice(0, 1)])
        else:
            values = table.column(at).to_pylist()
            odd = ODD[chosen % len(ODD)]
            # one value where the type allows it, the whole column of another type where not
            one = [odd if i == where % max(len(values), 1) else value for i, value in enumerate(values)]
            for column in (one, [odd] * len(values)):
                try:
                    changed = table.set_column(at, name, pa.array(column))
                    _written(changed)
                    table = changed
                    break
                except (pa.ArrowException, OverflowError, UnicodeError):
                    continue  # no Parquet can hold this
    return _written(table)


def _written(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="none")
    return out.getvalue()


def _xml(content: bytes, edits: Sequence[Edit]) -> bytes:
    root = etree.fromstring(content)
    for what, where, chosen in edits:
        elements = [element for element in root.iter() if isinstance(element.tag, str)]
        element = elements[where % len(elements)]
        parent = element.getparent()
        match what % 6:
            case 0 if parent is not None:
                parent.remove(element)
            case 1 if parent is not None:
                parent.insert(0, etree.fromstring(etree.tostring(element, with_tail=False)))
            case 2:
                element.tag = elements[chosen % len(elements)].tag
            case 3 if element.attrib:
                key = list(element.attrib)[chosen % len(element.attrib)]
                element.attrib[key] = _printable(ODD[chosen % len(ODD)])
            case 4:
                element.append(etree.Comment("odd"))
            case _:
                element.text = _printable(ODD[chosen % len(ODD)])
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _printable(value: Any) -> str:
    return "".join(c for c in str(value) if c >= " " and not "\ud800" <= c <= "\udfff")
