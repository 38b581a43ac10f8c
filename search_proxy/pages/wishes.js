/** What a sentence demanded of fields, as chips that can be taken off: "red mug under 20" is a colour and a price. */

import { priceText } from "./card.js";
import { el, fieldName } from "./dom.js";

/**
 * Cuts a filter at its outer ANDs.
 * @param {string} filter
 * @returns {string[]}
 */
export function partsOf(filter) {
  const parts = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < filter.length; at += 1) {
    const character = filter[at];
    if (character === "\\") at += 1;
    else if ("([".includes(character)) depth += 1;
    else if (")]".includes(character)) depth -= 1;
    else if (!depth && filter.startsWith(" AND ", at)) {
      parts.push(filter.slice(start, at));
      start = at + 5;
      at += 4;
    }
  }
  parts.push(filter.slice(start));
  const bare = parts.map((part) => unwrapped(part.trim())).filter(Boolean);
  return bare.length > 1 ? bare.flatMap(partsOf) : bare;
}

/** Writes one part in words, a value by itself; what has no simple form stays as it is written. */
export function inWords(part, currency) {
  const not = /^NOT (.+)$/s.exec(part);
  if (not) return `not ${inWords(unwrapped(not[1]), currency)}`;
  const range = /^(\w+):\[(\S+) TO (\S+)\]$/.exec(part);
  if (range) return rangeInWords(range[1], range[2], range[3], currency);
  const value = /^(\w+)(?::| CONTAINS )\(((?:[^()\\]|\\.)*)\)$/s.exec(part) ?? /^(\w+):([^\s()[\]]+)$/.exec(part);
  if (value?.[2] === "true") return fieldName(value[1]);
  if (value) return value[2].replace(/\\(.)/gs, "$1");
  return part;
}

/**
 * @param {{ applied: string | null | undefined, own: string | undefined, dropped: string | null | undefined,
 *   currency: string | undefined, onwithout: (rest: string) => void }} options
 * @returns {HTMLElement | null}
 */
export function wishes({ applied, own, dropped, currency, onwithout }) {
  const ours = new Set(own ? partsOf(own) : []);
  const parts = (applied ? partsOf(applied) : []).filter((part) => !ours.has(part));
  const chips = parts.map((part) => {
    const text = inWords(part, currency);
    const rest = parts.filter((other) => other !== part).map((other) => `(${other})`).join(" AND ");
    const label = `Search without ${text}`;
    const without = () => onwithout(rest);
    return el("li", {}, el("button", { type: "button", class: "wish", "aria-label": label, onclick: without }, el("bdi", { text }), el("span", { dir: null, text: "×" })));
  });
  const given = dropped ? partsOf(dropped).map((part) => inWords(part, currency)).join(", ") : "";
  if (given) chips.push(el("li", { class: "wish-dropped", text: `Nothing fits ${given}; shown without` }));
  return chips.length ? el("ul", { class: "wishes", "aria-label": "Understood as" }, ...chips) : null;
}

function rangeInWords(field, low, high, currency) {
  const write = (text) => (field === "price" ? priceText(Number(text), currency) : text);
  const name = field === "price" ? "" : `${fieldName(field)} `;
  if (low === "*") return `${name}up to ${write(high)}`;
  if (high === "*") return `${name}from ${write(low)}`;
  return `${name}${write(low)} to ${write(high)}`;
}

function unwrapped(part) {
  let bare = part;
  while (bare.startsWith("(") && closes(bare) === bare.length - 1) bare = bare.slice(1, -1).trim();
  return bare;
}

function closes(text) {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "(") depth += 1;
    else if (text[at] === ")" && --depth === 0) return at;
  }
  return -1;
}
