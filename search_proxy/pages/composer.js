/** Where a shopper writes to the chat: text, pictures by file, camera, drop or paste, and the button that stops. */

import { announce, el, fill } from "./dom.js";
import { MAX_PICTURES, picturesIn, readPicture, thumbnail } from "./pictures.js";

export class Composer {
  /**
   * @param {{ onsend: (text: string, pictures: import("./pictures.js").Picture[]) => void, onstop: () => void }} options
   */
  constructor({ onsend, onstop }) {
    this._onsend = onsend;
    this._pictures = [];
    this._running = false;
    this.text = el("textarea", {
      rows: 1, maxlength: 1000, "aria-label": "Your message", enterkeyhint: "send", placeholder: "Say more", dir: "auto",
      onkeydown: (event) => this._key(event),
      onpaste: (event) => this.take(picturesIn(event.clipboardData)),
    });
    this._thumbs = el("ul", { class: "thumbs", "aria-label": "Pictures to send", hidden: true });
    this._note = el("p", { class: "composer-note", role: "alert", hidden: true });
    this._send = el("button", { type: "submit", class: "send", text: "Send" });
    this._stop = el("button", { type: "button", class: "send stop", text: "Stop", hidden: true, onclick: onstop });
    this.about = el("div", { class: "about", hidden: true });
    this.element = el(
      "form",
      { class: "composer", "aria-label": "Write to the shop", onsubmit: (event) => (event.preventDefault(), this.send()) },
      this.about,
      this._thumbs,
      this._note,
      el(
        "div",
        { class: "composer-row" },
        this._file("Picture", { multiple: true }),
        // On a desk, the same dialog would open twice; a phone opens its camera.
        matchMedia("(pointer: coarse)").matches && this._file("Camera", { capture: "environment" }),
        this.text,
        this._send,
        this._stop,
      ),
    );
  }

  /** @param {File[]} files */
  async take(files) {
    this._say("");
    const read = await Promise.all(files.slice(0, MAX_PICTURES).map(readPicture));
    const pictures = read.filter(Boolean);
    if (pictures.length < read.length) this._say("That file is no picture that this browser can read.");
    const room = MAX_PICTURES - this._pictures.length;
    if (pictures.length > room || files.length > MAX_PICTURES) this._say(`${MAX_PICTURES} pictures at most.`);
    this._pictures.push(...pictures.slice(0, room));
    this._showPictures();
    if (pictures.length) announce(`${this._pictures.length} pictures attached.`);
    if (files.length) this.text.focus();
  }

  send() {
    const text = this.text.value.trim();
    if (this._running || (!text && !this._pictures.length)) return;
    const pictures = this._pictures;
    this.text.value = "";
    this._pictures = [];
    this._showPictures();
    this._say("");
    this._onsend(text || "Do you have something like this?", pictures);
  }

  /** Offers to stop while an answer comes, and to send otherwise. */
  set running(isRunning) {
    const hadFocus = [this._send, this._stop].includes(document.activeElement);
    this._running = isRunning;
    this._send.hidden = isRunning;
    this._stop.hidden = !isRunning;
    if (hadFocus) (isRunning ? this._stop : this.text).focus();
  }

  _key(event) {
    // Enter also ends a word in an input method; that one is not ours.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send();
  }

  _file(label, attributes) {
    const input = el("input", {
      type: "file", accept: "image/*", class: "visually-hidden", ...attributes,
      onchange: () => this.take([...input.files]).finally(() => (input.value = "")),
    });
    return el("label", { class: "attach" }, input, el("span", { text: label }));
  }

  _showPictures() {
    const items = this._pictures.map((picture, place) => {
      const remove = () => {
        this._pictures.splice(place, 1);
        this._showPictures();
        this.text.focus();
      };
      const label = `Remove picture ${place + 1}`;
      return el("li", {}, thumbnail(picture.kept), el("button", { type: "button", "aria-label": label, text: "×", onclick: remove }));
    });
    fill(this._thumbs, ...items);
    this._thumbs.hidden = !items.length;
  }

  _say(text) {
    this._note.textContent = text;
    this._note.hidden = !text;
  }
}
