"""The configuration as typed records: the one source of keys, defaults and accepted values.

`config/models.yaml`, `config/prices.yaml` and `config/config.yaml` are merged by Snakemake, then overlaid by
`--configfile` and `--config`. `load` checks the merged mapping and names the file and line of a wrong value.
`workflow/schemas/config.schema.json` is generated from these records (`python -m rcwt.config`).
"""

import datetime
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="letters, digits, '.', '_', '-'")]
ExperimentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", description="lower case, digits, '_'")]


# Strict: YAML reads yes and on as true, which would otherwise count as 1.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Order = Literal["coord_first", "reason_first"]

#: Arguments of a call that the pipeline itself sets; a `params` map may not override them.
RESERVED_PARAMS = frozenset({"api_key", "api_base", "model", "messages", "n", "stream", "timeout", "num_retries"})
#: Judges that are no model of the registry: the patterns of the task's items, and a person's scored sample.
RULES_JUDGE, HUMAN_JUDGE = "rules", "human"
#: The embedded model; any other value of `litellm` goes over the network.
EMBEDDED = "embedded/reader"


def _distinct(values: list[Any]) -> list[Any]:
    doubled = sorted({str(value) for value in values if values.count(value) > 1})
    if doubled:
        raise ValueError(f"each value once; {', '.join(doubled)} is there more than once")
    return values


def _call_params(params: dict[str, Any]) -> dict[str, Any]:
    reserved = sorted(RESERVED_PARAMS & set(params))
    if reserved:
        raise ValueError(f"parameters of the model call, without {', '.join(reserved)}, which the pipeline sets itself")
    cap = params.get("max_tokens")
    if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int) or cap < 1):
        raise ValueError(f"'max_tokens' as a whole number from 1, not {cap!r}")
    temperature = params.get("temperature")
    if temperature is not None and (not isinstance(temperature, int | float) or not 0 <= temperature <= 2):
        raise ValueError(f"'temperature' as a number from 0 to 2, not {temperature!r}")
    return params


Params = Annotated[dict[str, Any], AfterValidator(_call_params)]


class Record(BaseModel):
    """A frozen record that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Model(Record):
    """A registry entry: how a model is reached. Limits change the speed of a run, never its results."""

    litellm: str = Field(min_length=1, description="model id as litellm knows it, e.g. openai/gpt-4.1-mini")
    api_base: str | None = Field(None, description="address of the server; null for the vendor's own")
    endpoint_id: str | None = Field(None, description="what the cache calls the endpoint; null for api_base")
    api_key_env: str | None = Field(None, description="environment variable that holds the key; never the key")
    max_concurrency: Whole = Field(16, ge=1, description="calls in flight at a time")
    rpm: Whole | None = Field(None, ge=1, description="requests a minute; null for no limit")
    tpm: Whole | None = Field(None, ge=1, description="tokens a minute; null for no limit")
    token_factor: Number = Field(1.3, ge=1, le=4, description="the model's own tokens per cl100k_base token")
    params: Params = Field(default_factory=dict, description="parameters laid over the design's")
    param_names: dict[str, str | None] = Field(
        default_factory=dict, description="parameters this vendor names otherwise, or takes out with null"
    )
    json_schema: bool | None = Field(
        None, description="as a judge: ask for JSON schema output; null: at a vendor's own address, not at an api_base"
    )
    attempt_deadline_s: float = Field(120, gt=0, description="seconds for one request")
    total_deadline_s: float = Field(600, gt=0, description="seconds for a call with all its retries")

    @property
    def wants_json_schema(self) -> bool:
        """Whether a judge's reply is asked for as JSON schema output."""
        return self.api_base is None if self.json_schema is None else self.json_schema

    @property
    def embedded(self) -> bool:
        """Whether the model runs inside the pipeline, without network or cost."""
        return self.litellm == EMBEDDED

    @property
    def endpoint(self) -> str:
        """The endpoint's identity in a cache key: it survives a move of the server to another host."""
        return self.endpoint_id or self.api_base or "vendor"


class Price(Record):
    """US dollars per million tokens on a date."""

    input: Number = Field(ge=0)
    cached_input: Number | None = Field(None, ge=0, description="null: cached tokens cost as much as others")
    output: Number = Field(ge=0)
    batch_discount: Number | None = Field(None, ge=0, le=1, description="part of the price that a batch call saves")
    as_of: datetime.date


class Window(Record):
    """One context window of a design and what is measured in it."""

    window: Whole = Field(ge=1, description="tokens of the fixed budget, W")
    shares: Annotated[list[Annotated[Decimal, Field(ge=0, lt=100, decimal_places=4)]], AfterValidator(_distinct)] = (
        Field(min_length=1, description="shares of coordination content q, in percent from 0 to below 100")
    )
    trials: Whole = Field(ge=1, le=100_000, description="calls a cell")


class Design(Record):
    """An experiment: a task, its windows, the prompt orders and the parameters of its calls."""

    kind: Literal["fixed_budget"] = "fixed_budget"
    task: Name = Field(description="folder under resources/templates")
    coordination: Name | None = Field(
        None, description="which coordination text of the task folder, without .md; null for the task's own choice"
    )
    windows: list[Window] = Field(min_length=1)
    orders: Annotated[list[Order], AfterValidator(_distinct)] = Field(["coord_first", "reason_first"], min_length=1)
    params: Params

    @model_validator(mode="after")
    def _check(self) -> "Design":
        _distinct([entry.window for entry in self.windows])
        if "max_tokens" not in self.params:
            raise ValueError("params with a max_tokens: without an output cap no worst case is known")
        return self


class Bootstrap(Record):
    """Resampling of the intervals."""

    B: Whole = Field(10_000, ge=100, le=1_000_000, description="resamples")
    seed: Whole = Field(0, ge=0)


class Config(Record):
    """The whole configuration of a run."""

    models: Annotated[list[Name], AfterValidator(_distinct)] = Field(description="models to measure, by registry name")
    judges: Annotated[list[Name], AfterValidator(_distinct)] = Field(
        min_length=1, description="judges; the first is the headline. `rules`, `human`, or a registry name"
    )
    experiments: Annotated[list[ExperimentName], AfterValidator(_distinct)] = Field(description="designs to run")
    designs: dict[ExperimentName, Design]
    registry: dict[Name, Model]
    prices: dict[Name, Price]
    offline: Flag = Field(False, description="refuse every request that the cache cannot answer")
    max_usd: Number | None = Field(None, ge=0, description="spend cap of a run in US dollars")
    on_cap: Literal["refuse", "stop"] = "refuse"
    max_missing: Number = Field(0.02, ge=0, le=1, description="largest share of missing scores `all` accepts")
    results_dir: Annotated[str, AfterValidator(lambda path: str(PurePosixPath(path)))] = Field("results", min_length=1)
    artifact: str | None = Field(None, description="folder of the paper's public artifact; null to make calls")
    audit: str | None = Field(None, description="a scored audit sample, put back as the judge `human`")
    audit_per_cell: Whole = Field(1, ge=1, description="trials of each cell in the audit sample")
    rescore_targets: dict[str, str] = Field(default_factory=dict, description="rescoring folder: model id")
    bootstrap: Bootstrap = Field(default_factory=lambda: Bootstrap.model_validate({}))

    @property
    def published(self) -> bool:
        """Whether the run reads the paper's own calls instead of making new ones."""
        return self.artifact is not None


def schema_text() -> str:
    """JSON schema of the configuration, for editors; kept in workflow/schemas and checked by a test."""
    return json.dumps(Config.model_json_schema(), indent=2, sort_keys=True) + "\n"


def plain(config: Config) -> Mapping[str, Any]:
    """The configuration as JSON types, in the order of the records."""
    return config.model_dump(mode="json")


if __name__ == "__main__":
    print(schema_text(), end="")
