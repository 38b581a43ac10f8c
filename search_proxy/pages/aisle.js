/**
 * The client of an aisle server: one module without dependencies, for browsers and Node 20; types in `aisle.d.ts`.
 *
 *     import { Aisle } from "./aisle.js";
 *     const aisle = new Aisle({ baseUrl: "https://shop.example" });
 *     for await (const event of aisle.search({ index: "demo", q: "warm for winter camping" })) {
 *       if (event.type === "delta" && event.data.categoryHits) show(event.data.categoryHits);
 *       if (event.type === "error") tell(event.error.message);
 *     }
 *
 * Nothing is thrown for what a network or a server can do: failures arrive as `error` events or as `ok: false`, and a
 * cut connection is taken up again where it was. Leaving the loop, or aborting the signal, ends the request.
 */

/** How often a cut stream is taken up again before it is given up. */
const ATTEMPTS = 5;
/** The server pings every 15 s; a connection that is silent for longer than two pings is dead. */
const SILENCE_MS = 35_000;

/** What a network does; an error of any other kind is a bug, and is thrown. */
class ConnectionLost extends Error {}

export class Aisle {
  /** @param {{ baseUrl?: string, apiKey?: string, fetch?: typeof fetch }} [options] */
  constructor({ baseUrl = "", apiKey, fetch: send = globalThis.fetch.bind(globalThis) } = {}) {
    this._base = `${baseUrl.replace(/\/$/, "")}/api/v1/indexes/`;
    this._headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    this._fetch = send;
  }

  /** Streams an agentic search. The last event is `stream-end` or `error`, unless the signal was aborted. */
  search({ signal, ...options }) {
    return this._stream(options.index, this.searchUrl(options), {}, { signal });
  }

  /** Returns the address of an agentic search, for an `EventSource` of your own. */
  searchUrl({ index, signal, ...parameters }) {
    return `${this._path(index)}/agentic-search?${queryString(parameters)}`;
  }

  /**
   * Streams a turn of a conversation; `conversation-id` comes first and goes into the next turn. An `error` with an
   * id is the failure of one stage, and the stream goes on; one without is the end.
   */
  converse({ index, signal, ...body }) {
    const url = `${this._path(index)}/agentic-search/converse`;
    return this._stream(index, url, { method: "POST", body: JSON.stringify(body) }, { signal });
  }

  /** Goes on with a run that is under way, after the event with the id `after` or from its beginning. */
  follow({ index, runId, after, signal }) {
    return this._stream(index, "", {}, { signal, lastId: after || `${runId}-0` });
  }

  /** Searches products, without categories or a summary. */
  products({ index, signal, ...body }) {
    return this._ask(`${this._path(index)}/search`, body, signal);
  }

  /** Gets products by id, at most 100. */
  documents({ index, ids, signal }) {
    return this._ask(`${this._path(index)}/get-documents`, { documentIds: ids }, signal);
  }

  /** Gets questions that a shopper may have about a product. */
  suggestions({ index, signal, ...body }) {
    return this._ask(`${this._path(index)}/agentic-search/chat-suggestions`, body, signal);
  }

  /** Completes what has been typed so far. */
  typeahead({ index, signal, ...body }) {
    return this._ask(`${this._path(index)}/recommendations/queries`, body, signal);
  }

  /** Deletes a conversation and everything that is kept of it; one that is gone already is no error. */
  async forget({ index, conversationId }) {
    const url = `${this._path(index)}/conversations/${encodeURIComponent(conversationId)}`;
    const gone = await this._ask(url, undefined, undefined, "DELETE");
    return !gone.ok && gone.error.status === 404 ? { ok: true, value: null } : gone;
  }

  /** Stops a run at once, its model calls included. A run that has ended is no error. */
  async stop({ index, runId }) {
    const stopped = await this._ask(this._run(index, runId), undefined, undefined, "DELETE");
    return stopped.ok;
  }

  async *_stream(index, url, request, { signal, lastId = "" }) {
    let retryMs = 1000;
    let losses = 0;
    let ended = false;
    for (;;) {
      if (signal?.aborted) return;
      const connection = new AbortController();
      const leave = () => connection.abort();
      signal?.addEventListener("abort", leave);
      try {
        const response = await this._send(
          lastId ? this._run(index, lastId.slice(0, lastId.lastIndexOf("-"))) : url,
          lastId ? { headers: { "last-event-id": lastId } } : request,
          connection.signal,
          "text/event-stream",
        );
        if (response.status === 204) {
          yield failed("stream_lost", "the answer is no longer there; please ask again");
          return;
        }
        if (lastId && response.status >= 500) throw new ConnectionLost();
        if (!response.ok) {
          yield { type: "error", error: await readFailure(response) };
          return;
        }
        const runId = response.headers.get("x-aisle-run-id");
        if (runId && !lastId) {
          lastId = `${runId}-0`;
          yield { type: "open", runId };
        }
        for await (const frame of frames(response.body, connection)) {
          if (signal?.aborted) return;
          if (frame.retry !== undefined) retryMs = frame.retry;
          const data = frame.data === undefined ? undefined : parsed(frame.data);
          if (data === undefined) continue;
          if (frame.id) lastId = frame.id;
          losses = 0;
          // The server closes after its last event; reading to the end lets the connection be used again.
          ended = frame.event === "stream-end";
          if (frame.event === "error") yield { type: "error", id: lastId, error: data };
          else yield /** @type {any} */ ({ type: frame.event, id: lastId, data });
        }
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
      } finally {
        signal?.removeEventListener("abort", leave);
        connection.abort();
      }
      if (ended || signal?.aborted) return;
      losses += 1;
      if (!lastId || losses > ATTEMPTS) {
        yield failed("connection_lost", "the connection was lost; please ask again");
        return;
      }
      yield { type: "reconnecting", attempt: losses };
      await pause(losses === 1 ? 0 : retryMs * (losses - 1) * (0.75 + Math.random() / 2), signal);
    }
  }

  async _ask(url, body, signal, method = "POST") {
    try {
      const request = { method, body: body && JSON.stringify(body), keepalive: method === "DELETE" };
      const response = await this._send(url, request, signal, "application/json");
      if (!response.ok) return { ok: false, error: await readFailure(response), aborted: false };
      const text = await network(response.text());
      return { ok: true, value: text ? JSON.parse(text) : null };
    } catch (error) {
      if (!(error instanceof ConnectionLost || error instanceof SyntaxError)) throw error;
      const lost = failed("connection_lost", "the server could not be reached").error;
      return { ok: false, error: lost, aborted: Boolean(signal?.aborted) };
    }
  }

  _send(url, { headers, ...request }, signal, accept) {
    // A wrong address or key throws here, where it is not taken for a lost connection.
    const address = new URL(url, globalThis.location?.href).href;
    const sent = new Headers({ ...this._headers, ...headers, accept });
    if (request.body) sent.set("content-type", "application/json");
    return network(this._fetch(address, { ...request, headers: sent, signal }));
  }

  _path(index) {
    return this._base + encodeURIComponent(index);
  }

  _run(index, runId) {
    return `${this._path(index)}/runs/${encodeURIComponent(runId)}`;
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
      const { value, done } = await network(reader.read());
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
  const failure = { code: String(body.code ?? response.status), message, retryable, status: response.status };
  const wait = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  return wait >= 0 ? { ...failure, retryAfterSeconds: wait } : failure;
}

function failed(code, message) {
  return /** @type {const} */ ({ type: "error", error: { code, message, retryable: true } });
}

async function network(promise) {
  try {
    return await promise;
  } catch (error) {
    throw new ConnectionLost("the connection was lost", { cause: error });
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve(undefined)), { once: true });
  });
}
