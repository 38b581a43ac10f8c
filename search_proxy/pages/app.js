/** The storefront page: reads its address, asks the server, and shows the answer or the list. */

import { Aisle } from "./aisle.js";
import { AnswerView } from "./answer.js";
import { priceText } from "./card.js";
import { ChatView } from "./chat.js";
import { fill, isCalm, painted, whenIdle } from "./dom.js";
import { facetsFor, fieldsOf, showFacets } from "./facets.js";
import { ListView } from "./list.js";
import { productDialog } from "./product.js";
import { filterButton, wireShell } from "./shell.js";
import { addressOf, filterOf, readState } from "./state.js";
import { Thread, sessionId } from "./thread.js";
import { typeahead } from "./typeahead.js";

/** Answers of this visit by address, so that going back neither waits nor asks a model again. */
const KEPT_ANSWERS = 20;

const aisle = new Aisle();
const index = new URLSearchParams(location.search).get("index") || document.body.dataset.index;
const box = document.getElementById("q");
const main = document.getElementById("results");
const side = document.getElementById("facets");
const kept = new Map();
let current = new AbortController();
let state = readState();
let facetFields = null;
let dialog = null;
let chat = null;
const known = new Map();
const thread = new Thread(index);
const session = sessionId();

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
  completions.close();
  box.value = state.q;
  chat = null;
  document.body.dataset.view = state.q || state.view !== "answer" ? state.view : "home";
  const title = state.view === "chat" ? "Chat" : state.title || state.q;
  document.title = title ? `${title} – aisle` : "aisle";
  fill(side);
  main.parentElement.classList.remove("page-talk");
  closeFacets();
  if (document.body.dataset.view === "home") fill(main);
  else if (state.view === "list") showList();
  else if (state.view === "chat") showChat();
  else showAnswer();
  scrollTo({ top: scroll, behavior: "instant" });
  showProduct();
}

async function showAnswer() {
  const { signal } = current;
  const address = addressOf({ ...state, product: "" });
  const past = kept.get(address);
  if (past) {
    const view = new AnswerView(main, answerOptions());
    for (const event of past) view.take(event);
    return;
  }
  const searchSettings = { limit: 24 };
  const stream = aisle.search({ index, q: state.q, searchSettings, filter: filterOf(state), sessionId: session, signal });
  // The question is on its way before the page is drawn.
  const first = stream.next();
  const view = new AnswerView(main, answerOptions());
  const events = [];
  let failed = false;
  let hasCategory = false;
  let runId = "";
  signal.addEventListener("abort", () => runId && aisle.stop({ index, runId }));
  for (let step = await first; !step.done; step = await stream.next()) {
    const event = step.value;
    if (signal.aborted) return;
    if (event.type === "open") runId = event.runId;
    events.push(event);
    failed ||= event.type === "error" || Boolean(event.data?.error);
    remember(event.data);
    view.take(event);
    // An answer that comes at once is shown in the order of its worth: products, a first category, the rest.
    const isFirst = event.data?.hits || (event.data?.categoryHits && !hasCategory);
    hasCategory ||= Boolean(event.data?.categoryHits);
    if (isFirst) await painted();
  }
  runId = "";
  if (failed || signal.aborted) return;
  kept.set(address, events.filter((event) => event.type !== "reconnecting"));
  if (kept.size > KEPT_ANSWERS) kept.delete(kept.keys().next().value);
}

function answerOptions() {
  const queryHref = (q) => addressOf({ q });
  const listed = (item) => (item ? listOf(item) : { ...state, view: "list", product: "" });
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
    own: filterOf(state),
    onwithout: (within) => go({ ...state, view: "list", within, title: state.q, product: "" }),
    onfollowup: (text) => {
      const questions = thread.from === state.q ? [text] : [state.q, text];
      if (thread.from !== state.q) thread.begin(state.q);
      go({ view: "chat" });
      chat.ask(questions);
    },
    onplain: (delta) => {
      takeFacets(delta.facets ?? {});
      listView().show(delta);
    },
  };
}

function listOf(item) {
  return { view: "list", q: item.query, within: item.appliedFilter ?? "", title: item.category };
}

function showChat() {
  const { signal } = current;
  chat = new ChatView(main, {
    aisle,
    index,
    session,
    thread,
    about: state.about,
    cards: cardOptions(),
    links: (within, ask) => ({
      onproduct: (id) => lightUp(id, within),
      onquery: ask,
      productHref,
      queryHref: (q) => addressOf({ q }),
    }),
    onhits: (item) => remember({ categoryHits: [item] }),
    productOf: async (id) => known.get(id) ?? (await aisle.documents({ index, ids: [id], signal })).value?.results?.[0],
    onabout: (about) => {
      state = { ...state, about };
      history.replaceState(history.state, "", addressOf(state));
    },
    listHref: (item) => addressOf(listOf(item)),
    onlist: (item) => go(listOf(item)),
    signal,
  });
  return chat;
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
    facets: facetsFor(state.chosen, facetFields),
    go,
    onchat: () => {
      const { q } = state;
      go({ view: "chat" });
      chat.composer.text.value = q;
      chat.composer.text.focus();
    },
    onfacets: takeFacets,
    signal: current.signal,
  });
}

function takeFacets(facets) {
  if (Object.keys(facets).length) facetFields ??= fieldsOf(facets);
  // Products first: the filters are drawn after the frame that shows them.
  const { signal } = current;
  const draw = () => {
    if (signal.aborted) return;
    showFacets(side, facets, state, go);
    filterButton.hidden = !side.querySelector(".facet-group");
  };
  painted().then(() => whenIdle(draw));
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

function lightUp(id, within = main) {
  const found = within.querySelector(`.card[data-id="${CSS.escape(id)}"]`);
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
    session,
    onask: (question) => {
      go({ view: "chat", about: id });
      if (question) chat.ask([question]);
      else chat.composer.text.focus();
    },
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

const completions = typeahead(box, { aisle, index, onchoose: (q) => go({ q }) });
wireShell({
  onsearch: (q) => {
    fill(main);
    go({ q });
  },
  onhome: () => go({}),
  onchat: () => {
    if (state.view !== "chat") go({ view: "chat" });
    chat?.composer.text.focus();
  },
  onpictures: (files) => {
    if (state.view !== "chat") go({ view: "chat", about: state.product });
    chat.composer.take(files);
  },
});
addEventListener("pagehide", () => thread.turns.length && thread.save());
addEventListener("popstate", (event) => show({ scroll: event.state?.scroll ?? 0 }));
history.scrollRestoration = "manual";
show();
// A browser's first price takes as long as drawing a dozen cards; it is made while nobody waits.
whenIdle(() => priceText(0.5, "EUR"));
if (document.body.dataset.view === "home") box.focus();
