"""What makes one model's calls differ from another's: endpoint, model and parameters."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rcwt.base.digests import code_digest
from rcwt.config.parameters import renamed
from rcwt.config.schema import Model

if TYPE_CHECKING:
    pass


def endpoint_of(model: Model) -> str:
    """The endpoint's identity in a cache key; the embedded reader's is its own code."""
    return f"embedded:{code_digest('reader')[:16]}" if model.embedded else model.endpoint


def call_params(design_params: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Parameters of a call by the names the model takes: the design's, with the model's own laid over them."""
    return renamed({**design_params, **model.params}, model.param_names)


def call_identity(design_params: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """What makes one model's calls differ from another's, apart from prompt and sample number."""
    return {"endpoint": endpoint_of(model), "model": model.litellm, "params": call_params(design_params, model)}
