"""What the calls of one registry entry pass through: its endpoint, rate limits, price and deadlines."""

from dataclasses import dataclass

from rcwt.calls import limits, retries
from rcwt.calls.progress import Progress
from rcwt.calls.run_state import RunState
from rcwt.calls.shared_limits import SharedLimiter
from rcwt.calls.terms import Terms
from rcwt.config.schema import Config, Model
from rcwt.wire import wire


@dataclass(frozen=True)
class Gate:
    """What one registry entry's calls pass through."""

    name: str
    model: Model
    endpoint: wire.Endpoint
    limiter: limits.AnyLimiter
    terms: Terms
    policy: retries.RetryPolicy


class Gates:
    """The gates of a process, each made at its first use; `run` is what it shares with others of its run."""

    def __init__(self, config: Config, progress: Progress, run: RunState | None) -> None:
        self._config, self._progress, self._run = config, progress, run
        self._made: dict[str, Gate] = {}
        self._limiters: dict[str, limits.AnyLimiter] = {}

    def of(self, name: str) -> Gate:
        """The gate of a registry entry."""
        if name not in self._made:
            model = self._config.registry[name]
            endpoint = wire.Endpoint(name, model.litellm, model.api_base, model.api_key_env)
            self._made[name] = Gate(
                name=name,
                model=model,
                endpoint=endpoint,
                limiter=self._limiter(endpoint, model),
                terms=Terms.of(self._config, name),
                policy=retries.RetryPolicy(model.attempt_deadline_s, model.total_deadline_s),
            )
            self._progress.limiters[name] = self._made[name].limiter.state
        return self._made[name]

    def _limiter(self, endpoint: wire.Endpoint, model: Model) -> limits.AnyLimiter:
        """One limiter an address, key and set of limits: entries that share them share the provider's patience."""
        rates = (model.max_concurrency, model.rpm, model.tpm)
        place = f"{endpoint.address} {model.api_key_env} {rates}"
        if place not in self._limiters:
            self._limiters[place] = SharedLimiter(self._run, place, *rates) if self._run else limits.Limiter(*rates)
        return self._limiters[place]
