"""The first question, asked by the page itself while somebody types theirs.

Much is made when it is first asked for: neighbours and annotated questions, the patterns of urgent
situations and countries (a third of a second), what the question back reads. A list of all that would
soon lack something; a question goes through it as everybody's do.
"""

from __future__ import annotations

from rag.answer.screening.decision import before
from rag.answer.screening.dialogue import clarify
from rag.logs import log_failure
from rag.ui.protocols import AskEngine
from rag.ui.search import SHOWN


def rehearse(engine: AskEngine) -> None:
    """Ask an example question of the corpus, and forget what is found.

    What breaks is logged and breaks nothing: who asks is told by the page.
    """
    card = engine.card
    question = card.examples[0] if card.examples else card.title
    try:
        result = engine.ask(question, k=SHOWN)
        engine.explain(result)
        # why leaves=False: what marks personal data needs the extra [llm], which a page without a model lacks
        before(question, result, card, leaves=False)
        clarify(question, result.shown, card.language)
    except Exception as error:  # noqa: BLE001 - nobody waits for it
        log_failure(error, "the rehearsal")
