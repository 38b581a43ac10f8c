/** Types of `aisle.js`, the client of an aisle server. The wire itself is in docs/wire-format.md. */

/** What went wrong, in the server's words. `status` is there for a refusal before the first byte. */
export interface Failure {
  code: string;
  message: string;
  retryable: boolean;
  stage?: string;
  status?: number;
  /** What the server asked to wait, where it asked. */
  retryAfterSeconds?: number;
}

/** A product as a search found it; `_score` is null where nothing was ranked. */
export interface Hit {
  _id: string;
  _score?: number | null;
  /** Why it is a hit, where that was asked for. */
  _reason?: string;
  _excerpt?: string;
  _matched?: { field: string; words: string[] }[];
  productTitle?: string;
  variantTitle?: string;
  variantImageUrl?: string;
  price?: number;
  currency?: string;
  [field: string]: unknown;
}

/** A labelled row of products. `originalFilter` is the part that had to be dropped for anything to be found. */
export interface CategoryHits {
  query: string;
  category: string;
  confidence: number;
  hits: Hit[];
  totalHits: number;
  processingTimeMs?: number;
  appliedFilter?: string | null;
  filterDropped?: boolean;
  originalFilter?: string;
  error?: Failure;
}

/** How an answer came about; times in milliseconds. */
export interface Receipt {
  runId: string;
  source: "llm" | "catalog" | "short_query_bypass" | "cached";
  strategy: string | null;
  promptVersion: string | number | null;
  cacheTier: string | null;
  cache?: { hit: boolean; reason?: string; steps?: string[]; [more: string]: unknown } | null;
  model: string | null;
  timings: Record<string, number>;
  tokens: Record<string, number>;
  warnings: string[];
  /** Hits that the account's view gate took out, where it took any. */
  withheld?: number;
  /** Each call of a turn whose model searched by tools. */
  tools?: { name: string; ms: number; hits: number; error: string | null }[];
  reranking?: { kind: string; outcome: "reranked" | "unchanged" | "late" | "failed" | "skipped"; candidates: number; reason?: string };
  [more: string]: unknown;
}

/** Values with counts, or the statistics of a number. */
export type Facet = Record<string, { count: number }> | { min: number; max: number; [statistic: string]: number };

/** A piece of an answer; pieces add up. */
export interface Delta {
  hits?: Hit[];
  totalHits?: number;
  /** With empty `hits`: the query was no search after all, and products sent before are taken back. */
  strategy?: "no_match" | "needs_clarification";
  facets?: Record<string, Facet>;
  appliedFilter?: string | null;
  filterDropped?: boolean;
  originalFilter?: string;
  /** The hits again in a better order, at most once; a page that has been read may keep what it shows. */
  rerankedHits?: Hit[];
  suggestedFilters?: { field: string; value: string; filter: string; count: number }[];
  categoryHits?: CategoryHits[];
  summary?: string;
  queryComplements?: string[];
  status?: "searching" | "thinking" | "summarizing" | "degraded";
  error?: Failure;
  receipt?: Receipt;
}

/** `open` comes when the server has answered; its run can be stopped or followed from then on. */
export type ConnectionEvent =
  | { type: "open"; runId: string }
  | { type: "reconnecting"; attempt: number }
  | { type: "stream-end"; id: string; data: Record<string, never> }
  /** With an `id`: one stage of the stream failed, and it goes on. Without: this is the end. */
  | { type: "error"; id?: string; error: Failure };

export type SearchEvent =
  | ConnectionEvent
  | { type: "init"; id: string; data: { categories: boolean; summary: boolean } }
  | { type: "delta"; id: string; data: Delta };

export type ConverseEvent =
  | ConnectionEvent
  | { type: "conversation-id"; id: string; data: { conversationId: string } }
  | { type: "message"; id: string; data: Message }
  | { type: "category-hits"; id: string; data: { categoryHits: CategoryHits[] } };

/** A part of what is said in a conversation; `status` and `tool` while the model searches by tools. */
export interface Message {
  text?: string;
  queryComplements?: string[];
  status?: "thinking" | "searching";
  tool?: string;
  receipt?: Receipt;
}

export interface SearchOptions {
  index: string;
  q: string;
  filter?: string;
  maxCategories?: number;
  categoryResultLimit?: number;
  clickableSummary?: boolean;
  suggestFilters?: boolean;
  /** false wants no second order, and none is looked for. */
  rerankedHits?: boolean;
  searchSettings?: Record<string, unknown>;
  userId?: string;
  sessionId?: string;
  signal?: AbortSignal;
}

export interface ConverseOptions {
  index: string;
  q: string;
  /** From the `conversation-id` event of the turn before; without it a conversation begins. */
  conversationId?: string;
  /** Products that the question is about. */
  documentIds?: string[];
  contextFields?: string[];
  /** At most 5, as base64 or data URLs. */
  images?: string[];
  imageUrls?: string[];
  filter?: string;
  maxCategories?: number;
  categoryResultLimit?: number;
  attributesToRetrieve?: string[];
  userId?: string;
  sessionId?: string;
  signal?: AbortSignal;
}

export interface ProductOptions {
  index: string;
  q?: string | null;
  limit?: number;
  offset?: number;
  filter?: string;
  facets?: Record<string, unknown>;
  sortBy?: Record<string, unknown>;
  attributesToRetrieve?: string[];
  collapse?: boolean;
  signal?: AbortSignal;
}

export interface SuggestionOptions {
  index: string;
  documentId: string;
  sessionId: string;
  userId: string;
  minSuggestions?: number;
  maxSuggestions?: number;
  contextFields?: string[];
  signal?: AbortSignal;
}

/** A value, or why there is none; `aborted` tells that the signal was the reason. */
export type Result<Value> = { ok: true; value: Value } | { ok: false; error: Failure; aborted: boolean };

export interface ProductPage {
  hits: Hit[];
  totalHits?: number;
  facets?: Record<string, Facet>;
  [more: string]: unknown;
}

export class Aisle {
  constructor(options?: { baseUrl?: string; apiKey?: string; fetch?: typeof fetch });

  /** Streams an agentic search. The last event is `stream-end` or `error`, unless the signal was aborted. */
  search(options: SearchOptions): AsyncGenerator<SearchEvent, void, void>;

  /** Returns the address of an agentic search, for an `EventSource` of your own. */
  searchUrl(options: SearchOptions): string;

  /** Streams a turn of a conversation. */
  converse(options: ConverseOptions): AsyncGenerator<ConverseEvent, void, void>;

  /** Goes on with a run that is under way, after the event with the id `after` or from its beginning. */
  follow(options: {
    index: string;
    runId: string;
    after?: string;
    signal?: AbortSignal;
  }): AsyncGenerator<SearchEvent | ConverseEvent, void, void>;

  /** Searches products, without categories or a summary. */
  products(options: ProductOptions): Promise<Result<ProductPage>>;

  /** Gets products by id, at most 100. */
  documents(options: {
    index: string;
    ids: string[];
    signal?: AbortSignal;
  }): Promise<Result<{ results: (Hit & { _found: boolean })[] }>>;

  /** Gets questions that a shopper may have about a product. */
  suggestions(options: SuggestionOptions): Promise<Result<{ suggestions: string[]; documentId: string }>>;

  /** Completes what has been typed so far. */
  typeahead(options: {
    index: string;
    q: string;
    limit?: number;
    signal?: AbortSignal;
  }): Promise<Result<{ suggestions: { suggestion: string }[] }>>;

  /** Deletes a conversation and everything that is kept of it; one that is gone already is no error. */
  forget(options: { index: string; conversationId: string }): Promise<Result<null>>;

  /** Stops a run at once, its model calls included; gives whether there was something to stop. */
  stop(options: { index: string; runId: string }): Promise<boolean>;
}

/** Reads server-sent events from text that comes in pieces cut anywhere. */
export class EventStreamReader {
  push(text: string): Generator<{ event?: string; data?: string; id?: string; retry?: number }>;
}
