/** The chat view: a thread of turns and where to write the next one. */

import { picture } from "./card.js";
import { Composer } from "./composer.js";
import { announce, el, fill, isCalm, sentence } from "./dom.js";
import { TurnView } from "./turn.js";

const HINT = "Ask in your own words, go on from what was shown (“cheaper”, “in blue”, “the second one”), or show a picture.";
const CONFIRM_MS = 4000;

export class ChatView {
  /**
   * @param {HTMLElement} element
   * @param {{ aisle: import("./aisle.js").Aisle, index: string, session: string, thread: import("./thread.js").Thread,
   *   about: string, cards: object, links: (within: HTMLElement, ask: (q: string) => void) => object,
   *   onhits: (items: object) => void, productOf: (id: string) => Promise<object | null>, onabout: (id: string) => void,
   *   listHref: (item: object) => string, onlist: (item: object) => void, signal: AbortSignal }} options
   */
  constructor(element, options) {
    this._options = options;
    this._about = options.about;
    this._sent = new WeakMap();
    this._current = null;
    this.composer = new Composer({ onsend: (text, pictures) => this.ask([text], pictures), onstop: () => this.stop() });
    this._turns = el("ol", { class: "turns", "aria-label": "Conversation" });
    this._delete = el("button", { type: "button", class: "link", text: "Delete conversation", onclick: () => this._confirm() });
    this._error = el("p", { class: "turn-error", role: "alert", hidden: true });
    this._hint = el("p", { class: "chat-hint", text: HINT });
    const head = el("header", { class: "lede lede-list" }, el("h1", { class: "query", tabindex: "-1", text: "Chat" }), this._delete);
    fill(element, el("div", { class: "chat" }, head, this._hint, this._error, this._turns, this.composer.element));
    for (const turn of options.thread.turns) this._draw(turn);
    for (const turn of options.thread.turns) for (const item of turn.categories) options.onhits(item);
    this._update();
    this._showAbout();
    options.signal.addEventListener("abort", () => this.stop());
    this._takeUp();
  }

  /**
   * Asks one question after the other; the pictures go with the first.
   * @param {string[]} questions
   * @param {import("./pictures.js").Picture[]} [pictures]
   */
  async ask(questions, pictures = []) {
    for (const q of questions) {
      if (this._current || this._options.signal.aborted) return;
      const turn = this._options.thread.add(q, pictures.map((each) => each.kept), this._about ? [this._about] : []);
      this._sent.set(turn, pictures.map((each) => each.sent));
      pictures = [];
      await this._answer(turn, this._draw(turn));
      if (turn.state !== "done") return;
    }
  }

  /** Stops the answer under way, the model's work included, and keeps what has come. */
  stop() {
    if (!this._current) return;
    const { turn, abort } = this._current;
    const { aisle, index } = this._options;
    turn.state = "stopped";
    if (turn.runId) aisle.stop({ index, runId: turn.runId });
    abort.abort();
  }

  async _answer(turn, view) {
    const { aisle, index, session, thread } = this._options;
    this._scrollTo(view);
    const body = { q: turn.q, conversationId: thread.conversationId || undefined };
    if (turn.documentIds.length) body.documentIds = turn.documentIds;
    const images = this._sent.get(turn) ?? turn.pictures;
    if (images.length) body.images = images;
    const abort = new AbortController();
    const about = { sessionId: session, userId: session, signal: abort.signal };
    await this._follow(turn, view, abort, aisle.converse({ index, ...body, ...about }));
  }

  async _follow(turn, view, abort, events) {
    const { thread, onhits } = this._options;
    this._current = { turn, abort };
    this.composer.running = true;
    this._update();
    thread.save();
    let failed = false;
    for await (const event of events) {
      if (abort.signal.aborted) break;
      if (event.type === "conversation-id") thread.conversationId = event.data.conversationId;
      for (const item of event.data?.categoryHits ?? []) onhits(item);
      view.take(event);
      failed = event.type === "error" && !event.id;
      if (event.type === "open" || event.type === "conversation-id") thread.save();
    }
    this._current = null;
    this.composer.running = false;
    view.end(turn.state === "stopped" ? "stopped" : failed ? "failed" : "done");
    thread.save();
    announce(turn.error ? sentence(turn.error.message) : turn.text.slice(0, 400) || `${turn.categories.length} rows of products.`);
  }

  /** Goes on with the answer that a reload has interrupted. */
  async _takeUp() {
    const { aisle, index, thread } = this._options;
    const turn = thread.turns.at(-1);
    if (!turn) return;
    const view = this._views.at(-1);
    this._scrollTo(view);
    if (turn.state !== "running") return;
    const abort = new AbortController();
    const { runId, lastId: after } = turn;
    await this._follow(turn, view, abort, runId ? aisle.follow({ index, runId, after, signal: abort.signal }) : cutOff());
  }

  _draw(turn) {
    const { cards, links, listHref, onlist } = this._options;
    const ask = (q) => this.ask([q]);
    const again = (failed) => this._again(failed);
    const view = new TurnView(turn, { cards, links: (within) => links(within, ask), onask: ask, onagain: again, listHref, onlist });
    this._turns.append(view.element);
    (this._views ??= []).push(view);
    return view;
  }

  async _again(turn) {
    if (this._current) return;
    const { thread } = this._options;
    const place = thread.turns.indexOf(turn);
    const images = this._sent.get(turn);
    thread.remove(turn);
    const [old] = this._views.splice(place, 1);
    old.element.remove();
    const next = thread.add(turn.q, turn.pictures, turn.documentIds);
    if (images) this._sent.set(next, images);
    await this._answer(next, this._draw(next));
  }

  _confirm() {
    if (this._delete.dataset.sure) {
      this._forget();
      return;
    }
    this._delete.dataset.sure = "yes";
    this._delete.textContent = "Delete for good?";
    setTimeout(() => this._unsure(), CONFIRM_MS);
  }

  _unsure() {
    delete this._delete.dataset.sure;
    this._delete.textContent = "Delete conversation";
  }

  async _forget() {
    const { aisle, index, thread } = this._options;
    this._unsure();
    this.stop();
    const { conversationId } = thread;
    const gone = conversationId ? await aisle.forget({ index, conversationId }) : { ok: true };
    this._error.hidden = gone.ok;
    if (!gone.ok) {
      this._error.textContent = `It could not be deleted: ${gone.error.message}.`;
      return;
    }
    thread.clear();
    this._views = [];
    fill(this._turns);
    this._update();
    announce("The conversation is deleted.");
    this.composer.text.focus();
  }

  async _showAbout() {
    const { productOf, onabout } = this._options;
    const bar = this.composer.about;
    if (!this._about) return;
    const product = await productOf(this._about);
    if (!product) return;
    const title = String(product.productTitle ?? product.title ?? product._id);
    const leave = () => {
      this._about = "";
      bar.hidden = true;
      onabout("");
      this.composer.text.focus();
    };
    const remove = el("button", { type: "button", class: "close", "aria-label": "Ask about anything", text: "×", onclick: leave });
    fill(bar, picture(product, true), el("span", { class: "about-title", text: `About ${title}` }), remove);
    bar.hidden = false;
  }

  _update() {
    const isEmpty = !this._options.thread.turns.length;
    this._delete.hidden = isEmpty;
    this._hint.hidden = !isEmpty;
  }

  _scrollTo(view) {
    const behavior = isCalm() || this._views.length === 1 ? "instant" : "smooth";
    requestAnimationFrame(() => view.element.scrollIntoView({ behavior, block: "start" }));
  }
}

async function* cutOff() {
  const message = "the page was left before the shop had answered; please ask again";
  yield { type: "error", error: { code: "cut_off", message, retryable: true } };
}
