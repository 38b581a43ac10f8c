/** A panel: a title, one line of values, a plot, a legend, and the same in words for whoever does not see it. */

import { el, fill } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
let panels = 0;

/** Builds an SVG element; numbers are rounded to a tenth of a pixel. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, typeof value === "number" ? String(Math.round(value * 10) / 10) : value);
  }
  element.append(...children.filter(Boolean));
  return element;
}

/**
 * @param {{ id: string, title: string, note?: string }} options `note` says what is counted, and over which time
 */
export function panel({ id, title, note = "" }) {
  const number = ++panels;
  const parts = {
    readout: el("p", { class: "panel-readout" }),
    body: el("div", { class: "panel-body" }),
    legend: el("ul", { class: "panel-legend", "aria-hidden": "true" }),
    note: el("p", { class: "panel-note muted", text: note }),
    words: el("p", { class: "visually-hidden", id: `words-${number}` }),
  };
  const heading = el("h2", { id: `title-${number}`, text: title });
  const root = el(
    "section",
    { class: "panel", id, "aria-labelledby": `title-${number}`, "aria-describedby": `words-${number}` },
    el("div", { class: "panel-head" }, heading, parts.readout),
    parts.body,
    parts.legend,
    parts.note,
    parts.words,
  );
  return { root, ...parts };
}

/** Fills a legend with `{ label, tone, value }`, in the order in which they stand in the plot. */
export function showLegend(legend, entries) {
  const items = entries.map(({ label, tone, value }) =>
    el("li", {}, el("i", { class: `swatch ${tone}` }), el("span", { text: label }), value && el("b", { text: value })),
  );
  fill(legend, ...items);
}

/** Says in the place of a plot why there is none. */
export function showNothing(body, text) {
  const known = body.querySelector(".panel-nothing");
  if (known?.textContent === text) return;
  fill(body, el("p", { class: "panel-nothing muted", text }));
}

/** Returns round numbers from 0 to at least `most`, about `wanted` of them and `least` apart. */
export function ticks(most, wanted = 3, least = 0) {
  const raw = Math.max(most, 1e-9) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(
    least,
    [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw),
  );
  const last = Math.ceil(most / step - 1e-9);
  return Array.from({ length: Math.max(1, last) + 1 }, (_, place) => place * step);
}
