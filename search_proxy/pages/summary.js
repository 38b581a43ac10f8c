/**
 * Writes the summary as it streams. Links are `[label](<p:ID>)` to a product and `[label](<q:text>)` to a search;
 * they are recognised however the text is cut, and whatever is not exactly one of them stays text.
 */

import { el } from "./dom.js";

/** A bracket that has not become a link within this many characters never will. */
const LONGEST_LINK = 600;
const LINK = /^\[([^\]\n]{1,200})\]\(<([pq]):([^<>\n]{1,300})>\)/;
/** What may still become a link when more text comes. */
const BEGINNING = /^\[(?:[^\]\n]{0,200}|[^\]\n]{1,200}\](?:\((?:<(?:[pq](?::[^<>\n]{0,300}>?)?)?)?)?)$/;

/** Cuts text into pieces: `{ text }` or `{ label, kind, target }`. Holds back what may become a link. */
export class LinkReader {
  constructor() {
    this._rest = "";
  }

  /** @param {string} chunk */
  *push(chunk) {
    this._rest += chunk;
    yield* this._read(false);
  }

  *end() {
    yield* this._read(true);
  }

  *_read(last) {
    while (this._rest) {
      const start = this._rest.indexOf("[");
      if (start !== 0) {
        const text = start < 0 ? this._rest : this._rest.slice(0, start);
        this._rest = start < 0 ? "" : this._rest.slice(start);
        yield { text };
        continue;
      }
      const link = LINK.exec(this._rest);
      if (link) {
        this._rest = this._rest.slice(link[0].length);
        yield { label: link[1], kind: link[2], target: link[3] };
      } else if (!last && this._rest.length < LONGEST_LINK && BEGINNING.test(this._rest)) {
        return;
      } else {
        this._rest = this._rest.slice(1);
        yield { text: "[" };
      }
    }
  }
}

export class SummaryWriter {
  /**
   * @param {HTMLElement} element
   * @param {{ onproduct: (id: string) => void, onquery: (q: string) => void,
   *   productHref: (id: string) => string, queryHref: (q: string) => string }} links
   */
  constructor(element, links) {
    this._element = element;
    this._links = links;
    this._reader = new LinkReader();
    this._paragraph = null;
  }

  push(chunk) {
    for (const piece of this._reader.push(chunk)) this._write(piece);
  }

  end() {
    for (const piece of this._reader.end()) this._write(piece);
  }

  _write(piece) {
    if (piece.text === undefined) {
      this._current().append(this._link(piece));
      return;
    }
    const [first, ...others] = piece.text.split(/\n+/);
    this._text(first);
    for (const line of others) {
      this._paragraph = null;
      this._text(line);
    }
  }

  _text(text) {
    if (!text || (!this._paragraph && !text.trim())) return;
    const current = this._current();
    // Growing the last text node keeps a selection, and a screen reader, where it is.
    if (current.lastChild?.nodeType === Node.TEXT_NODE) current.lastChild.appendData(text);
    else current.append(text);
  }

  _current() {
    this._paragraph ??= this._element.appendChild(el("p", { dir: "auto" }));
    return this._paragraph;
  }

  _link({ label, kind, target }) {
    const isProduct = kind === "p";
    const { onproduct, onquery, productHref, queryHref } = this._links;
    const go = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
      event.preventDefault();
      if (isProduct) onproduct(target);
      else onquery(target);
    };
    return el("a", {
      class: isProduct ? "product-link" : "query-link",
      href: isProduct ? productHref(target) : queryHref(target),
      "data-target": target,
      onclick: go,
      text: label,
    });
  }
}
