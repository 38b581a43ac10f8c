/** The storefront page: reads its address, asks the server, and shows the answer or the list. */

import { Aisle } from "./aisle.js";
import { AnswerView } from "./answer.js";
import { el, fill, isCalm } from "./dom.js";
import { showFacets } from "./facets.js";
import { ListView } from "./list.js";
import { productDialog } from "./product.js";
import { addressOf, filterOf, readState, termsOf } from "./state.js";

/** Answers of this visit by address, so that going back neither waits nor asks a model again. */
const KEPT_ANSWERS = 20;
const FACETS_WITHOUT_HINT = { fields: { category: {}, brand: {}, color: {}, material: {}, price: { type: "number" } } };

const aisle = new Aisle();
const index = new URLSearchParams(location.search).get("index") || document.body.dataset.index;
const form = document.getElementById("search");
const box = document.getElementById("q");
const main = document.getElementById("results");
const side = document.getElementById("facets");
const filterButton = document.getElementById("filter-toggle");
const kept = new Map();
let current = new AbortController();
let state = readState();
let facetFields = null;
let dialog = null;
const known = new Map();

function go(next, { replace = false } = {}) {
  const address = addressOf(next);
  history.replaceState({ ...history.state, scroll: scrollY }, "");
  if (replace) history.replaceState({}, "", address);
  else history.pushState({}, "", address);
  show();
}

function show({ scroll = 0 } = {}) {
  const before = state;
  state = readState();
  if (sameResults(before, state) && main.childElementCount) {
    showProduct();
    return;
  }
  current.abort();
  current = new AbortController();
  box.value = state.q;
  document.body.dataset.view = state.q || state.view === "list" ? state.view : "home";
  document.title = state.q ? `${state.title || state.q} – aisle` : "aisle";
  fill(side);
  closeFacets();
  if (document.body.dataset.view === "home") fill(main);
  else if (state.view === "list") showList();
  else showAnswer();
  scrollTo({ top: scroll, behavior: "instant" });
  showProduct();
}

async function showAnswer() {
  const { signal } = current;
  const view = new AnswerView(main, answerOptions());
  const address = addressOf({ ...state, product: "" });
  const past = kept.get(address);
  if (past) {
    for (const event of past) view.take(event);
    return;
  }
  const events = [];
  let failed = false;
  const searchSettings = { limit: 24 };
  for await (const event of aisle.search({ index, q: state.q, searchSettings, filter: filterOf(state), signal })) {
    if (signal.aborted) return;
    events.push(event);
    failed ||= event.type === "error" || Boolean(event.data?.error);
    remember(event.data);
    view.take(event);
  }
  if (failed || signal.aborted) return;
  kept.set(address, events.filter((event) => event.type !== "reconnecting"));
  if (kept.size > KEPT_ANSWERS) kept.delete(kept.keys().next().value);
}

function answerOptions() {
  const queryHref = (q) => addressOf({ q });
  const listed = (item) =>
    item
      ? { ...state, view: "list", q: item.query, within: item.appliedFilter ?? "", title: item.category, product: "" }
      : { ...state, view: "list", product: "" };
  return {
    q: state.q,
    cards: cardOptions(),
    links: { onproduct: lightUp, onquery: (q) => go({ q }), productHref, queryHref },
    onretry: () => {
      fill(main);
      show();
    },
    onfacets: takeFacets,
    onquery: (q) => go({ q }),
    queryHref,
    listHref: (item) => addressOf(listed(item)),
    onlist: (item) => go(listed(item)),
    onplain: (delta) => {
      takeFacets(delta.facets ?? {});
      listView().show(delta);
    },
  };
}

function showList() {
  listView().load();
}

function listView() {
  return new ListView(main, {
    state,
    aisle,
    index,
    cards: cardOptions(),
    filter: filterOf(state),
    facets: facetsFor(state),
    go,
    onfacets: takeFacets,
    signal: current.signal,
  });
}

/** Asks for the fields that the first answer offered; a chosen field counts as if it were not chosen. */
function facetsFor({ chosen }) {
  const asked = facetFields ?? FACETS_WITHOUT_HINT;
  const fields = Object.fromEntries(
    Object.entries(asked.fields).map(([field, facet]) => {
      const values = chosen[field] ?? [];
      return [field, values.length ? { ...facet, excludeTerms: termsOf(field, values) } : facet];
    }),
  );
  for (const field of Object.keys(chosen)) fields[field] ??= { excludeTerms: termsOf(field, chosen[field]) };
  return { fields, maxResults: 20 };
}

function takeFacets(facets) {
  const names = Object.keys(facets);
  if (names.length && !facetFields) {
    const fields = {};
    for (const name of names) fields[name] = typeof facets[name]?.min === "number" ? { type: "number" } : {};
    facetFields = { fields };
  }
  // Products first: the filters are drawn after the frame that shows them.
  const { signal } = current;
  const draw = () => {
    if (signal.aborted) return;
    showFacets(side, facets, state, go);
    filterButton.hidden = !side.querySelector(".facet-group");
  };
  requestAnimationFrame(() => setTimeout(draw));
}

function cardOptions() {
  return { onopen: (hit) => go({ ...state, product: String(hit._id) }), href: productHref };
}

function productHref(id) {
  return addressOf({ ...state, product: id });
}

function remember(data) {
  for (const hit of data?.hits ?? []) known.set(String(hit._id), hit);
  for (const item of data?.categoryHits ?? []) for (const hit of item.hits ?? []) known.set(String(hit._id), hit);
}

function lightUp(id) {
  const found = main.querySelector(`.card[data-id="${CSS.escape(id)}"]`);
  if (!found) {
    go({ ...state, product: id });
    return;
  }
  found.scrollIntoView({ behavior: isCalm() ? "instant" : "smooth", block: "center", inline: "center" });
  found.querySelector("a").focus({ preventScroll: true });
  found.classList.add("card-lit");
  setTimeout(() => found.classList.remove("card-lit"), 2400);
}

function showProduct() {
  dialog?.close();
  if (!state.product) return;
  const id = state.product;
  productDialog({
    id,
    hit: known.get(id),
    aisle,
    index,
    onclose: () => state.product === id && go({ ...state, product: "" }, { replace: true }),
    onvariant: (variant) => go({ ...state, product: variant }, { replace: true }),
  });
  dialog = document.querySelector("dialog.sheet");
}

function sameResults(a, b) {
  return JSON.stringify({ ...a, product: "" }) === JSON.stringify({ ...b, product: "" });
}

function closeFacets() {
  side.classList.remove("facets-open");
  filterButton.setAttribute("aria-expanded", "false");
  filterButton.textContent = "Filter";
  filterButton.hidden = true;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const q = box.value.trim();
  if (!q) return;
  box.blur();
  fill(main);
  go({ q });
});
for (const link of document.querySelectorAll("a[data-query]")) {
  link.href = addressOf({ q: link.dataset.query });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    go({ q: link.dataset.query });
  });
}
document.getElementById("home").addEventListener("click", (event) => {
  event.preventDefault();
  go({});
  box.focus();
});
filterButton.addEventListener("click", () => {
  const open = side.classList.toggle("facets-open");
  filterButton.setAttribute("aria-expanded", String(open));
  filterButton.textContent = open ? "Show results" : "Filter";
  if (open) side.querySelector("input")?.focus({ preventScroll: true });
  scrollTo({ top: 0, behavior: "instant" });
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea, dialog")) return;
  event.preventDefault();
  box.focus();
  box.select();
});
addEventListener("popstate", (event) => show({ scroll: event.state?.scroll ?? 0 }));
history.scrollRestoration = "manual";
show();
if (document.body.dataset.view === "home") box.focus();
