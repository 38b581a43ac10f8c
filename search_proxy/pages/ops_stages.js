/** Stages of requests as bars on one time axis: of all requests, and of a single one. */

import { el, fill } from "./dom.js";
import { panel, showNothing, svg, ticks } from "./ops_panel.js";
import {
  clock,
  count,
  inOrder,
  milliseconds,
  outcomeName,
  plain,
  sourceName,
  stageKind,
  stageName,
} from "./ops_words.js";

const TONES = { model: "t1", search: "t2", store: "t3", moment: "t5", whole: "t4" };
export const KINDS = [
  { label: "model", tone: "t1" },
  { label: "search and rules", tone: "t2" },
  { label: "cache and storage", tone: "t3" },
];

export function stagesPlot() {
  const { root, body, readout, words } = panel({
    id: "stages",
    title: "Stages",
    note: "Strong: half of the requests took no longer. Faint: 95 % took no longer. The last 15 minutes.",
  });
  return { root, show };

  function show({ stages }) {
    const names = inOrder(Object.keys(stages));
    if (!names.length) {
      readout.textContent = words.textContent = "";
      showNothing(body, "No request in the last 15 minutes.");
      return;
    }
    const marks = ticks(Math.max(...names.map((name) => stages[name].p95)), 4);
    const whole = stages.E2E;
    readout.textContent = whole ? `${count(whole.count)} requests` : "";
    const said = names.map((name) => `${stageName(name)}: ${pair(stages[name])}`);
    words.textContent = `Half within and 95 % within. ${said.join("; ")}.`;
    const rows = names.map((name) => stageRow(name, stages[name], marks.at(-1)));
    fill(body, axis(marks), el("ul", { class: "stage-rows", "aria-hidden": "true" }, ...rows));
  }
}

function stageRow(name, { p50, p95, count: number }, most) {
  const tone = TONES[stageKind(name)];
  return el(
    "li",
    { title: `${name}: in ${count(number)} requests` },
    el("span", { class: "bar-name", text: stageName(name) }),
    bars([
      { start: 0, took: p95 / most, className: `${tone} faint` },
      { start: 0, took: p50 / most, className: tone },
    ]),
    el("span", { class: "bar-ms", text: pair({ p50, p95 }) }),
  );
}

const pair = ({ p50, p95 }) => `${milliseconds(p50)} · ${milliseconds(p95)}`;

/** Draws stretches of a bar that is 1 wide; one that is hardly there is still seen. */
function bars(stretches) {
  const rects = stretches.map(({ start, took, className }) => {
    const x = Math.min(0.995, Math.max(0, start));
    const wide = Math.max(0.005, Math.min(1 - x, took));
    return svg("rect", { class: className, x: percent(x), width: percent(wide), height: "100%" });
  });
  return svg("svg", { class: "bar", "aria-hidden": "true" }, ...rects);
}

function axis(marks) {
  const most = marks.at(-1);
  const texts = marks.map((mark, place) => {
    const anchor = place === 0 ? "start" : place === marks.length - 1 ? "end" : "middle";
    return svg(
      "text",
      { class: "tick", x: percent(mark / most), y: "11", "text-anchor": anchor },
      mark === 0 ? "0" : milliseconds(mark),
    );
  });
  return el("div", { class: "stage-axis", "aria-hidden": "true" }, svg("svg", { class: "stage-ticks" }, ...texts));
}

/** Draws one request's stages in one bar, on an axis of `most` ms; moments are no stages. */
export function waterfall({ timings, starts, ms, source }, most) {
  const stretches = inOrder(Object.keys(starts))
    .filter((name) => name !== "E2E" && typeof timings[name] === "number")
    .map((name) => ({ start: starts[name] / most, took: timings[name] / most, className: TONES[stageKind(name)] }));
  const whole = stretches.length ? "t5 faint" : TONES[source === "search" ? "search" : "moment"];
  return bars([{ start: 0, took: ms / most, className: whole }, ...stretches]);
}

/** Opens a request: what is known of it, and each stage as a bar of its own. */
export function requestDialog(request) {
  const close = el("button", { type: "button", class: "close", "aria-label": "Close", text: "×" });
  const dialog = el(
    "dialog",
    { class: "drawer", "aria-labelledby": "request-title" },
    el(
      "div",
      { class: "drawer-head" },
      el("h2", { id: "request-title", class: "request-title", text: requestTitle(request) }),
      close,
    ),
    facts(request),
    el("h3", { text: "Stages" }),
    stageList(request),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** The words, where the account logs them; else what stands for them; else what was asked of the server. */
export function requestTitle({ query, queryHash, event }) {
  return query ?? (queryHash ? `#${queryHash.slice(0, 8)}` : plain(event ?? "request").replace(/ completed$/, ""));
}

function facts({ query, queryHash, at, ms, source, outcome, error, degraded, index, runId }) {
  const rows = [
    ["Query", query ? undefined : queryHash && `not logged; its hash is ${queryHash}`],
    ["Ended", clock(at, true)],
    ["Took", milliseconds(ms)],
    ["Source", sourceName(source)],
    ["Outcome", outcomeName(outcome)],
    ["Because", error ?? degraded],
    ["Index", index],
    ["Run", runId],
  ].filter(([, value]) => value);
  return el(
    "dl",
    { class: "facts" },
    ...rows.map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", { text: String(value) }))),
  );
}

function stageList({ timings, starts, ms }) {
  const rank = (name) => ({ whole: -1, moment: Infinity })[stageKind(name)] ?? starts[name] ?? 0;
  const rows = inOrder(Object.keys(timings))
    .sort((a, b) => rank(a) - rank(b) || 0)
    .map((name) => {
      const stretch = { start: (starts[name] ?? 0) / ms, took: timings[name] / ms, className: TONES[stageKind(name)] };
      return el(
        "li",
        {},
        el("span", { class: "bar-name", text: stageName(name) }),
        bars([stretch]),
        el("span", { class: "bar-ms", text: milliseconds(timings[name]) }),
      );
    });
  return el("ul", { class: "stage-rows" }, ...rows);
}

const percent = (share) => `${(share * 100).toFixed(2)}%`;
