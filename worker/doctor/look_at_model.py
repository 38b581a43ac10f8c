"""The language model: whether there is one, whether it is asked, and, when allowed, whether it answers."""

from __future__ import annotations

from collections.abc import Sequence

from worker.doctor.examination import Examined
from worker.doctor.findings import Finding
from worker.llm.deadlines import Deadlines, read_within
from worker.llm.language_model import LanguageModel, Message, ModelError, ModelEvent, ModelRequest

_ADVICE = {
    "invalid_key": "the key is refused: set AISLE_GEMINI_API_KEY or GOOGLE_API_KEY to a good one, restart",
    "rate_limited": "the model's quota is used up: raise it with the provider; the rules answer meanwhile",
    "not_found": "the model's name is unknown there: set AISLE_MODEL, or the account's agentic_config.models",
    "unavailable": "the provider has trouble: see its status page; the rules answer meanwhile",
    "timeout": "it is too slow or out of reach: look at the network; the rules answer meanwhile",
    "disconnected": "it is out of reach: look at the network and AISLE_GEMINI_BASE_URL",
}
_OTHER = "the message says why; the rules answer meanwhile"
_ASK_SECONDS = 4.0


async def look_at_model(examined: Examined) -> Sequence[Finding]:
    """Return the model's state; a call of one token is made where the examination allows it."""
    services = examined.services
    model = services.model
    if model is None:
        return [
            Finding(
                part="model",
                level="warn",
                looked_at="whether a model is set up",
                found="no key: every plan is made by the rules",
                advice="set AISLE_GEMINI_API_KEY (or GOOGLE_API_KEY, or AISLE_VERTEX_PROJECT) and restart",
            )
        ]
    findings = [_breakers(examined), _budget(examined)]
    if examined.asks_model:
        findings.append(await _asked(model, _model_name(examined)))
    return findings


def _model_name(examined: Examined) -> str:
    own = None
    if examined.index is not None:
        snapshot = examined.services.accounts.snapshot(examined.caller.account_id, examined.index)
        own = snapshot.settings.agentic_config.models.plan
    return own or examined.services.settings.model


def _breakers(examined: Examined) -> Finding:
    states = {name: breaker.state.value for name, breaker in examined.services.breakers.items()}
    broken = {name: state for name, state in states.items() if state != "closed"}
    return Finding(
        part="model breaker",
        level="warn" if broken else "ok",
        looked_at="which models are left alone because they failed",
        found=", ".join(f"{name} is {state}" for name, state in broken.items()) or "none",
        advice="it closes by itself with the first call that succeeds; `aisle doctor --ask-model` tries one"
        if broken
        else "",
    )


def _budget(examined: Examined) -> Finding:
    services, account = examined.services, examined.caller.account_id
    own = None
    if examined.index is not None:
        snapshot = services.accounts.snapshot(account, examined.index)
        own = snapshot.settings.agentic_config.budgets.tokens_per_day
    spent = services.budget.spent_today(account)
    limits = [limit for limit in (services.budget.tokens_per_day, own) if limit is not None]
    limit = f" of {min(limits):,}" if limits else ", without a limit"
    allowed = services.budget.allows(account, own)
    return Finding(
        part="token budget",
        level="ok" if allowed else "fail",
        looked_at="tokens of this account today (UTC)",
        found=f"{spent:,}{limit}" if allowed else f"{spent:,}{limit}: spent, the rules answer until midnight",
        advice=""
        if allowed
        else "raise AISLE_TOKENS_PER_DAY or the account's agentic_config.budgets.tokens_per_day",
    )


async def _asked(model: LanguageModel, name: str) -> Finding:
    looked_at = f"one call of one token to {name}"
    request = ModelRequest(
        model=name,
        system="Answer with one word.",
        messages=(Message(role="user", text="Hello"),),
        max_output_tokens=1,
    )
    heard: list[ModelEvent] = []
    waited = Deadlines(first_event_seconds=_ASK_SECONDS, gap_seconds=_ASK_SECONDS, total_seconds=_ASK_SECONDS)
    try:
        await read_within(waited, model, request, heard.append)
    except ModelError as error:
        if error.kind != "incomplete":
            return Finding(
                part="model call",
                level="fail",
                looked_at=looked_at,
                found=f"{error.kind}: {error}",
                advice=_ADVICE.get(error.kind, _OTHER),
            )
    return Finding(part="model call", level="ok", looked_at=looked_at, found="it answered")
