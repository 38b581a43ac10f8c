/** The words of the log line as people say them, and numbers as people read them. */

const STAGES = {
  TIME_TO_FIRST_EVENT: ["To first event", "moment"],
  TIME_TO_FIRST_HITS: ["To first hits", "moment"],
  TIME_TO_FIRST_CATEGORY: ["To first category", "moment"],
  CONVERSATION_LOAD: ["Conversation read", "store"],
  PRODUCT_CONTEXT: ["Product read", "store"],
  CACHED_QUERY_LOOKUP: ["Cache lookup", "store"],
  INITIAL_MARQO_SEARCH: ["First search", "search"],
  LLM_FIRST_CALL: ["Plan (model)", "model"],
  CATALOG_PLAN: ["Plan (rules)", "search"],
  CATEGORY_SEARCH_TOTAL: ["Category searches", "search"],
  RERANK: ["Better order", "model"],
  LLM_SECOND_CALL: ["Summary (model)", "model"],
  CONVERSATION_COMMIT: ["Conversation kept", "store"],
  E2E: ["Whole request", "whole"],
};
const SOURCES = {
  llm: ["model", "t1"],
  catalog: ["rules", "t2"],
  cached: ["cache", "t3"],
  short_query_bypass: ["short query", "t4"],
  search: ["plain search", "t5"],
  error: ["failed", "alarm"],
};
const OUTCOMES = {
  ok: ["ok", "t1"],
  canceled: ["canceled", "t5"],
  degraded: ["degraded", "t4"],
  error: ["failed", "alarm"],
};
const MISSES = {
  never_stored: "none",
  not_stored: "none",
  edge_outdated: "old",
  table_outdated: "old",
  edge_dropped: "old",
  table_dropped: "old",
  edge_damaged: "trouble",
  table_damaged: "trouble",
  table_timeout: "trouble",
  table_error: "trouble",
  table_open: "trouble",
  table_busy: "trouble",
  conversation: "apart",
  images: "apart",
  personal: "apart",
  filtered: "apart",
  key: "apart",
  session: "apart",
  anew: "apart",
  off: "apart",
  None: "apart",
  other: "apart",
};
export const CACHE_LAYERS = [
  { name: "edge", label: "hit at the edge", tone: "t1" },
  { name: "hit", label: "hit in the table", tone: "t2" },
  { name: "none", label: "not stored yet", tone: "t5" },
  { name: "old", label: "outdated", tone: "t4" },
  { name: "apart", label: "not for the cache", tone: "t6" },
  { name: "trouble", label: "a tier failed", tone: "alarm" },
];
export const TOKEN_LAYERS = [
  { name: "input", label: "input", tone: "t1" },
  { name: "cached", label: "cached input", tone: "t3" },
  { name: "output", label: "output", tone: "t2" },
  { name: "thoughts", label: "thoughts", tone: "t4" },
];

export const stageName = (stage) => STAGES[stage]?.[0] ?? plain(stage);

/** @returns {"model" | "search" | "store" | "moment" | "whole"} what a stage waits for */
export const stageKind = (stage) => STAGES[stage]?.[1] ?? "search";

/** Returns stages in the order in which a request has them, unknown ones last. */
export function inOrder(stages) {
  const order = Object.keys(STAGES);
  const rank = (stage) => (order.includes(stage) ? order.indexOf(stage) : order.length);
  return [...stages].sort((a, b) => rank(a) - rank(b));
}

export const sourceName = (source) => SOURCES[source]?.[0] ?? plain(source);
export const outcomeName = (outcome) => OUTCOMES[outcome]?.[0] ?? plain(outcome);
export const sourceLayers = (seen) => layers(SOURCES, seen);
export const outcomeLayers = (seen) => layers(OUTCOMES, seen);

/** Returns the layer of a word of the cache: a tier that had the answer, or why none had. */
export function cacheLayer(word) {
  if (Object.hasOwn(MISSES, word)) return MISSES[word];
  return word === "edge" ? "edge" : "hit";
}

/** A word of the log as it is read: `table_timeout` is "table timeout". */
export const plain = (word) => String(word).replaceAll("_", " ");

export const count = (number) => Math.round(number).toLocaleString("en");

export function milliseconds(ms) {
  if (ms >= 9_950) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 995) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 9.95 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

export function compact(number) {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(number);
}

/** Writes an amount; small ones keep two digits that say something. */
export function money(amount, currency) {
  const digits = amount === 0 || amount >= 1 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(amount)));
  return `${amount.toFixed(Math.max(2, digits))} ${currency}`;
}

export function clock(seconds, withSeconds = false) {
  const options = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return new Date(seconds * 1000).toLocaleTimeString("en", withSeconds ? { ...options, second: "2-digit" } : options);
}

function layers(known, seen) {
  const rest = seen
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => ({ name, label: plain(name), tone: "t6" }));
  const ours = Object.entries(known).map(([name, [label, tone]]) => ({ name, label, tone }));
  return [...ours.filter(({ name }) => seen.includes(name)), ...rest];
}
