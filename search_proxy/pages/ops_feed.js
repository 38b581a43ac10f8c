/** Reads the numbers of an account and follows its requests. The key travels in a header, never in an address. */

import { EventStreamReader } from "./aisle.js";

/** The server pings every 15 s; a connection that is silent for longer than two pings is dead. */
const SILENCE_MS = 35_000;
const ANSWER_MS = 15_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

/** What a network does; an error of any other kind is a bug, and is thrown. */
class ConnectionLost extends Error {}

/** Returns whether a key can be sent at all: headers take nothing but ASCII. */
export const canBeSent = (key) => /^[\x21-\x7e]+$/.test(key);

/**
 * @param {{ key: string, account: string, minutes: string, signal: AbortSignal }} asked
 * @returns {Promise<{ summary: any } | { status: number, message: string }>} status 0 is a server that was not reached
 */
export async function readSummary({ key, account, minutes, signal }) {
  const parameters = new URLSearchParams(account ? { minutes, account } : { minutes });
  const patience = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const response = await network(
      fetch(`/api/v1/ops/summary?${parameters}`, { headers: headersOf(key), signal: patience }),
    );
    if (!response.ok) return await refusal(response);
    return { summary: await network(response.json()) };
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error;
    return { status: 0, message: "the server does not answer" };
  }
}

/**
 * Follows an account's finished requests until `signal`, and comes back when the connection is lost.
 *
 * @param {{ key: string, account: string, signal: AbortSignal, online: (line: any) => void,
 *   onskipped: (count: number) => void, onstate: (state: "live" | "lost" | "refused", message: string) => void }} options
 */
export async function followRequests({ key, account, signal, online, onskipped, onstate }) {
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    let message = "the server has ended the stream";
    const connection = new AbortController();
    const watch = silence(connection);
    try {
      const response = await network(
        fetch(`/api/v1/tail?${new URLSearchParams({ account })}`, {
          headers: { ...headersOf(key), accept: "text/event-stream" },
          signal: AbortSignal.any([signal, connection.signal]),
        }),
      );
      if (response.ok) {
        onstate("live", "");
        pauseMs = FIRST_PAUSE_MS;
        for await (const { event, data } of frames(response.body, watch)) {
          if (event === "completion") online(data);
          else if (event === "sampled") onskipped(data.skipped);
        }
      } else {
        const { status, message: said } = await refusal(response);
        if (status < 500 && status !== 429) return onstate("refused", said);
        message = said;
      }
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      message = "the connection was lost";
    } finally {
      watch.stop();
      connection.abort();
    }
    if (signal.aborted) return;
    onstate("lost", `${message}; trying again in ${Math.round(pauseMs / 1000)} s`);
    await pause(pauseMs * (0.75 + Math.random() / 2), signal);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Returns after that time, or at once when the signal says so. */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

async function* frames(body, watch) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const stream = new EventStreamReader();
  for (;;) {
    const { value, done } = await network(reader.read());
    if (done) return;
    watch.heard();
    for (const frame of stream.push(decoder.decode(value, { stream: true }))) {
      const data = frame.data === undefined ? undefined : parsed(frame.data);
      if (data && typeof data === "object") yield { event: frame.event, data };
    }
  }
}

function silence(connection) {
  const begin = () => setTimeout(() => connection.abort(), SILENCE_MS);
  let timer = begin();
  return {
    heard() {
      clearTimeout(timer);
      timer = begin();
    },
    stop: () => clearTimeout(timer),
  };
}

function headersOf(key) {
  return key ? { authorization: `Bearer ${key}` } : {};
}

async function refusal(response) {
  const body = parsed(await network(response.text()));
  const message = typeof body?.message === "string" ? body.message : `the server answered ${response.status}`;
  return { status: response.status, message };
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
