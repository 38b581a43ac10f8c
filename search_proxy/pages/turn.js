/** One turn of the chat: what the shopper said, and the answer as it comes or as it was kept. */

import { card } from "./card.js";
import { el, fill, sentence } from "./dom.js";
import { thumbnail } from "./pictures.js";
import { receiptDialog } from "./receipt.js";
import { SummaryWriter } from "./summary.js";

export class TurnView {
  /**
   * @param {import("./thread.js").Turn} turn
   * @param {{ cards: object, links: (within: HTMLElement) => object, onask: (q: string) => void,
   *   onagain: (turn: object) => void, listHref: (item: object) => string, onlist: (item: object) => void }} options
   */
  constructor(turn, options) {
    this._turn = turn;
    this._options = options;
    this._status = el("p", { class: "status turn-status", text: "Looking through the shop…" });
    this._text = el("div", { class: "turn-text" });
    this._rows = el("div", { class: "turn-rows" });
    this._chips = el("ul", { class: "chips chips-wrap", "aria-label": "What you could say" });
    this._foot = el("div", { class: "turn-foot" });
    const said = el(
      "div",
      { class: "said" },
      turn.pictures.length > 0 && el("div", { class: "said-pictures" }, ...turn.pictures.map(thumbnail)),
      el("p", { text: turn.q }),
    );
    this._answer = el("div", { class: "answer", "aria-busy": "true" }, this._status, this._text, this._rows, this._chips, this._foot);
    this.element = el("li", { class: "turn" }, said, this._answer);
    this._writer = new SummaryWriter(this._text, options.links(this.element));
    this._replay();
  }

  /** Takes an event of the stream into the turn's record and onto the page. */
  take(event) {
    const turn = this._turn;
    if (event.id) turn.lastId = event.id;
    if (event.type === "open") turn.runId = event.runId;
    else if (event.type === "reconnecting") this._say("The connection broke off; picking it up again…");
    else if (event.type === "error") turn.error = event.error;
    else if (event.type === "category-hits") for (const item of event.data.categoryHits ?? []) this._add(item);
    else if (event.type === "message") this._message(event.data);
  }

  /** @param {"done" | "stopped" | "failed"} state */
  end(state) {
    this._turn.state = state;
    this._writer.end();
    this._close();
  }

  _message({ text, queryComplements, receipt }) {
    if (text) {
      this._turn.text += text;
      this._write(text);
    }
    if (queryComplements) {
      this._turn.options = queryComplements;
      this._offer();
    }
    if (receipt) this._turn.receipt = receipt;
  }

  _replay() {
    const turn = this._turn;
    for (const item of turn.categories) this._show(item);
    if (turn.text) this._write(turn.text);
    if (turn.state === "running") return;
    this._offer();
    this._writer.end();
    this._close();
  }

  _write(text) {
    this._say("");
    this._writer.push(text);
  }

  _add(item) {
    this._turn.categories.push(item);
    this._show(item);
  }

  _show(item) {
    const { cards, listHref, onlist } = this._options;
    const hits = item.hits ?? [];
    // That nothing was found is said in words.
    if (!hits.length && !item.error) return;
    const open = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
      event.preventDefault();
      onlist(item);
    };
    const all = `See all ${Number(item.totalHits).toLocaleString()}`;
    const note = "This part could not be searched just now.";
    this._rows.append(
      el(
        "section",
        { class: "turn-row", "aria-label": item.category },
        el(
          "div",
          { class: "shelf-head" },
          el("h3", { text: item.category }),
          item.totalHits > hits.length && el("a", { class: "see-all", dir: null, href: listHref(item), onclick: open, "aria-label": `${all}: ${item.category}`, text: all }),
        ),
        hits.length > 0
          ? el("ul", { class: "row", tabindex: "-1" }, ...hits.map((hit) => card(hit, cards)))
          : el("p", { class: "shelf-note", text: note }),
      ),
    );
  }

  _offer() {
    const { onask } = this._options;
    const chips = this._turn.options.map((q) => el("li", {}, el("button", { type: "button", class: "chip", text: q, onclick: () => onask(q) })));
    fill(this._chips, ...chips);
  }

  _close() {
    const { error, receipt, categories, state, text } = this._turn;
    this._answer.setAttribute("aria-busy", "false");
    const silent = state === "done" && !text && !categories.length && !error;
    this._say(state === "stopped" ? "Stopped." : silent ? "There was no answer to that." : "");
    const again = () => this._options.onagain(this._turn);
    const show = () => receiptDialog(receipt, categories);
    const canRetry = state !== "done" || silent || (error && error.retryable !== false);
    fill(
      this._foot,
      error && el("p", { class: "turn-error", role: "alert", text: sentence(error.message) }),
      canRetry && el("button", { type: "button", class: "quiet", text: "Ask again", onclick: again }),
      receipt && el("button", { type: "button", class: "link", text: "How this was answered", onclick: show }),
    );
  }

  _say(text) {
    this._status.textContent = text;
    this._status.hidden = !text;
  }
}
