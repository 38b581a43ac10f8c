/** The page's state is its address: what is searched, filtered and sorted, and which product is open. */

/**
 * @typedef {{ q: string, view: "answer" | "list" | "chat", chosen: Record<string, string[]>, price: [string, string],
 *   sort: string, within: string, title: string, product: string, about: string }} State
 */

const VIEWS = ["answer", "list", "chat"];

/** @returns {State} */
export function readState(search = location.search) {
  const parameters = new URLSearchParams(search);
  const chosen = {};
  for (const entry of parameters.getAll("f")) {
    const cut = entry.indexOf(":");
    if (cut > 0) (chosen[entry.slice(0, cut)] ??= []).push(entry.slice(cut + 1));
  }
  const number = (name) => (/^\d+(\.\d+)?$/.test(parameters.get(name) ?? "") ? parameters.get(name) : "");
  return {
    q: (parameters.get("q") ?? "").trim(),
    view: VIEWS.includes(parameters.get("view")) ? parameters.get("view") : "answer",
    chosen,
    price: [number("min"), number("max")],
    sort: parameters.get("sort") ?? "",
    within: parameters.get("within") ?? "",
    title: parameters.get("title") ?? "",
    product: parameters.get("product") ?? "",
    about: parameters.get("about") ?? "",
  };
}

/** @param {Partial<State>} state */
export function addressOf(state) {
  const parameters = new URLSearchParams();
  const index = new URLSearchParams(location.search).get("index");
  if (index) parameters.set("index", index);
  if (state.q) parameters.set("q", state.q);
  if (state.view && state.view !== "answer") parameters.set("view", state.view);
  for (const [field, values] of Object.entries(state.chosen ?? {})) {
    for (const value of values) parameters.append("f", `${field}:${value}`);
  }
  if (state.price?.[0]) parameters.set("min", state.price[0]);
  if (state.price?.[1]) parameters.set("max", state.price[1]);
  for (const name of ["sort", "within", "title", "product", "about"]) if (state[name]) parameters.set(name, state[name]);
  const text = parameters.toString();
  return text ? `?${text}` : location.pathname;
}

/** Returns the filter terms of one field, as they stand in the filter. */
export function termsOf(field, values) {
  return values.map((value) => `${escape(field)}:(${escape(value)})`);
}

/** @param {State} state */
export function filterOf(state) {
  const parts = state.within ? [`(${state.within})`] : [];
  for (const [field, values] of Object.entries(state.chosen)) {
    if (values.length) parts.push(`(${termsOf(field, values).join(" OR ")})`);
  }
  const [low, high] = state.price;
  if (low || high) parts.push(`price:[${low || "*"} TO ${high || "*"}]`);
  return parts.length ? parts.join(" AND ") : undefined;
}

/** Returns the state with one facet value taken or left. */
export function toggled(state, field, value) {
  const values = state.chosen[field] ?? [];
  const next = values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
  return { ...state, view: "list", chosen: { ...state.chosen, [field]: next } };
}

/** Returns whether anything narrows the results. */
export function isNarrowed(state) {
  return Object.values(state.chosen).some((values) => values.length > 0) || state.price.some(Boolean);
}

/** Returns the state with nothing that narrows the results. */
export function widened(state) {
  return { ...state, chosen: {}, price: ["", ""] };
}

function escape(text) {
  return text.replace(/[\\()[\]:]/g, "\\$&");
}
