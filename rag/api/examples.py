"""What each route answers, as its description shows it: the law of a village that is not on any map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from http import HTTPStatus
from typing import Any

from rag.api import result
from rag.api.problems import Problem
from rag.engine.result import Explanation, Level, MeaningShare, ResultPlace
from rag.types import WordShare

_DAY, _CODE, _ASKED = date(2026, 1, 1), "Code de la mare", "Puis-je planter près de la mare ?"
_TEXT = result.ArticleText(
    "mare-7", "/v1/articles/mare-7", _CODE, "7", ("Livre I", "Des plantations"),
    "Nul ne plante un saule à moins de dix pas de la mare commune.", "official", "fr",
    "https://law.example.org/mare/7", "https://law.example.org/mare/7", _DAY, None, _DAY,
    "CC0", "law.example.org",
)  # fmt: skip
_NEXT = result.Neighbour("mare-8", "/v1/articles/mare-8", _CODE, "8")
_FOUND = result.Found(
    "found", (result.Notice("read as", "“soule” was read as “saule”."),),
    (result.FoundArticle(**{**asdict(_TEXT), "headings": _TEXT.headings}, rank=1, score=0.0476,
                         reason=("mare", "plant"), asked=(_ASKED,), named=False),),
    confidence=0.81, doubtful=False, level=Level.SURE, answer_set=2, may_answer=True, refusal=None, topic=(),
    steps=("Ask your neighbour in writing to take it away.",), method="hybrid", day=None,
    index="mare/20260101T080000000000-0f3a9c21",
)  # fmt: skip
_ANSWERS: Mapping[str, object] = {
    "/v1/search": _FOUND,
    "/v1/why/{rank}": result.Why(
        1, _TEXT, 0.0476, 7.25, 0.0476,
        Explanation(
            "mare-7", (WordShare("mare", "mare", 4.25), WordShare("plant", "planté", 3.0)), 0.62,
            (MeaningShare("plant", "planté", 0.4), MeaningShare("mare", "mare", 0.22)),
            (ResultPlace("keyword", 1, 0.0476),),
        ),
    ),
    "/v1/articles/{id}": result.ArticlePage(
        _TEXT, None, _NEXT, (_NEXT,), refers_to=(), refers_to_total=0, referred_by=(_NEXT,),
        referred_by_total=1, read_with=(), time_limits=(), amounts=(), note="",
        questions=(_ASKED,),
    ),
    "/v1/topics": result.Topics(
        "mare", "20260101T080000000000-0f3a9c21", "Le droit de la mare", "fr", "XX", "CC0", "law.example.org",
        "official", 12, _DAY, _DAY, (result.CodeTopic(_CODE, 12, _DAY, None, ("Des plantations",)),),
        {"loi": 12}, {}, ("hybrid", "keyword", "meaning"), (_ASKED,),
        (result.OtherLaw("tax", {"en": "taxes"}, "Code de la dîme", None),),
    ),
}  # fmt: skip


def describe(paths: Mapping[str, Any]) -> None:
    """Put an example into each response that OpenAPI's `paths` describe.

    Given to the framework, they would lose what is null.
    """
    for path, answer in _ANSWERS.items():
        for route in paths[path].values():
            for status, response in route["responses"].items():
                well = status == str(int(HTTPStatus.OK))
                shown = response["content"]["application/json" if well else "application/problem+json"]
                shown["example"] = result.plain(answer if well else _problem(int(status)))


def _problem(status: int) -> Problem:
    told = "What came, and what was expected."
    return Problem("request", HTTPStatus(status).phrase, status, told, cure="What to send or to type.")
