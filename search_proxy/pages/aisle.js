/**
 * The client of an aisle server: one module without dependencies, for browsers and Node 20.
 *
 *     import { Aisle } from "./aisle.js";
 *     const aisle = new Aisle({ baseUrl: "https://shop.example" });
 *     for await (const event of aisle.search({ index: "demo", q: "warm for winter camping" })) {
 *       if (event.type === "delta" && event.data.categoryHits) show(event.data.categoryHits);
 *       if (event.type === "error") tell(event.error.message);
 *     }
 *
 * Nothing is thrown for what a network or a server can do: failures arrive as `error` events, and a cut connection
 * is taken up again where it was. Leaving the loop, or aborting the signal, ends the request.
 */

/**
 * @typedef {{ code: string, message: string, stage?: string, retryable: boolean, status?: number }} Failure
 * @typedef {{ _id: string, _score?: number | null, productTitle?: string, price?: number, [field: string]: any }} Hit
 * @typedef {{ query: string, category: string, confidence: number, hits: Hit[], totalHits: number,
 *   appliedFilter?: string | null, filterDropped?: boolean, originalFilter?: string, error?: Failure }} CategoryHits
 * @typedef {{ runId: string, source: string, promptVersion: string | null, cacheTier: string | null,
 *   model: string | null, timings: Record<string, number>, tokens: Record<string, number>, warnings: string[],
 *   [more: string]: any }} Receipt
 * @typedef {{ hits?: Hit[], totalHits?: number, facets?: Record<string, Record<string, any>>, summary?: string,
 *   categoryHits?: CategoryHits[], queryComplements?: string[], status?: string, error?: Failure,
 *   receipt?: Receipt, [more: string]: any }} Delta
 * @typedef {{ type: "init", id: string, data: { categories: boolean, summary: boolean } }
 *   | { type: "delta", id: string, data: Delta }
 *   | { type: "stream-end", id: string, data: {} }
 *   | { type: "reconnecting", attempt: number }
 *   | { type: "error", error: Failure }} SearchEvent
 * @typedef {{ index: string, q: string, filter?: string, maxCategories?: number, categoryResultLimit?: number,
 *   clickableSummary?: boolean, suggestFilters?: boolean, searchSettings?: object, userId?: string,
 *   sessionId?: string, signal?: AbortSignal }} SearchOptions
 * @typedef {{ index: string, q?: string | null, limit?: number, offset?: number, filter?: string, facets?: object,
 *   sortBy?: object, attributesToRetrieve?: string[], collapse?: boolean, signal?: AbortSignal }} ProductOptions
 * @typedef {{ ok: true, value: any } | { ok: false, error: Failure, aborted: boolean }} Answer
 */

/** How often a cut stream is taken up again before it is given up. */
const ATTEMPTS = 5;
/** The server pings every 15 s; a connection that is silent for longer than two pings is dead. */
const SILENCE_MS = 35_000;

export class Aisle {
  /** @param {{ baseUrl?: string, apiKey?: string, fetch?: typeof fetch }} [options] */
  constructor({ baseUrl = "", apiKey, fetch: send = globalThis.fetch.bind(globalThis) } = {}) {
    this._base = `${baseUrl.replace(/\/$/, "")}/api/v1/indexes/`;
    this._headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    this._fetch = send;
  }

  /**
   * Streams an agentic search. The last event is `stream-end` or `error`, unless the signal was aborted.
   * @param {SearchOptions} options
   * @returns {AsyncGenerator<SearchEvent, void, void>}
   */
  async *search({ index, signal, ...parameters }) {
    const url = `${this._path(index)}/agentic-search?${queryString(parameters)}`;
    let lastId = "";
    let retryMs = 1000;
    let ended = false;
    for (let attempt = 0; ; attempt += 1) {
      if (signal?.aborted) return;
      const connection = new AbortController();
      const leave = () => connection.abort();
      signal?.addEventListener("abort", leave);
      try {
        const headers = { ...this._headers, accept: "text/event-stream" };
        if (lastId) headers["last-event-id"] = lastId;
        const response = await this._fetch(url, { headers, signal: connection.signal });
        if (response.status === 204) {
          yield failure("stream_lost", "the answer is no longer there; please ask again", true);
          return;
        }
        if (!response.ok) {
          yield { type: "error", error: await readFailure(response) };
          return;
        }
        const run = response.headers.get("x-aisle-run-id");
        if (run && !lastId) lastId = `${run}-0`;
        for await (const frame of frames(response.body, connection)) {
          if (frame.retry !== undefined) retryMs = frame.retry;
          if (frame.data === undefined) continue;
          if (frame.id) lastId = frame.id;
          const data = parse(frame.data);
          if (data === undefined) continue;
          attempt = 0;
          yield /** @type {any} */ ({ type: frame.event, id: lastId, data });
          // The server closes after its last event; reading to the end lets the connection be used again.
          ended = frame.event === "stream-end";
        }
        if (ended) return;
      } catch (error) {
        if (signal?.aborted || ended) return;
        if (!isNetworkError(error)) throw error;
      } finally {
        signal?.removeEventListener("abort", leave);
        connection.abort();
      }
      if (signal?.aborted) return;
      if (!lastId || attempt >= ATTEMPTS) {
        yield failure("connection_lost", "the connection was lost; please ask again", true);
        return;
      }
      yield { type: "reconnecting", attempt: attempt + 1 };
      await pause(attempt === 0 ? 0 : retryMs * attempt * (0.75 + Math.random() / 2), signal);
    }
  }

  /**
   * Searches products, without categories or a summary.
   * @param {ProductOptions} options
   * @returns {Promise<Answer>}
   */
  products({ index, signal, ...body }) {
    return this._post(`${this._path(index)}/search`, body, signal);
  }

  /**
   * Gets products by id, at most 100.
   * @param {{ index: string, ids: string[], signal?: AbortSignal }} options
   * @returns {Promise<Answer>}
   */
  documents({ index, ids, signal }) {
    return this._post(`${this._path(index)}/get-documents`, { documentIds: ids }, signal);
  }

  /**
   * Stops a run at once, its model calls included. A run that has ended is no error.
   * @param {{ index: string, runId: string }} options
   * @returns {Promise<boolean>} whether there was something to stop
   */
  async stop({ index, runId }) {
    try {
      const url = `${this._path(index)}/runs/${encodeURIComponent(runId)}`;
      const response = await this._fetch(url, { method: "DELETE", headers: this._headers, keepalive: true });
      return response.ok;
    } catch (error) {
      if (!isNetworkError(error)) throw error;
      return false;
    }
  }

  _path(index) {
    return this._base + encodeURIComponent(index);
  }

  async _post(url, body, signal) {
    try {
      const headers = { ...this._headers, "content-type": "application/json" };
      const response = await this._fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal });
      if (response.ok) return { ok: true, value: await response.json() };
      return { ok: false, error: await readFailure(response), aborted: false };
    } catch (error) {
      if (!isNetworkError(error)) throw error;
      const lost = failure("connection_lost", "the server could not be reached", true).error;
      return { ok: false, error: lost, aborted: Boolean(signal?.aborted) };
    }
  }
}

/**
 * Reads server-sent events from text that comes in pieces cut anywhere.
 * Source: the event stream section of the HTML standard.
 */
export class EventStreamReader {
  constructor() {
    this._rest = "";
    this._fresh = true;
    this._event = "";
    this._data = /** @type {string[]} */ ([]);
    this._id = "";
  }

  /**
   * @param {string} text
   * @returns {Generator<{ event?: string, data?: string, id?: string, retry?: number }>}
   */
  *push(text) {
    this._rest += text;
    if (this._fresh && this._rest) {
      this._fresh = false;
      if (this._rest.charCodeAt(0) === 0xfeff) this._rest = this._rest.slice(1);
    }
    for (;;) {
      const cut = /\r\n|\n|\r(?=[^])/.exec(this._rest);
      // A carriage return at the very end may be the first half of a pair: wait for what follows.
      if (!cut) return;
      const line = this._rest.slice(0, cut.index);
      this._rest = this._rest.slice(cut.index + cut[0].length);
      yield* this._line(line);
    }
  }

  *_line(line) {
    if (line === "") {
      if (this._data.length) {
        yield { event: this._event || "message", data: this._data.join("\n"), id: this._id };
      }
      this._event = "";
      this._data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this._event = value;
    else if (field === "data") this._data.push(value);
    else if (field === "id" && !value.includes("\0")) this._id = value;
    else if (field === "retry" && /^\d+$/.test(value)) yield { retry: Number(value) };
  }
}

async function* frames(body, connection) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const stream = new EventStreamReader();
  let watch = setTimeout(() => connection.abort(), SILENCE_MS);
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(watch);
      watch = setTimeout(() => connection.abort(), SILENCE_MS);
      yield* stream.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(watch);
  }
}

function queryString(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue;
    query.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query;
}

async function readFailure(response) {
  let body = {};
  try {
    body = (await response.json()) ?? {};
  } catch {
    // Something between us and the server answered; its status is all there is to know.
  }
  const retryable = response.status === 429 || response.status >= 500;
  const message = typeof body.message === "string" ? body.message : `the server answered ${response.status}`;
  return { code: String(body.code ?? response.status), message, retryable, status: response.status };
}

function failure(code, message, retryable) {
  return /** @type {const} */ ({ type: "error", error: { code, message, retryable } });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isNetworkError(error) {
  return error instanceof TypeError || error?.name === "AbortError" || error instanceof SyntaxError;
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve(undefined)), { once: true });
  });
}
