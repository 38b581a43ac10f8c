/**
 * Plots over time: stacked areas, stacked columns, shares, steps, and ranges, with a cursor for mouse and keys.
 *
 * A plot is given bins from left to right and draws at the width that it has, again when that changes.
 */

import { announce, fill } from "./dom.js";
import { panel, showLegend, showNothing, svg, ticks } from "./ops_panel.js";

const HEIGHT = 148;
const LEFT = 40;
const RIGHT = 6;
const TOP = 8;
const BOTTOM = 20;
const LOWEST_MS = 4;

/**
 * @typedef {{ at: number, label: string, tick?: string, values: Record<string, number>, details?: string }} Bin
 * @typedef {{ bins: Bin[], layers: { name: string, label: string, tone: string, value?: string }[], headline: string,
 *   words: string, nothing?: string }} Data
 *
 * @param {{ id: string, title: string, note?: string, shape: "area" | "columns" | "steps" | "range", share?: boolean,
 *   format: (value: number) => string, least?: number, height?: number }} options
 */
export function timePlot({ id, title, note, shape, share = false, format, least = 0, height = HEIGHT }) {
  const parts = panel({ id, title, note });
  const { body } = parts;
  let data = /** @type {Data | null} */ (null);
  let chosen = /** @type {number | null} */ (null);
  let width = 0;

  body.setAttribute("role", "group");
  body.setAttribute("aria-label", `${title}: the arrow keys go through the values`);
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now === width) return;
    width = now;
    draw();
  }).observe(body);
  body.addEventListener("pointermove", (event) => choose(placeOf(event)));
  body.addEventListener("pointerdown", (event) => choose(placeOf(event)));
  body.addEventListener("pointerleave", () => choose(null));
  body.addEventListener("blur", () => choose(null));
  body.addEventListener("keydown", onKey);

  function placeOf(event) {
    if (!data?.bins.length || data.nothing) return null;
    const x = event.clientX - body.getBoundingClientRect().left - LEFT;
    const place = Math.floor((x / (width - LEFT - RIGHT)) * data.bins.length);
    return Math.min(data.bins.length - 1, Math.max(0, place));
  }

  function onKey(event) {
    if (!data?.bins.length || data.nothing) return;
    const last = data.bins.length - 1;
    const known = data.bins.findIndex(({ at }) => at === chosen);
    const here = known < 0 ? last + 1 : known;
    const next = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: last, Escape: null }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(next === null ? null : Math.min(last, Math.max(0, next)));
    if (chosen !== null) announce(parts.readout.textContent);
  }

  function choose(place) {
    const at = place === null ? null : data.bins[place].at;
    if (at === chosen) return;
    chosen = at;
    draw();
  }

  /** @param {Data} next */
  function show(next) {
    data = next;
    parts.words.textContent = next.nothing ?? next.words;
    draw();
  }

  function draw() {
    if (!data || width < 80) return;
    const { bins, layers } = data;
    const bin = bins.find(({ at }) => at === chosen);
    parts.readout.textContent = data.nothing ? "" : bin ? readout(bin, layers) : data.headline;
    showLegend(parts.legend, data.nothing ? [] : layers);
    if (data.nothing) {
      body.removeAttribute("tabindex");
      showNothing(body, data.nothing);
      return;
    }
    body.tabIndex = 0;
    const scale = scales(bins, layers);
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    picture.append(...axes(bins, scale), ...SHAPES[shape](bins, layers, scale));
    if (bin) {
      const x = scale.x(bins.indexOf(bin) + 0.5);
      picture.append(svg("line", { class: "cursor", x1: x, x2: x, y1: TOP, y2: height - BOTTOM }));
    }
    fill(body, picture);
  }

  function readout(bin, layers) {
    const said = layers
      .filter(({ name }) => bin.values[name])
      .map(({ name, label }) => `${label} ${format(bin.values[name])}`);
    return `${bin.label} — ${bin.details ?? (said.join(", ") || "nothing")}`;
  }

  function scales(bins, layers) {
    const x = (place) => LEFT + (place / bins.length) * (width - LEFT - RIGHT);
    const low = height - BOTTOM;
    const total = ({ values }) => layers.reduce((sum, { name }) => sum + (values[name] ?? 0), 0);
    if (shape === "range") {
      const most = Math.max(160, ...bins.map(({ values }) => values.high ?? 0));
      const marks = [10, 100, 1000, 10_000].filter((mark) => mark <= most);
      const y = (ms) =>
        low - (Math.log(Math.max(ms, LOWEST_MS) / LOWEST_MS) / Math.log(most / LOWEST_MS)) * (low - TOP);
      return { x, y, marks, low };
    }
    if (share) return { x, y: (part) => low - part * (low - TOP), marks: [0, 0.5, 1], low, total };
    const single = (bin) => Math.max(0, ...layers.map(({ name }) => bin.values[name] ?? 0));
    const marks = ticks(Math.max(...bins.map(shape === "steps" ? single : total), least), height < 120 ? 2 : 3, least);
    return { x, y: (value) => low - (value / marks.at(-1)) * (low - TOP), marks, low };
  }

  function axes(bins, { x, y, marks, low }) {
    const drawn = marks.flatMap((mark) => [
      svg("line", { class: "grid-line", x1: LEFT, x2: width - RIGHT, y1: y(mark), y2: y(mark) }),
      svg(
        "text",
        { class: "tick", x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end" },
        share ? `${mark * 100} %` : format(mark),
      ),
    ]);
    let free = LEFT;
    bins.forEach(({ tick }, place) => {
      const at = x(place);
      const half = (tick?.length ?? 0) * 3.4;
      if (!tick || at - half < free || at + half > width) return;
      free = at + half + 10;
      drawn.push(svg("line", { class: "grid-line", x1: at, x2: at, y1: low, y2: low + 4 }));
      drawn.push(svg("text", { class: "tick", x: at, y: height - 5, "text-anchor": "middle" }, tick));
    });
    return drawn;
  }

  return { root: parts.root, show };
}

const SHAPES = {
  area(bins, layers, { x, y, low }) {
    const below = bins.map(() => 0);
    return layers.map(({ name, tone }) => {
      const bottom = bins.map((_, place) => `${at(x(place + 0.5))},${at(y(below[place]))}`).reverse();
      bins.forEach(({ values }, place) => (below[place] += values[name] ?? 0));
      const top = bins.map((_, place) => `${at(x(place + 0.5))},${at(y(below[place]))}`);
      // A lone bin is a line without width: its ends are drawn as far as the bin goes.
      const ends = bins.length === 1 ? [`${at(x(1))},${at(y(below[0]))}`, `${at(x(1))},${at(low)}`] : [];
      return svg("polygon", { class: `layer ${tone}`, points: [...top, ...ends, ...bottom].join(" ") });
    });
  },
  columns(bins, layers, { x, y, total }) {
    return bins.flatMap((bin, place) => {
      const whole = total ? total(bin) || 1 : 1;
      const gap = Math.min(2, (x(1) - x(0)) * 0.2);
      let sum = 0;
      return layers
        .map(({ name, tone }) => {
          const value = (bin.values[name] ?? 0) / whole;
          if (!value) return null;
          sum += value;
          const top = y(sum);
          const size = {
            x: x(place) + gap / 2,
            width: x(1) - x(0) - gap,
            y: top,
            height: Math.max(0.5, y(sum - value) - top),
          };
          return svg("rect", { class: `layer ${tone}`, ...size });
        })
        .filter(Boolean);
    });
  },
  steps(bins, layers, { x, y }) {
    return layers.map(({ name, tone }) => {
      const path = bins.flatMap(({ values }, place) => {
        const level = at(y(values[name] ?? 0));
        return [`${at(x(place))},${level}`, `${at(x(place + 1))},${level}`];
      });
      return svg("polyline", { class: `step ${tone}`, points: path.join(" ") });
    });
  },
  range(bins, _, { x, y }) {
    return bins.flatMap(({ values: { low: middle, high } }, place) => {
      if (!high) return [];
      const gap = Math.min(2, (x(1) - x(0)) * 0.2);
      const column = { x: x(place) + gap / 2, width: x(1) - x(0) - gap };
      return [
        svg("rect", { class: "layer t3", ...column, y: y(high), height: Math.max(1, y(middle) - y(high)) }),
        svg("rect", { class: "layer t1", ...column, y: y(middle) - 1.5, height: 3 }),
      ];
    });
  },
};

const at = (number) => Math.round(number * 10) / 10;
