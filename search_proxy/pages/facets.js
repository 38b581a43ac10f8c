/** Facets: what the results can be narrowed by, with counts. */

import { el, fieldName, fill } from "./dom.js";
import { isNarrowed, termsOf, toggled, widened } from "./state.js";

const SHOWN = 7;
/** What is asked for before any answer has told which fields there are. */
const FIRST_FIELDS = { category: {}, brand: {}, color: {}, material: {}, price: { type: "number" } };

/**
 * @param {HTMLElement} element
 * @param {Record<string, Record<string, any>>} facets
 * @param {import("./state.js").State} state
 * @param {(next: import("./state.js").State) => void} go
 */
export function showFacets(element, facets, state, go) {
  const groups = Object.entries(facets ?? {}).map(([field, values]) =>
    isStatistics(values) ? range(field, values, state, go) : choices(field, values, state, go),
  );
  if (!groups.some(Boolean) && !isNarrowed(state)) {
    fill(element);
    return;
  }
  fill(
    element,
    el(
      "div",
      { class: "facets-head" },
      el("h2", { class: "label", text: "Narrow down" }),
      isNarrowed(state) && el("button", { type: "button", class: "link", text: "Clear", onclick: () => go(widened(state)) }),
    ),
    ...groups,
  );
}

/** Returns the fields of an answer's facets, as a search asks for them. */
export function fieldsOf(facets) {
  return Object.fromEntries(Object.entries(facets).map(([name, values]) => [name, isStatistics(values) ? { type: "number" } : {}]));
}

/** Returns the facets to ask for; a chosen field counts as if it were not chosen. */
export function facetsFor(chosen, known) {
  const fields = { ...(known ?? FIRST_FIELDS) };
  for (const [field, values] of Object.entries(chosen)) {
    if (values.length) fields[field] = { ...fields[field], excludeTerms: termsOf(field, values) };
  }
  return { fields, maxResults: 20 };
}

function isStatistics(values) {
  return typeof values?.min === "number" && typeof values?.max === "number";
}

function choices(field, values, state, go) {
  const chosen = state.chosen[field] ?? [];
  const entries = Object.entries(values ?? {}).filter(([, value]) => typeof value?.count === "number");
  for (const value of chosen) if (!entries.some(([name]) => name === value)) entries.unshift([value, { count: 0 }]);
  if (entries.length < 2 && !chosen.length) return null;
  // What is chosen stands first, so that it can be seen and taken back.
  entries.sort(([a], [b]) => Number(chosen.includes(b)) - Number(chosen.includes(a)));
  const item = ([value, { count }]) => {
    const change = () => go(toggled(state, field, value));
    return el(
      "li",
      {},
      el(
        "label",
        { class: "facet" },
        el("input", { type: "checkbox", checked: chosen.includes(value), onchange: change }),
        el("span", { class: "facet-name", text: value }),
        el("span", { class: "facet-count", text: count.toLocaleString() }),
      ),
    );
  };
  const rest = entries.slice(SHOWN);
  return el(
    "fieldset",
    { class: "facet-group", "data-field": field },
    el("legend", { text: fieldName(field) }),
    el("ul", {}, ...entries.slice(0, SHOWN).map(item)),
    rest.length > 0 && folded(rest, item),
  );
}

/** Long tails are built when somebody opens them. */
function folded(rest, item) {
  const list = el("ul");
  const build = () => list.childElementCount || list.append(...rest.map(item));
  return el("details", { ontoggle: build }, el("summary", { text: `${rest.length} more` }), list);
}

function range(field, { min, max }, state, go) {
  if (field !== "price" || min === max) return null;
  const inputs = [0, 1].map((side) =>
    el("input", {
      type: "number",
      inputmode: "decimal",
      min: 0,
      step: "any",
      value: state.price[side],
      placeholder: side ? Math.ceil(max) : Math.floor(min),
      "aria-label": side ? "Highest price" : "Lowest price",
    }),
  );
  const apply = (event) => {
    event.preventDefault();
    go({ ...state, view: "list", price: [inputs[0].value, inputs[1].value] });
  };
  return el(
    "form",
    { class: "facet-group price-range", onsubmit: apply },
    el(
      "fieldset",
      {},
      el("legend", { text: "Price" }),
      el("div", { class: "range" }, inputs[0], el("span", { text: "to" }), inputs[1]),
      el("button", { type: "submit", class: "quiet", text: "Apply" }),
    ),
  );
}
