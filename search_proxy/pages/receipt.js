/** The receipt: how an answer came about, each stage as a bar, filters tried and dropped, tokens. */

import { el } from "./dom.js";

const SOURCES = {
  llm: "A model planned this answer.",
  catalog: "Catalog rules planned this answer, without a model.",
  cached: "This answer came from the cache; its products were searched afresh.",
  short_query_bypass: "A short query: plain search, without a plan.",
};
const STAGES = {
  INITIAL_MARQO_SEARCH: "First search",
  TIME_TO_FIRST_EVENT: "First event sent",
  TIME_TO_FIRST_HITS: "First hits sent",
  CACHED_QUERY_LOOKUP: "Cache lookup",
  LLM_FIRST_CALL: "Plan (model)",
  CATALOG_PLAN: "Plan (catalog)",
  CATEGORY_SEARCH_TOTAL: "Category searches",
  TIME_TO_FIRST_CATEGORY: "First category sent",
  CONVERSATION_LOAD: "Conversation read",
  PRODUCT_CONTEXT: "Product read",
  CONVERSATION_COMMIT: "Conversation kept",
  RERANK: "Better order",
  LLM_SECOND_CALL: "Summary (model)",
  E2E: "Whole answer",
};

/**
 * @param {import("./aisle.js").Receipt} receipt
 * @param {import("./aisle.js").CategoryHits[]} categories
 */
export function receiptDialog(receipt, categories) {
  const close = el("button", { type: "button", class: "close", "aria-label": "Close", text: "×" });
  const dialog = el(
    "dialog",
    { class: "drawer", "aria-labelledby": "receipt-title" },
    el("div", { class: "drawer-head" }, el("h2", { id: "receipt-title", text: "How this was answered" }), close),
    el("p", { text: SOURCES[receipt.source] ?? String(receipt.source) }),
    facts(receipt),
    bars(receipt.timings ?? {}),
    filters(categories),
    warnings(receipt.warnings ?? []),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function facts(receipt) {
  const tokens = Object.entries(receipt.tokens ?? {}).filter(([, count]) => count > 0);
  const rows = [
    ["Strategy", receipt.strategy?.replaceAll("_", " ")],
    ["Model", receipt.model],
    ["Prompt", receipt.promptVersion],
    ["Cache", cacheText(receipt)],
    ["Tokens", tokens.map(([name, count]) => `${count.toLocaleString()} ${name}`).join(", ")],
    ["Run", receipt.runId],
  ].filter(([, value]) => value);
  return el(
    "dl",
    { class: "facts" },
    ...rows.map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", { text: String(value) }))),
  );
}

function cacheText({ cache, cacheTier }) {
  if (!cache) return cacheTier;
  const outcome = cache.hit ? `hit (${cache.tier ?? cacheTier ?? "stored"})` : `miss${cache.reason ? ` (${cache.reason})` : ""}`;
  return [outcome, ...(Array.isArray(cache.steps) ? cache.steps : [])].join(", ").replaceAll("_", " ");
}

function bars(timings) {
  const entries = Object.entries(timings).filter(([, ms]) => typeof ms === "number");
  if (!entries.length) return null;
  const order = Object.keys(STAGES);
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
  entries.sort(([a], [b]) => rank(a) - rank(b));
  const longest = Math.max(...entries.map(([, ms]) => ms), 1);
  const rows = entries.map(([name, ms]) =>
    el(
      "li",
      {},
      el("span", { class: "bar-name", text: STAGES[name] ?? name }),
      // A meter needs no style attribute, which the page's policy forbids.
      el("meter", { min: 0, max: longest, value: ms, "aria-hidden": "true" }),
      el("span", { class: "bar-ms", text: `${ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString()} ms` }),
    ),
  );
  return el("section", {}, el("h3", { text: "Time" }), el("ul", { class: "bars" }, ...rows));
}

function filters(categories) {
  const rows = categories.filter((item) => item.appliedFilter || item.originalFilter);
  if (!rows.length) return null;
  const items = rows.map((item) =>
    el(
      "li",
      {},
      el("strong", { text: item.category }),
      item.appliedFilter && el("code", { dir: "ltr", text: item.appliedFilter }),
      item.filterDropped && el("code", { dir: "ltr", class: "dropped", text: `dropped: ${item.originalFilter ?? ""}` }),
    ),
  );
  return el("section", {}, el("h3", { text: "Filters" }), el("ul", { class: "filters" }, ...items));
}

function warnings(list) {
  if (!list.length) return null;
  const items = list.map((text) => el("li", { text: String(text).replaceAll("_", " ") }));
  return el("section", {}, el("h3", { text: "Notes" }), el("ul", { class: "notes" }, ...items));
}
