"""The closed sets of words that the result tables use: the prompt orders, and how a call ended."""

STATUSES = ("ok", "truncated", "empty", "refused", "filtered", "unknown_finish", "prompt_cut")
#: Statuses that hold no answer to judge: their items are misses by rule, and counted apart.
NON_ANSWERS = ("empty", "refused", "filtered")
#: The server cut the prompt: whatever came back answers another question, and all scores are missing.
PROMPT_CUT = "prompt_cut"
#: How a prompt is sent whole, and asked again after one that was not.
PROMPT_CUT_REMEDY = (
    "Let the server take longer prompts (Ollama: num_ctx, llama.cpp: --ctx-size, vLLM: max_model_len), then give it "
    "another `endpoint_id`, so that it is asked again"
)
ORDERS = ("coord_first", "reason_first")
