"""The process's settings: one frozen model, read once from the environment, passed down by value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from cache.config import CacheConfig, DynamoConfig
from conversation.opening import ConversationConfig
from conversation.policy import MAX_FILE_BYTES
from search_proxy.accounts.open_accounts import DynamoDBPlace
from search_proxy.embedding.gemini_config import GeminiEmbeddingConfig
from search_proxy.embedding.opening import EmbedderKind, EmbeddingConfig
from search_proxy.engine.fusion import FusionMethod
from search_proxy.web.fetch_bounds import PAGE_PORTS, FetchBounds
from search_proxy.web.keys import GOOGLE_URL, TAVILY_URL, WebSearchKeys
from worker.llm.deadlines import Deadlines
from worker.settings_file import SettingsFileUnreadable, read_settings_file

_ALIASES = {
    "gemini_api_key": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "tavily_api_key": ("TAVILY_API_KEY",),
    "otlp_endpoint": ("OTEL_EXPORTER_OTLP_ENDPOINT",),
    "otlp_headers": ("OTEL_EXPORTER_OTLP_HEADERS",),
    "otlp_service": ("OTEL_SERVICE_NAME",),
}


class SettingsError(ValueError):
    """A setting has a value that cannot be used."""


def _with_file(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment over what its settings file says."""
    rest = dict(environ)
    path = rest.pop("AISLE_SETTINGS_FILE", "")
    try:
        return rest if not path else read_settings_file(Path(path)) | rest
    except SettingsFileUnreadable as error:
        raise SettingsError(f"AISLE_SETTINGS_FILE: {error}") from error


class Settings(BaseModel):
    """Settings of one process; every field is `AISLE_<NAME>` in the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_dir: Path = Path(".aisle")
    host: str = "127.0.0.1"
    forwarded_allow_ips: str = "127.0.0.1"
    """Proxies whose `X-Forwarded-For` is believed, separated by commas; `*` for all."""
    port: int = Field(default=8787, ge=0, le=65535)
    workers: int = Field(default=1, ge=1, le=64)
    """Processes that `aisle serve` runs behind its one socket."""
    environment: str = "dev"
    demo: bool = False

    gemini_api_key: SecretStr | None = None
    gemini_base_url: str | None = None
    gemini_api_version: str = "v1beta"
    gemini_client: Literal["sdk", "rest"] = "rest"
    vertex_project: str | None = None
    """A Google Cloud project: the model is asked on Vertex AI, with Google's default credentials."""
    vertex_location: str = "global"
    model: str = "gemini-3.5-flash-lite"
    fallback_models: str = ""
    """Models asked in turn when the first fails before its first expansion, separated by commas."""
    suggestions_model: str = "gemini-3.5-flash-lite"
    """Writes the questions for a product page where the account has chosen no model for them."""
    tokens_per_day: int | None = Field(default=None, ge=1)
    """What one account may spend on the model a day; over it the catalog plans."""
    model_wire: Literal["structured", "function_call", "parallel_calls", "partial_args"] = "structured"
    max_model_streams: int = Field(default=256, ge=1, le=4096)

    model_first_chunk_seconds: float = Field(default=2.5, gt=0)
    model_call_seconds: float = Field(default=5.0, gt=0)
    """How long a conversation waits for its plan, which comes as one whole function call."""
    model_gap_seconds: float = Field(default=1.5, gt=0)
    model_total_seconds: float = Field(default=8.0, gt=0)

    scope_limit: int = Field(default=1_000, ge=0, le=1_000)
    """Up to so many products that pass a filter are handed as ids to an engine that cannot filter first."""

    rerank_url: str | None = Field(default=None, pattern=r"^https?://")
    """The address of a cross-encoder on the Cohere wire, such as `https://api.cohere.com/v2/rerank`."""
    rerank_key: SecretStr | None = None
    """Sent to it as a bearer key."""
    rerank_model: str = "rerank-v3.5"
    rerank_http_seconds: float = Field(default=0.4, gt=0)
    """How long its better order is waited for where the account does not say."""
    rerank_model_seconds: float = Field(default=1.2, gt=0)
    """The same for an order by the language model."""

    tavily_api_key: SecretStr | None = None
    """Lets the tools search the web with Tavily; without it Google's is asked, where it is set up."""
    tavily_url: str = TAVILY_URL
    google_search_key: SecretStr | None = None
    google_search_engine: str | None = None
    """The id of a Programmable Search Engine; needed beside its key."""
    google_search_url: str = GOOGLE_URL
    fetch_pages: bool = True
    """The tools may fetch public web pages."""
    fetch_ports: str = Field(default="", pattern=r"^\s*(\d{1,5}\s*(,\s*\d{1,5}\s*)*)?$")
    """Ports of pages beside 80 and 443, such as `8080,8443`."""

    embedder: EmbedderKind = "auto"
    """What gives search its vectors; `auto` is the local model where it is set up, and otherwise none."""
    embedding_threads: int = Field(default=1, ge=1, le=64)
    """Threads that embed products behind searches; each takes a core while there is something to do."""
    fusion: FusionMethod = "weighted_rrf"
    """How search joins what words and what meaning say (docs/engine.md)."""
    models_dir: Path | None = None
    """Where the local embedding model is; without it, `models` under the data folder."""

    redis_url: SecretStr | None = None
    """Shares the edge cache and the conversations between machines."""
    conversations_max_bytes: int = Field(default=MAX_FILE_BYTES, ge=100_000, le=1 << 46)
    """Bound of the file of conversations; at it turns are answered and not kept."""
    key: SecretStr | None = None
    """What commands such as `aisle tail` show to a server: an account's secret key, or an operator's."""
    otlp_endpoint: str | None = Field(default=None, pattern=r"^https?://")
    """An OpenTelemetry collector, such as `http://localhost:4318`; needs the extra `aisle[otel]`."""
    otlp_headers: SecretStr | None = None
    """Sent to it with everything, as `name=value,name=value`."""
    otlp_service: str = "aisle"
    metrics_open: bool = False
    """Whoever reaches this server may read its metrics; without it, this machine and operators' keys."""
    metrics_by_account: bool = False
    """Requests and tokens are counted for each account; names of accounts then stand in the metrics."""
    image_hosts: str = ""
    """Hosts that images of a conversation may be fetched from, separated by commas; by default none."""
    view_gate_hosts: str = ""
    """Hosts, or `host:port`, on our own network where an account's permission service may be, by commas."""
    cache_table: Literal["sqlite", "dynamodb"] = "sqlite"
    cache_edge_budget_seconds: float = Field(default=0.020, gt=0, le=5)
    """How long a question waits for the shared edge cache before the next tier is asked."""
    cache_table_budget_seconds: float = Field(default=0.050, gt=0, le=5)
    """How long a question waits for the table of answers before it counts as not stored."""
    answer_memory_bytes: int = Field(default=16 * 1024 * 1024, ge=0)
    """How much a process keeps of cached answers as it made them last; 0 makes each anew."""
    cache_sqlite_max_bytes: int = Field(default=4 * 1024**3, ge=100_000)
    """How large the embedded table of answers may grow; over it new answers stay at the edge."""
    accounts_table: str | None = None
    """A DynamoDB table for accounts and settings; without one they are in SQLite under the data folder."""
    dynamodb_region: str = "us-east-1"
    dynamodb_endpoint_url: str | None = None

    prices_file: Path | None = None
    """What tokens cost, for the operations page; a table of list prices comes with the program."""
    trace_seconds: float = Field(default=86_400.0, gt=0)
    """How long the trace of a run is kept, for accounts that have traces on."""
    trace_bytes: int = Field(default=64 * 1024 * 1024, ge=0)
    """How much all traces may take under the data folder; the oldest go first."""

    run_grace_seconds: float = Field(default=2.0, ge=0)
    run_retention_seconds: float = Field(default=60.0, ge=0)
    run_total_seconds: float = Field(default=30.0, gt=0)
    search_timeout_seconds: float = Field(default=5.0, gt=0)
    sse_ping_seconds: float = Field(default=15.0, gt=0)
    sse_send_timeout_seconds: float = Field(default=20.0, gt=0)
    shutdown_grace_seconds: float = Field(default=10.0, ge=0)

    def deadlines(self) -> Deadlines:
        """Return how long a model call may take, and be silent."""
        return Deadlines(
            first_event_seconds=self.model_first_chunk_seconds,
            gap_seconds=self.model_gap_seconds,
            total_seconds=self.model_total_seconds,
        )

    def cache_config(self) -> CacheConfig:
        """Return what the cache of this process is made of."""
        url = None if self.redis_url is None else self.redis_url.get_secret_value()
        return CacheConfig(
            environment=self.environment,
            data_dir=self.data_dir,
            edge="in_process" if url is None else "redis",
            redis_url=url,
            table=self.cache_table,
            sqlite_max_bytes=self.cache_sqlite_max_bytes,
            edge_budget_seconds=self.cache_edge_budget_seconds,
            table_budget_seconds=self.cache_table_budget_seconds,
            dynamodb=DynamoConfig(region=self.dynamodb_region, endpoint_url=self.dynamodb_endpoint_url),
        )

    def conversation_config(self) -> ConversationConfig:
        """Return where conversations are kept."""
        return ConversationConfig(
            sqlite_path=self.data_dir / "conversations.sqlite3",
            redis_url=None if self.redis_url is None else self.redis_url.get_secret_value(),
            max_file_bytes=self.conversations_max_bytes,
        )

    def otlp_header_map(self) -> dict[str, str]:
        """Return the headers for the collector."""
        text = "" if self.otlp_headers is None else self.otlp_headers.get_secret_value()
        pairs = (pair.partition("=") for pair in text.split(",") if pair.strip())
        return {name.strip(): value.strip() for name, _, value in pairs}

    def image_host_list(self) -> tuple[str, ...]:
        """Return the hosts that images may be fetched from."""
        return tuple(host for name in self.image_hosts.split(",") if (host := name.strip()))

    def view_gate_host_list(self) -> tuple[str, ...]:
        """Return the hosts where permission services may be without https and a public address."""
        return tuple(host for name in self.view_gate_hosts.split(",") if (host := name.strip()))

    def fetch_bounds(self) -> FetchBounds:
        """Return where pages may be fetched from, and for how much."""
        more = {int(port) for port in self.fetch_ports.split(",") if port.strip()}
        return FetchBounds(ports=PAGE_PORTS | more)

    def web_search_keys(self) -> WebSearchKeys:
        """Return what web search is set up with."""
        tavily, google = (
            None if key is None else key.get_secret_value()
            for key in (self.tavily_api_key, self.google_search_key)
        )
        return WebSearchKeys(
            tavily_key=tavily,
            google_key=google,
            google_engine=self.google_search_engine,
            tavily_url=self.tavily_url,
            google_url=self.google_search_url,
        )

    def embedding_config(self) -> EmbeddingConfig:
        """Return which embedder this process has."""
        key = self.gemini_api_key
        gemini = None
        if self.embedder == "gemini" and key is not None:
            gemini = GeminiEmbeddingConfig(api_key=key.get_secret_value())
            if self.gemini_base_url is not None:
                gemini = replace(gemini, base_url=self.gemini_base_url)
        return EmbeddingConfig(
            models=self.models_dir or self.data_dir / "models",
            kind=self.embedder,
            threads=self.embedding_threads,
            gemini=gemini,
        )

    def accounts_place(self) -> DynamoDBPlace | None:
        """Return where accounts are kept when not in SQLite."""
        if self.accounts_table is None:
            return None
        return DynamoDBPlace(
            table=self.accounts_table, region=self.dynamodb_region, endpoint_url=self.dynamodb_endpoint_url
        )

    def model_chain(self) -> tuple[str, ...]:
        """Return the models in the order in which they are asked."""
        others = (name.strip() for name in self.fallback_models.split(","))
        return (self.model, *(name for name in others if name))

    @classmethod
    def from_env(cls, environ: Mapping[str, str], **overrides: Any) -> Settings:
        """Read `AISLE_*` (and the Gemini key's usual names); `overrides` win over the environment.

        The environment wins over the file that `AISLE_SETTINGS_FILE` names.

        Raises:
            SettingsError: A value is unusable or an `AISLE_*` name is unknown; the message names it.
        """
        values: dict[str, Any] = {}
        environ = _with_file(environ)
        for name, value in environ.items():
            if name.startswith("AISLE_") and value != "":
                values[name.removeprefix("AISLE_").lower()] = value
        for field, names in _ALIASES.items():
            usual = next((environ[name] for name in names if environ.get(name)), None)
            if usual is not None:
                values.setdefault(field, usual)
        values |= {key: value for key, value in overrides.items() if value is not None}
        unknown = sorted(set(values) - set(cls.model_fields))
        if unknown:
            raise SettingsError(f"unknown setting AISLE_{unknown[0].upper()}")
        try:
            settings = cls.model_validate(values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = ".".join(str(part) for part in first["loc"])
            raise SettingsError(f"AISLE_{name.upper()}: {first['msg']}") from error
        if settings.model_wire == "partial_args" and settings.vertex_project is None:
            raise SettingsError("AISLE_MODEL_WIRE: 'partial_args' needs Vertex AI; set AISLE_VERTEX_PROJECT")
        return settings
