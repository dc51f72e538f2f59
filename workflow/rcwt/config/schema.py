"""The configuration as typed records: the one source of keys, defaults and accepted values.

`config/models.yaml`, `config/prices.yaml` and `config/config.yaml` are merged by Snakemake, then overlaid by
`--configfile` and `--config`. `load` checks the merged mapping and names the file and line of a wrong value.
`workflow/schemas/config.schema.json` is generated from these records (`python -m rcwt.config.schema`).
"""

import datetime
import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from rcwt.config.designs import Design
from rcwt.config.values import (
    Address,
    ExperimentName,
    Flag,
    Name,
    Number,
    Params,
    Record,
    TagPair,
    Variable,
    Whole,
    distinct,
)

#: Judges that are no model of the registry: the patterns of the task's items, and a person's scored sample.
RULES_JUDGE, HUMAN_JUDGE = "rules", "human"
#: The embedded model; any other value of `litellm` goes over the network.
EMBEDDED = "embedded/reader"


class Model(Record):
    """A registry entry: how a model is reached. Limits change the speed of a run, never its results."""

    litellm: str = Field(min_length=1, description="model id as litellm knows it, e.g. openai/gpt-4.1-mini")
    api_base: Address | None = Field(None, description="address of the server; null for the vendor's own")
    endpoint_id: str | None = Field(None, description="what the cache calls the endpoint; null for api_base")
    api_key_env: Variable | None = Field(None, description="environment variable that holds the key; never the key")
    max_concurrency: Whole = Field(16, ge=1, description="calls in flight at a time")
    rpm: Whole | None = Field(None, ge=1, description="requests a minute; null for no limit")
    tpm: Whole | None = Field(None, ge=1, description="tokens a minute; null for no limit")
    token_factor: Number = Field(1.3, ge=1, le=4, description="the model's own tokens per cl100k_base token")
    params: Params = Field(default_factory=dict, description="parameters laid over the design's")
    param_names: dict[str, str | None] = Field(
        default_factory=dict, description="parameters this vendor names otherwise, or takes out with null"
    )
    reasoning_tags: list[TagPair] | None = Field(
        None, description="pairs of tags around reasoning in a reply; null for the usual ones, [] to leave it there"
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


class PriceEntry(Record):
    """US dollars per million tokens on a date."""

    input: Number = Field(ge=0)
    cached_input: Number | None = Field(None, ge=0, description="null: cached tokens cost as much as others")
    output: Number = Field(ge=0)
    batch_discount: Number | None = Field(None, ge=0, le=1, description="part of the price that a batch call saves")
    as_of: datetime.date


class Bootstrap(Record):
    """Resampling of the intervals."""

    B: Whole = Field(10_000, ge=100, le=1_000_000, description="resamples")
    seed: Whole = Field(0, ge=0)


def _one_spelling(path: str) -> str:
    """A path without doubled, leading './' and trailing slashes."""
    return re.sub("^//+", "/", str(PurePosixPath(path)))


class Config(Record):
    """The whole configuration of a run."""

    models: Annotated[list[Name], AfterValidator(distinct)] = Field(description="models to measure, by registry name")
    judges: Annotated[list[Name], AfterValidator(distinct)] = Field(
        min_length=1, description="judges; the first is the headline. `rules`, `human`, or a registry name"
    )
    experiments: Annotated[list[ExperimentName], AfterValidator(distinct)] = Field(description="designs to run")
    designs: dict[ExperimentName, Design]
    registry: dict[Name, Model]
    prices: dict[Name, PriceEntry]
    offline: Flag = Field(False, description="refuse every request that the cache cannot answer")
    ask_again: Flag = Field(
        False, description="ask again for kept responses that would count as failures today, or cannot be read"
    )
    max_usd: Number | None = Field(None, ge=0, description="spend cap of a run in US dollars")
    on_cap: Literal["refuse", "stop"] = "refuse"
    calls_on: Literal["local", "cluster"] = Field(
        "local", description="where calls are made with a cluster's profile: where the run is started, or in its jobs"
    )
    max_missing: Number = Field(0.02, ge=0, le=1, description="largest share of missing scores `all` accepts")
    results_dir: Annotated[str, AfterValidator(_one_spelling)] = Field("results", min_length=1)
    artifact: str | None = Field(None, description="folder of the paper's public artifact; null to make calls")
    audit: str | None = Field(None, description="a scored audit sample, put back as the judge `human`")
    audit_per_cell: Whole = Field(1, ge=1, description="trials of each cell in the audit sample")
    rescore_targets: dict[str, str] = Field(default_factory=dict, description="rescoring folder: model id")
    bootstrap: Bootstrap = Field(default_factory=lambda: Bootstrap.model_validate({}))

    @property
    def published(self) -> bool:
        """Whether the run reads the paper's own calls instead of making new ones."""
        return self.artifact is not None

    @property
    def model_judges(self) -> list[str]:
        """The judges that are asked over the network: registry entries, not the rules or a person."""
        return [judge for judge in self.judges if judge not in (RULES_JUDGE, HUMAN_JUDGE)]


def schema_text() -> str:
    """JSON schema of the configuration, for editors; kept in workflow/schemas and checked by a test."""
    return json.dumps(Config.model_json_schema(), indent=2, sort_keys=True) + "\n"


def plain(config: Config) -> Mapping[str, Any]:
    """The configuration as JSON types, in the order of the records."""
    return config.model_dump(mode="json")


if __name__ == "__main__":
    print(schema_text(), end="")
