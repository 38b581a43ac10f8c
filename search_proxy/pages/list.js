/** The list view: a classic results page with sort and pages, for short queries, categories and narrowed results. */

import { card, emptyCard } from "./card.js";
import { announce, el, fill, sentence } from "./dom.js";
import { isNarrowed, widened } from "./state.js";

const PAGE = 24;
const SORTS = [
  ["", "Best match", null],
  ["price:asc", "Price, low to high", "price"],
  ["price:desc", "Price, high to low", "price"],
  ["rating:desc", "Best rated", "rating"],
  ["createdAt:desc", "Newest", "createdAt"],
];
const ATTRIBUTES = (
  "productTitle variantTitle variantImageUrl price currency compareAtPrice brand inStock rating createdAt " +
  "parentProductId"
).split(" ");

export class ListView {
  /**
   * @param {HTMLElement} element
   * @param {{ state: import("./state.js").State, aisle: import("./aisle.js").Aisle, index: string, cards: object,
   *   filter: string | undefined, facets: object | undefined, go: (state: object) => void,
   *   onchat: () => void, onfacets: (facets: object) => void, signal: AbortSignal }} options
   */
  constructor(element, options) {
    this._options = options;
    this._shown = 0;
    const { state } = options;
    this.title = el("h1", { class: "query", tabindex: "-1", text: state.title || state.q || "Everything" });
    this.status = el("p", { class: "status", text: "Searching…" });
    this.sort = el("select", { "aria-label": "Sort", onchange: () => options.go({ ...state, view: "list", sort: this.sort.value }) });
    this.error = el("div", { class: "error", hidden: true });
    this.grid = el("ul", { class: "grid grid-waiting" }, ...Array.from({ length: 8 }, emptyCard));
    this.more = el("button", { type: "button", class: "quiet load-more", hidden: true, text: "Show more", onclick: () => this.load() });
    this.foot = el("div", { class: "foot" }, this.more);
    fill(
      element,
      el("header", { class: "lede lede-list" }, el("div", {}, this.title, this.status), this.sort),
      this.grid,
      this.error,
      this.foot,
    );
  }

  /** Asks for the next page and shows it. */
  async load() {
    const { aisle, index, state, filter, facets, signal } = this._options;
    this.more.disabled = true;
    const answer = await aisle.products({
      index,
      q: state.q || null,
      limit: PAGE,
      offset: this._shown,
      filter,
      facets: this._shown === 0 ? facets : undefined,
      sortBy: sortOf(state.sort),
      attributesToRetrieve: ATTRIBUTES,
      signal,
    });
    this.more.disabled = false;
    if (signal.aborted) return;
    if (answer.ok) this.show(answer.value);
    else this.fail(answer.error);
  }

  /** @param {{ hits: object[], totalHits?: number, facets?: object }} page */
  show(page) {
    const first = this._shown === 0;
    const cards = page.hits.map((hit, place) => card(hit, { ...this._options.cards, eager: first && place < 8 }));
    this.grid.classList.remove("grid-waiting");
    if (first) fill(this.grid, ...cards);
    else this.grid.append(...cards);
    this._shown += page.hits.length;
    const total = page.totalHits ?? this._shown;
    this.status.textContent = total ? `${total.toLocaleString()} ${total === 1 ? "product" : "products"}` : nothing(this._options.state);
    this.more.hidden = !page.hits.length || this._shown >= total;
    if (!total) this._offerMore();
    if (first) {
      this._offerSorts(page.hits);
      announce(this.status.textContent);
      if (page.facets) this._options.onfacets(page.facets);
    } else cards[0]?.querySelector("a")?.focus();
  }

  /** @param {import("./aisle.js").Failure} error */
  fail(error) {
    const again = () => {
      this.error.hidden = true;
      this.load();
    };
    fill(
      this.error,
      el("p", { role: "alert", text: sentence(error.message) }),
      error.retryable && el("button", { type: "button", class: "quiet", text: "Try again", onclick: again }),
    );
    this.error.hidden = false;
    this.grid.classList.remove("grid-waiting");
    this.more.hidden = true;
    if (this._shown) return;
    fill(this.grid);
    this.status.textContent = "";
  }

  /** Whoever found nothing gets a next step. */
  _offerMore() {
    const { state, go, onchat } = this._options;
    const wider = () => go(widened(state));
    fill(
      this.foot,
      el(
        "div",
        { class: "offers" },
        isNarrowed(state) && el("button", { type: "button", class: "quiet", text: "Search without these choices", onclick: wider }),
        el("button", { type: "button", class: "quiet", text: "Ask in the chat", onclick: onchat }),
      ),
    );
  }

  _offerSorts(hits) {
    const { sort } = this._options.state;
    const known = SORTS.filter(([value, , field]) => !field || value === sort || hits.some((hit) => hit[field] !== undefined));
    fill(this.sort, ...known.map(([value, text]) => el("option", { value, selected: value === sort, text })));
    this.sort.hidden = !sort && hits.length < 2;
  }
}

/** Returns the sort that the search takes, or nothing for best match. */
export function sortOf(sort) {
  const [fieldName, order] = (SORTS.find(([value]) => value && value === sort)?.[0] ?? "").split(":");
  return fieldName ? { fields: [{ fieldName, order }] } : undefined;
}

function nothing(state) {
  if (!state.q) return "Nothing here.";
  return `Nothing in the shop fits “${state.q}”${isNarrowed(state) ? " with these choices." : ". Other words may help."}`;
}
