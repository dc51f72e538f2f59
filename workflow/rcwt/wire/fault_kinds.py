"""What each permanent failure is called and what to do about it: by status and codes first, by the words second.

A fault that is called permanent and would have passed loses a cell until the next run; one that is called passing and
stays costs requests until the deadline. So only what a provider words clearly counts as permanent where its status
says that it may pass.
"""

import re
from collections.abc import Set
from typing import Literal

#: Whose other calls a failure strikes too: all of the registry entry, those with the same parameters, or none.
Scope = Literal["model", "parameters", "request"]

#: Characters of a message that are looked at.
_LOOKED_AT = 4000
#: A limit of a day that grants another call within so many seconds is a rate.
_SOON_S = 60.0

_REMEDIES = {
    "wrong_key": "Check that the environment variable that the model's `api_key_env` names holds a key for the service "
    "at its address",
    "redirected": "Give the address that it redirects to as the model's `api_base`",
    "forbidden": "Ask the provider to allow this model, project, region or network for the key",
    "location_not_supported": "Run where the provider serves, or take the model from a service that serves here",
    "account_inactive": "Settle it with the provider, then run again: finished calls are kept",
    "retired_model": "The server has no such model for this key: correct `litellm` or `api_base`, ask the provider for "
    "access, or load the model into a server of your own",
    "too_large": "The request is larger than the server takes: use a smaller window",
    "above_quota": "One request takes more tokens than the provider's quota allows at once: use a smaller window or "
    "`max_tokens`, or have the quota raised",
    "long_context_not_enabled": "Use a smaller window, or enable long context for the account at the provider",
    "quota_exhausted": "Add credit, raise the limit at the provider, or wait until it is renewed; then run again: "
    "finished calls are kept",
    "context_window_exceeded": "Use a window that leaves room for `max_tokens` in the model's context. A server of "
    "your own may hold more: num_ctx (Ollama), --max-model-len (vLLM), --ctx-size (llama.cpp)",
    "unsupported_parameter": "Rename it or set it to null under the model's `param_names`, or give a value that the "
    "model takes in `params`",
    "bad_request": "The server refuses the request as it is. Where its reason names a parameter, change that in "
    "`params` or `param_names`; else ask whoever runs the server",
}
# Not to be set to null: without an output cap nothing is sent.
_RENAME_THE_CAP = "Rename it under the model's `param_names`, for instance {max_tokens: max_completion_tokens}"
_OF_THE_GATEWAY = "Check the key that the gateway at the model's address holds for {upstream}"

_OF_MODEL = frozenset(
    {
        *("missing_key", "wrong_key", "redirected", "forbidden", "location_not_supported", "account_inactive"),
        *("retired_model", "quota_exhausted"),
        # litellm takes the model for another, or sends its requests unseen.
        *("rerouted", "unwatched", "not_sent"),
    }
)
_OF_STATUS = {
    **{401: "wrong_key", 402: "quota_exhausted", 403: "forbidden", 404: "retired_model"},
    **{410: "retired_model", 413: "too_large", 451: "location_not_supported"},
}
# 424: an inference server whose model failed; 499: cancelled on the server's side.
_PASSING = frozenset({408, 409, 424, 425, 429, 499})

_QUOTA_CODES = frozenset(
    {
        *("insufficient_quota", "exceeded_current_quota_error", "billing_hard_limit_reached", "billing_not_active"),
        *("billing_disabled", "billing_error", "budget_exceeded", "credit_limit", "insufficient_credits"),
        *("insufficient_balance", "usage_limit_reached"),
        # DashScope
        *("arrearage", "allocationquota.freetieronly", "prepaidbilloverdue", "postpaidbilloverdue"),
        "commoditynotpurchased",
    }
)
# Numbers mean something at one vendor only, and there with this status.
_QUOTA_NUMBERS = frozenset({"1113", "1304", "1308", "1309", "1310"})
# DashScope says `insufficient_quota` of a limit a minute.
_RATE_WORDS = re.compile(r"allocated quota exceeded")
# Not OpenAI's "exceeded your current quota": Gemini says the same of a limit a minute, which passes. Nor "payment
# method" and "billing" alone: many name them beside a rate limit, as a way to a higher one.
_QUOTA_WORDS = re.compile(
    r"credit balance|prepayment credits|insufficient (?:account )?(?:balance|funds|credits?)|余额不足|欠费"
    r"|balance is (?:insufficient|too low|not enough)|not enough (?:credits?|balance|funds)|requires more credits"
    r"|(?:out of|no more|used all available|(?:does not|doesn't|do not|don't) have (?:any|enough)) credits?"
    r"|credits? (?:is|are|has been|have been|was|were) (?:depleted|exhausted|used up)|credit limit"
    r"|(?:spending|spend|monthly usage|billing hard) limit|key limit exceeded|monthly included credits"
    r"|budget has been exceeded|exceeded ?budget|api usage limits|out of call volume quota"
    r"|free (?:tier|quota|trial|allocation|allotment)[^\n]{0,60}(?:exhausted|used up|expired|ended)"
    r"|used up your (?:daily|monthly|free)"
    r"|(?:please|must|to) enable billing|billing to be enabled|billing (?:is|has been) (?:disabled|not enabled)"
    r"|overdue|past invoices|good standing|please recharge|add or update your payment method"
    r"|quota exceeded for metric: [^,]{1,200}, limit: 0(?![.\d])|\blimit 0, (?:used|requested)"
)
_LONG_WORDS = re.compile(
    r"per[ _-]?(?:day|week|month)\b|\b(?:daily|weekly|monthly)\b|\b(?:tpd|rpd)\b|/ ?(?:day|month)\b|per 86400|byday"
    r"|\b24 hours|usage limit"
)
_SHORT_WORDS = re.compile(r"per[ _-]?(?:second|sec|minute|min)\b|\b(?:tpm|rpm)\b|/ ?(?:second|minute|min)\b|byminute")
_WAIT = re.compile(
    r"(?:try again|retry|wait|reset)[^\d.]{0,30}(?:(?P<h>\d+) ?h(?:ours?|rs?)?[ ,]*)?"
    r"(?:(?P<m>\d+) ?m(?:in(?:ute)?s?)?(?![a-z])[ ,]*)?(?:(?P<s>\d+(?:\.\d+)?) ?(?P<milli>m?)s)?"
)
_LONG_CONTEXT_WORDS = re.compile(r"required for long context|long context (?:beta )?is not")
_ABOVE_QUOTA_WORDS = re.compile(r"request too large|request is too large")

_CONTEXT_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "1261", "model_max_prompt"}
)
_MORE = (
    r"(?:exceed\w*|overflow\w*|too (?:long|large|many|big)|longer than|greater than|larger than|more than|beyond"
    r"|not enough|of only)"
)
# Not the word alone: Go's timeouts are a "context deadline exceeded".
_CONTEXT = r"\bcontext[ _-]?(?:length|window|size|limit)\b"
_CONTEXT_WORDS = re.compile(
    rf"\bmax(?:imum|\.)? (?:context|prompt|sequence|model length)\b|{_MORE}[^\n]{{0,60}}{_CONTEXT}"
    rf"|{_CONTEXT}[^\n]{{0,60}}\b{_MORE}|contextwindowexceeded|context the overflows|max_model_len"
    r"|\b(?:prompt|input)s? (?:is |are )?too long|exceed\w* the maximum number of tokens"
)
# What servers say of a long prompt without naming the context: clear only where the status blames the request.
_LENGTH_WORDS = re.compile(
    r"\b(?:prompt|inputs?|messages|token count)\b[^\n]{0,60}\bexceed\w*[^\n]{0,40}\b(?:length|tokens?|limit)"
    r"|\brequest\b[^\n]{0,60}\bexceed\w*[^\n]{0,40}\btokens?\b"
    r"|\bexceed\w*[^\n]{0,40}\b(?:input|prompt) (?:tokens?|length)"
    r"|too many tokens: |range of input length should|input token count is|max_new_tokens. must be"
    r"|inputs. must have less than|reduce the length of the (?:messages|prompt|input)"
)
# With one of these a larger output than the model's was asked for.
_OUTPUT_WORDS = re.compile(
    r"output tokens|completion tokens|\bmax_(?:completion_|output_)?tokens\W{0,3} ?(?:is|must|>)"
)

_LOCATION_CODES = frozenset({"unsupported_country_region_territory", "unsupported_country", "unsupported_location"})
_LOCATION_WORDS = re.compile(
    r"\b(?:user location|countr(?:y|ies)|territor(?:y|ies))\b[^\n]{0,40}\bnot (?:supported|available|allowed)"
    r"|not (?:supported|available|allowed)[^\n]{0,40}\byour (?:location|country|region|territory)"
    r"|unsupported (?:countries|country|location)"
)
_INACTIVE_CODES = frozenset({"account_deactivated", "organization_restricted", "consumer_suspended", "1110", "1112"})
_INACTIVE_WORDS = re.compile(
    r"(?:account|organization|project|consumer|team)\b[^\n]{0,60}\b(?:deactivated|suspended|disabled|restricted|locked)"
)
_KEY_CODES = frozenset({"api_key_invalid", "invalid_api_key"})
_KEY_WORDS = re.compile(
    r"api key (?:is )?(?:not valid|expired|invalid)|(?:invalid|incorrect) api (?:key|token)|key was reported as leaked"
    r"|unregistered callers"
)
_FORBIDDEN_CODES = frozenset(
    {"key_model_access_denied", "model_terms_required", "service_disabled", "accessdenied.unpurchased"}
)
_FORBIDDEN_WORDS = re.compile(
    r"must be verified|requires terms acceptance|missing scopes|insufficient permissions|not allowed to access model"
    r"|data policy|guardrail|member of an organization|match organization|has not been used in project"
)
_MODEL_CODES = frozenset(
    {
        *("model_not_found", "invalid_model", "model_decommissioned", "model_not_available", "unknown_model"),
        *("model_not_supported", "deploymentnotfound", "1211"),
    }
)
_MODEL_WORDS = re.compile(
    r"invalid model name|\bmodel\b[^\n]{0,120}\b(?:does not exist|not found|decommissioned)|not a valid model"
)
_PARAMETER_CODES = frozenset(
    {"unsupported_parameter", "unsupported_value", "unknown_parameter", "not_supported_error", "unsupportedparamserror"}
)
_PARAMETER_WORDS = re.compile(
    r"(?:unsupported|unknown|unrecognized) (?:parameter|value|name|request argument)|argument not supported"
    r"|extra (?:inputs|fields) (?:are )?not permitted|not supported (?:with|by|for|on) this model"
    r"|not enabled for this model|is deprecated for this model|`temperature` and `top_p` cannot both"
    r"|no endpoints found that support|no allowed providers"
)


def kind_of(status: int, codes: Set[str], message: str, wait_s: float | None, daily: bool) -> str | None:
    """The kind of a failure that stays; None of one that may pass.

    `codes` are the error's codes and types in small letters, `wait_s` the seconds that the server asks to wait, and
    `daily` says that it names a quota of a day.
    """
    words = message[:_LOOKED_AT].lower()
    if status < 400:
        return "redirected"
    if status < 500 and _is_spent(status, codes, words, wait_s, daily):
        return "quota_exhausted"
    if _is_beyond_context(status, codes, words):
        return "context_window_exceeded"
    if status in (400, 403, 429) and _LONG_CONTEXT_WORDS.search(words):
        return "long_context_not_enabled"
    # Groq says the same with 413, which otherwise means bytes.
    if _ABOVE_QUOTA_WORDS.search(words) and (status == 429 or (status == 413 and _SHORT_WORDS.search(words))):
        return "above_quota"
    if status >= 500 or status in _PASSING or (status == 498 and "capacity" in words):
        return None
    return _named(status, codes, words)


def _is_spent(status: int, codes: Set[str], words: str, wait_s: float | None, daily: bool) -> bool:
    """Whether a quota is used up that no wait within a run renews."""
    if status == 429 and _RATE_WORDS.search(words):
        return False
    if daily or codes & _QUOTA_CODES or (status == 429 and codes & _QUOTA_NUMBERS):
        return True
    if _QUOTA_WORDS.search(words):
        return True
    if status not in (400, 403, 429) or not _LONG_WORDS.search(words) or _SHORT_WORDS.search(words):
        return False
    wait_s = _worded_wait_s(words) if wait_s is None else wait_s
    return wait_s is None or wait_s > _SOON_S


def _worded_wait_s(words: str) -> float | None:
    """The seconds after which a message says that a call is worth another attempt: `try again in 7m12.5s`."""
    for found in _WAIT.finditer(words):
        hours, minutes, seconds = (float(found[name] or 0) for name in "hms")
        if found["h"] or found["m"] or found["s"]:
            return 3600 * hours + 60 * minutes + seconds / (1000 if found["milli"] else 1)
    return None


def _is_beyond_context(status: int, codes: Set[str], words: str) -> bool:
    if status in _PASSING or status > 500:
        return False
    if codes & _CONTEXT_CODES or _CONTEXT_WORDS.search(words):
        return True
    return status < 500 and bool(_LENGTH_WORDS.search(words)) and not _OUTPUT_WORDS.search(words)


def _named(status: int, codes: Set[str], words: str) -> str:
    """The kind of a failure whose status does not pass; the status decides where neither code nor words are known."""
    rules: tuple[tuple[str, Set[str], re.Pattern[str]], ...] = (
        ("location_not_supported", _LOCATION_CODES, _LOCATION_WORDS),
        ("forbidden", _FORBIDDEN_CODES, _FORBIDDEN_WORDS),
        ("account_inactive", _INACTIVE_CODES, _INACTIVE_WORDS),
        ("wrong_key", _KEY_CODES, _KEY_WORDS),
        ("unsupported_parameter", _PARAMETER_CODES, _PARAMETER_WORDS),
        ("retired_model", _MODEL_CODES, _MODEL_WORDS),
    )
    clear = next((kind for kind, known, _ in rules if codes & known), None)
    worded = next((kind for kind, _, pattern in rules if pattern.search(words)), None)
    kind = clear or worded or _OF_STATUS.get(status, "bad_request")
    # A model that the key may not use is there, and `litellm` is right.
    return "forbidden" if kind == "retired_model" and status == 403 else kind


def remedy_of(kind: str, message: str = "", upstream: str = "") -> str:
    """What to do about a failure of a known kind; `upstream` is the provider behind a gateway, where it was that."""
    if kind == "unsupported_parameter" and re.search(r"\bmax_(?:completion_)?tokens\b", message[:_LOOKED_AT]):
        return _RENAME_THE_CAP
    if kind == "wrong_key" and upstream:
        return _OF_THE_GATEWAY.format(upstream=upstream)
    return _REMEDIES[kind]


def scope_of(kind: str) -> Scope:
    """Whose other calls a failure of this kind strikes too."""
    if kind in _OF_MODEL:
        return "model"
    return "parameters" if kind == "unsupported_parameter" else "request"
