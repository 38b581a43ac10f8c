/** The answer's shelves: category rows that fill, in order of arrival, the places that were kept for them. */

import { card, emptyCard } from "./card.js";
import { el, fill } from "./dom.js";

export class Shelves {
  /**
   * @param {HTMLElement} element
   * @param {{ count: number, cards: object, listHref: (item: object) => string, onlist: (item: object) => void }} options
   */
  constructor(element, { count, cards, listHref, onlist }) {
    this._element = element;
    this._options = { cards, listHref, onlist };
    const empty = emptyShelf();
    this._places = Array.from({ length: count }, () => empty.cloneNode(true));
    this._filled = 0;
    fill(element, ...this._places);
  }

  /** Puts a category into the next free place. */
  add(item) {
    const shelf = this._shelf(item);
    const place = this._places[this._filled];
    if (place) place.replaceWith(shelf);
    else this._element.append(shelf);
    this._filled += 1;
  }

  /** Clears away the places that nothing came for. */
  end() {
    for (const place of this._places.slice(this._filled)) place.remove();
  }

  _shelf(item) {
    const { cards, listHref, onlist } = this._options;
    const hits = item.hits ?? [];
    const id = `shelf-${this._filled}`;
    const open = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
      event.preventDefault();
      onlist(item);
    };
    const all = `See all ${Number(item.totalHits).toLocaleString()}`;
    const failed = item.error && el("p", { class: "shelf-note", text: "This shelf could not be searched just now." });
    const none = !item.error && !hits.length && el("p", { class: "shelf-note", text: "Nothing here at the moment." });
    return el(
      "section",
      { class: "shelf", "aria-labelledby": id },
      el(
        "div",
        { class: "shelf-head" },
        el("h2", { id }, el("a", { href: listHref(item), onclick: open, text: item.category })),
        item.filterDropped &&
          el("span", { class: "shelf-hint", title: item.originalFilter ?? "", text: "a little wider than asked" }),
        item.totalHits > hits.length && el("a", { class: "see-all", dir: null, href: listHref(item), onclick: open, "aria-label": `${all}: ${item.category}`, text: all }),
      ),
      failed || none || el("ul", { class: "row", tabindex: "-1" }, ...hits.map((hit) => card(hit, cards))),
    );
  }
}

function emptyShelf() {
  return el(
    "section",
    { class: "shelf shelf-empty", "aria-hidden": "true" },
    el("div", { class: "shelf-head" }, el("span", { class: "shelf-label" })),
    el("ul", { class: "row" }, ...Array.from({ length: 6 }, emptyCard)),
  );
}
