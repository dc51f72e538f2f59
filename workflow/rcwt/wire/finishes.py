"""How a turn of a model ended, by the word that its provider has for it: a closed set.

A word that is not in it is not taken for a good end in silence. Vendors spell one word in many ways (`MAX_TOKENS`,
`max_tokens`, `maxTokens`, `FinishReason.MAX_TOKENS`), so case, separators and the name of an enum do not count.
"""

import json
import re
from typing import Literal

End = Literal["ok", "truncated", "refused", "filtered", "failed"]

_WORDS: dict[End, str] = {
    # A turn that ends in a call of a tool says nothing more: whether it holds an answer is seen from its text.
    "ok": """
        stop end end_turn stop_sequence stop_string stop_string_found stop_word stop_token word normal
        eos eos_token eos_found eos_token_found end_of_text end_of_turn end_of_sequence endoftext
        complete completed finish finished done success succeeded
        tool_call tool_calls tool_use function_call function_calls
        null none unspecified
        """,
    "truncated": """
        length max_length length_limit limit token_limit max_tokens max_token max_len max_output_tokens max_new_tokens
        max_completion_tokens maximum_tokens max_tokens_reached max_predicted_tokens_reached model_length
        max_context context_length context_length_reached context_length_exceeded context_limit
        model_context_window_exceeded context_window_exceeded error_limit incomplete
        pause_turn compaction
        """,
    "refused": "refusal refused",
    "filtered": """
        content_filter content_filtered content_filtering content_blocked content_policy content_policy_violation
        filter filtered blocked block_list blocklist blocked_by_safety moderation moderated flagged unsafe
        safety recitation language prohibited_content spii jailbreak model_armor
        image_safety image_prohibited_content image_recitation
        guardrail guardrails guardrail_intervened guardrail_triggered
        sensitive input_sensitive output_sensitive sensitive_content error_toxic
        """,
    # Nothing, or no whole reply, came of it, by no word of a filter or a limit: the same request may well be answered.
    "failed": """
        error errored fail failed failure timeout timed_out time_limit deadline_exceeded
        network_error server_error internal_error internal_server_error api_error upstream_error provider_error
        model_error engine_error generation_error unknown_error service_unavailable unavailable overloaded
        insufficient_system_resource insufficient_system_resources resource_exhausted rate_limit rate_limit_exceeded
        abort aborted cancel canceled cancelled user_cancel user_cancelled user_stopped interrupted
        not_finished in_progress queued load unload model_unloaded
        other malformed_response malformed_function_call malformed_tool_call malformed_tool_use malformed_model_output
        unexpected_tool_call too_many_tool_calls missing_thought_signature image_other no_image
        """,
}
# Numbers of Gemini's enum, which some clients print in the place of its words. Its two services number differently
# from 6 on; up to 11 both mean a filter, or a tool's call gone wrong, and no tools are sent.
_CODES: dict[End, str] = {"ok": "0 1", "truncated": "2", "filtered": "3 4 6 7 8 9 10 11", "failed": "5"}
_PREFIX = re.compile(r"(?:\w+\.)?(?:(?:finish|stop|done)?[-_ ]?reason[-_ ])?", re.IGNORECASE)
#: A longer word is no word of a vendor's.
_LONGEST = 100


def _spelled(word: str) -> str:
    """A word without what vendors spell differently; itself where that is no word."""
    if len(word) > _LONGEST:
        return word
    bare = word.strip()
    prefix = _PREFIX.match(bare)
    return re.sub(r"[\W_]", "", bare[prefix.end() if prefix else 0 :].lower()) or word


_OF_WORD: dict[str, End] = {_spelled(word): end for end, words in _WORDS.items() for word in words.split()}
_OF_CODE: dict[str, End] = {code: end for end, codes in _CODES.items() for code in codes.split()}
#: Which of two known words decides: a filter or a limit would only end the next attempt too, a failure may pass.
_WEIGHT: tuple[End, ...] = ("filtered", "refused", "truncated", "failed", "ok")


def word_of(value: object) -> str | None:
    """The finish word in a field of a body, as it stands there; None for no field.

    Some servers send a number, or an object whose `type` is the word.
    """
    if isinstance(value, dict) and "type" in value:
        value = value["type"]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str | None) else json.dumps(value)[:_LONGEST]


def end_of(word: str | None) -> End | None:
    """How a turn ended by its finish word; no word is a plain end. None for a word that nobody knows."""
    if word is None or not word.strip():
        return "ok"
    return _OF_CODE.get(word.strip()) or _OF_WORD.get(_spelled(word))


def deciding(word: str | None, native: str | None) -> str | None:
    """Of the word of a service and that of the model's vendor behind it, the one that decides.

    A service words several vendors' ends as one (OpenRouter: `stop` for a refusal, `error` for a filter), so the
    vendor's word decides where it says more; a word that nobody knows decides only alone.
    """
    said = [one for one in (word, native) if one is not None and one.strip()]
    known = [(_WEIGHT.index(end), one) for one in said if (end := end_of(one)) is not None]
    if known:
        return min(known, key=lambda pair: pair[0])[1]
    return said[0] if said else word
