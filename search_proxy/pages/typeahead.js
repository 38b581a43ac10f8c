/** Completions under the search box: a combobox that never stands in the way of typing, and is silent when it fails. */

import { announce, el, fill } from "./dom.js";

const PAUSE_MS = 90;
const SHOWN = 7;
/** Whoever has written this much is telling, and not looking for a word. */
const LONGEST = 80;

/**
 * @param {HTMLInputElement} box
 * @param {{ aisle: import("./aisle.js").Aisle, index: string, onchoose: (q: string) => void }} options
 * @returns {{ close: () => void }}
 */
export function typeahead(box, { aisle, index, onchoose }) {
  const list = el("ul", { id: "completions", class: "completions", role: "listbox", "aria-label": "Completions", hidden: true });
  box.form.append(list);
  for (const [name, value] of [
    ["role", "combobox"],
    ["aria-autocomplete", "list"],
    ["aria-controls", list.id],
    ["aria-expanded", "false"],
  ]) box.setAttribute(name, value);
  let timer = 0;
  let asking = new AbortController();
  let active = -1;
  let typed = "";
  let isThere = true;

  const close = () => {
    clearTimeout(timer);
    asking.abort();
    list.hidden = true;
    active = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  };
  const mark = (next) => {
    const options = [...list.children];
    active = (next + options.length + 1) % (options.length + 1);
    for (const [place, option] of options.entries()) option.setAttribute("aria-selected", String(place === active));
    const marked = options[active];
    box.value = marked ? marked.dataset.q : typed;
    if (marked) box.setAttribute("aria-activedescendant", marked.id);
    else box.removeAttribute("aria-activedescendant");
  };
  const show = (texts) => {
    const options = texts.map((text, place) => {
      // The press would take the focus from the box, and closing on blur would swallow the click.
      const keep = (event) => event.preventDefault();
      const choose = () => (close(), onchoose(text));
      return el(
        "li",
        { id: `completion-${place}`, role: "option", "aria-selected": "false", "data-q": text, onpointerdown: keep, onclick: choose },
        ...marked(text, typed),
      );
    });
    fill(list, ...options);
    active = -1;
    list.hidden = !options.length;
    box.setAttribute("aria-expanded", String(options.length > 0));
    if (options.length) announce(`${options.length} completions.`);
  };
  const ask = async () => {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const found = await aisle.typeahead({ index, q: typed.trim(), limit: SHOWN, signal });
    if (signal.aborted || document.activeElement !== box) return;
    // A shop without completions, or one that is busy, has a plain search box.
    if (!found.ok) isThere = found.error.status !== 404;
    const texts = found.ok ? (found.value?.suggestions ?? []).map((entry) => entry?.suggestion ?? entry) : [];
    show(texts.filter((text) => typeof text === "string" && text !== typed.trim()).slice(0, SHOWN));
  };

  box.addEventListener("input", () => {
    typed = box.value;
    clearTimeout(timer);
    const { length } = typed.trim();
    if (length < 2 || length > LONGEST) close();
    else if (isThere) timer = setTimeout(ask, PAUSE_MS);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      box.value = typed;
      close();
    }
    if (list.hidden || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    mark(event.key === "ArrowDown" ? active + 1 : active < 0 ? list.childElementCount - 1 : active - 1);
  });
  box.addEventListener("blur", close);
  return { close };
}

/** What was typed stands in the plain weight; what would be added is set off. */
function marked(text, typed) {
  const start = typed.trimStart();
  if (!text.toLowerCase().startsWith(start.toLowerCase())) return [el("b", { text })];
  return [text.slice(0, start.length), el("b", { text: text.slice(start.length) })];
}
