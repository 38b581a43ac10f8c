/** The answer view: one agentic search, drawn event by event as the stream brings it. */

import { card, emptyCard } from "./card.js";
import { announce, el, fill, sentence } from "./dom.js";
import { receiptDialog } from "./receipt.js";
import { Shelves } from "./shelves.js";
import { SummaryWriter } from "./summary.js";
import { wishes } from "./wishes.js";

const SHELVES = 5;
/** As many as the widest grid shows in one row, and as the narrowest shows. */
const FIRST_HITS = 6;
const LEAST_HITS = 4;
const STATUS = {
  searching: "Looking through the shop…",
  thinking: "Sorting what fits…",
  summarizing: "Writing it up…",
  degraded: "Answering without the model…",
};
const TALK = new Set(["no_match", "needs_clarification"]);

export class AnswerView {
  /**
   * @param {HTMLElement} element
   * @param {{ q: string, cards: object, links: object, onretry: () => void, onfacets: (facets: object) => void,
   *   onquery: (q: string) => void, queryHref: (q: string) => string, listHref: (item: object | null) => string,
   *   onlist: (item: object | null) => void, onplain: (delta: object) => void, own: string | undefined,
   *   onwithout: (filter: string) => void, onfollowup: (text: string) => void }} options
   */
  constructor(element, options) {
    this._options = options;
    this._categories = [];
    this._hits = null;
    this._total = 0;
    this._said = false;
    this._plain = false;
    this._failed = false;
    this._ended = false;
    this.title = el("h1", { class: "query", tabindex: "-1", text: options.q });
    this.status = el("p", { class: "status", text: STATUS.searching });
    this.summary = el("div", { class: "summary", "aria-busy": "true" });
    this.more = el("button", { type: "button", class: "link more", hidden: true, text: "Read on", onclick: () => this._open() });
    this.chips = el("ul", { class: "chips", "aria-label": "Follow-up searches" });
    this.error = el("div", { class: "error", hidden: true });
    this.grid = el("ul", { class: "grid grid-best grid-waiting" }, ...Array.from({ length: 6 }, emptyCard));
    this.bestHead = el("div", { class: "shelf-head" }, el("h2", { text: "Best matches" }));
    this.best = el("section", { class: "best", "aria-label": "Best matches" }, this.bestHead, this.grid);
    this.shelves = el("div", { class: "shelves" });
    this.foot = el("div", { class: "foot" });
    this.wishes = el("div", { class: "wishes-place" });
    this.lede = el("header", { class: "lede" }, this.title, el("div", { class: "lede-line" }, this.status, this.wishes));
    this._element = element;
    fill(element, this.lede, this.error, this.summary, this.more, this.chips, this.best, this.shelves, this.foot);
    this._writer = new SummaryWriter(this.summary, options.links);
    this._rows = null;
  }

  /** @param {import("./aisle.js").SearchEvent} event */
  take(event) {
    if (event.type === "init") this._init(event.data);
    else if (event.type === "delta") this._delta(event.data);
    else if (event.type === "reconnecting") this._say("The connection broke off; picking it up again…");
    else if (event.type === "error") this._fail(event.error);
    else if (event.type === "stream-end") this._end();
  }

  _init({ categories, summary }) {
    this._plain = !categories && !summary;
    this.summary.hidden = this._plain || !summary;
    this.chips.hidden = this._plain;
    if (!categories && summary) this._talk();
    // Products first: the places below them are drawn after the frame that shows them.
    if (categories) requestAnimationFrame(() => setTimeout(() => this._ended || this._shelves()));
  }

  _shelves() {
    const { cards, listHref, onlist } = this._options;
    this._rows ??= new Shelves(this.shelves, { count: SHELVES, cards, listHref, onlist });
    return this._rows;
  }

  _delta(delta) {
    if (delta.status) this._say(STATUS[delta.status] ?? "");
    if (delta.hits) this._showHits(delta);
    if (TALK.has(delta.strategy)) this._talk();
    if (delta.rerankedHits) this._reorder(delta.rerankedHits);
    for (const item of delta.categoryHits ?? []) {
      this._categories.push(item);
      this._shelves().add(item);
    }
    if (delta.summary) this._write(delta.summary);
    if (delta.queryComplements) this._showComplements(delta.queryComplements);
    if (delta.error) this._fail(delta.error);
    if (delta.receipt) this._receipt = delta.receipt;
  }

  _showHits(delta) {
    this._hits = delta.hits;
    this._total = delta.totalHits ?? delta.hits.length;
    if (this._plain) {
      this._options.onplain(delta);
      return;
    }
    this._options.onfacets(delta.facets ?? {});
    this._showWishes(delta);
    if (!delta.hits.length) {
      this.best.hidden = true;
      return;
    }
    const { listHref, onlist } = this._options;
    this.grid.classList.remove("grid-waiting");
    this._fillGrid(delta.hits);
    if (this._total > Math.min(LEAST_HITS, delta.hits.length)) {
      const open = (event) => (event.preventDefault(), onlist(null));
      const text = `See all ${this._total.toLocaleString()}`;
      this.bestHead.append(el("a", { class: "see-all", dir: null, href: listHref(null), onclick: open, text }));
    }
    announce(`${this._total.toLocaleString()} products found.`);
  }

  /** Puts a better order in place of the first, unless somebody is at the products already. */
  _reorder(hits) {
    const isRead = this.grid.getBoundingClientRect().top < 0 || this.grid.matches(":hover, :focus-within");
    if (this._plain || isRead) return;
    this._hits = hits;
    this._fillGrid(hits);
  }

  _fillGrid(hits) {
    const { cards } = this._options;
    fill(this.grid, ...hits.slice(0, FIRST_HITS).map((hit, place) => card(hit, { ...cards, eager: place < 6 })));
  }

  _showWishes({ appliedFilter, originalFilter, hits }) {
    const { own, onwithout } = this._options;
    const currency = hits[0]?.currency;
    fill(this.wishes, wishes({ applied: appliedFilter, own, dropped: originalFilter, currency, onwithout }));
  }

  _write(chunk) {
    this._said = true;
    this.summary.hidden = false;
    this._writer.push(chunk);
    this.more.hidden = this.summary.classList.contains("summary-open") || this.summary.scrollHeight <= this.summary.clientHeight + 4;
  }

  _open() {
    this.summary.classList.add("summary-open");
    this.more.hidden = true;
  }

  _showComplements(queries) {
    const { onquery, queryHref } = this._options;
    fill(
      this.chips,
      ...queries.map((q) => {
        const open = (event) => (event.preventDefault(), onquery(q));
        return el("li", {}, el("a", { class: "chip", href: queryHref(q), onclick: open, text: q }));
      }),
    );
  }

  _fail(error) {
    this._failed = true;
    const again = el("button", { type: "button", class: "quiet", text: "Try again", onclick: this._options.onretry });
    fill(this.error, el("p", { role: "alert", text: sentence(error.message) }), error.retryable !== false && again);
    this.error.hidden = false;
    if (!this._hits) this.best.hidden = true;
    if (error.stage === undefined) this._end();
  }

  _end() {
    this._ended = true;
    this._writer.end();
    this._rows?.end();
    this.summary.setAttribute("aria-busy", "false");
    const talk = TALK.has(this._receipt?.strategy) || (this._said && !this._hits?.length && !this._categories.length);
    if (talk) {
      this._talk();
      announce(this.summary.textContent);
    }
    else if (!this._said) this.summary.hidden = true;
    this.chips.hidden = !this.chips.children.length;
    this._say(this._closing(talk));
    if (this._receipt && !this._plain) {
      const open = () => receiptDialog(this._receipt, this._categories);
      const receipt = el("button", { type: "button", class: "link", text: "How this was answered", onclick: open });
      fill(this.foot, !this._failed && this._followUp(talk), receipt);
    }
    const shelves = this._categories.length;
    if (shelves) announce(`${shelves} categories. ${this.summary.hidden ? "" : "Summary ready."}`);
  }

  /** Shows words alone: a greeting or a question back is no search that found nothing. */
  _talk() {
    this._element.parentElement.classList.add("page-talk");
    this.summary.classList.add("summary-open", "summary-talk");
    this.more.hidden = true;
    this.best.hidden = true;
    this.shelves.hidden = true;
    this.chips.classList.add("chips-wrap");
  }

  _followUp(talk) {
    const label = talk ? "Your reply" : "Ask a follow-up";
    const placeholder = talk ? "Reply in your own words" : "Ask a follow-up, such as “cheaper” or “in blue”";
    const input = el("input", { type: "text", maxlength: 1000, "aria-label": label, placeholder, dir: "auto", autocomplete: "off", enterkeyhint: "send" });
    const send = (event) => {
      event.preventDefault();
      if (input.value.trim()) this._options.onfollowup(input.value.trim());
    };
    return el("form", { class: "follow-up", onsubmit: send }, input, el("button", { type: "submit", text: "Ask" }));
  }

  _closing(talk) {
    if (talk || this._plain || this._failed) return "";
    const found = this._total || this._categories.reduce((sum, item) => sum + (item.totalHits ?? 0), 0);
    if (!found) return `Nothing in the shop fits “${this._options.q}”. Fewer or other words may help.`;
    const ms = this._receipt?.timings?.E2E;
    const time = typeof ms === "number" ? ` · ${(ms / 1000).toFixed(ms < 950 ? 2 : 1)} s` : "";
    return `${found.toLocaleString()} products${time}`;
  }

  _say(text) {
    this.status.textContent = text;
  }
}
