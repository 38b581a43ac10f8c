/** Single requests: the last ones as they end, and the slowest ones; each opens with all of its stages. */

import { el, fill } from "./dom.js";
import { panel, showLegend, showNothing } from "./ops_panel.js";
import { KINDS, requestDialog, requestTitle, waterfall } from "./ops_stages.js";
import { clock, count, milliseconds, outcomeName, sourceName } from "./ops_words.js";

const MOST_LAST = 10;
const MOST_SLOWEST = 10;
const MOST_CHARACTERS = 300;

/** The last requests; `add` takes log lines, many a second, and shows the newest of them once a frame. */
export function lastRequests() {
  const { root, body, legend, readout, words } = panel({
    id: "last",
    title: "Last requests",
    note: "One time axis; a request opens its stages.",
  });
  let requests = [];
  let skipped = 0;
  let seen = 0;
  let waiting = 0;
  showNothing(body, "Requests appear here as they end.");

  function draw() {
    waiting = 0;
    if (!requests.length) return;
    const most = Math.max(...requests.map(({ ms }) => ms), 1);
    rows(
      body,
      requests,
      (request) => waterfall(request, most),
      (request) => clock(request.at, true),
    );
    showLegend(legend, KINDS);
    readout.textContent = `${count(seen)} seen${skipped ? `, ${count(skipped)} left out under load` : ""}, axis ${milliseconds(most)}`;
    words.textContent = `The last ${requests.length} requests, newest first. The slowest of them took ${milliseconds(most)}.`;
  }

  const later = () => (waiting ||= requestAnimationFrame(draw));
  return {
    root,
    add(line) {
      if (line.purpose && line.purpose !== "request") return;
      seen += 1;
      requests = [fromLine(line, seen), ...requests].slice(0, MOST_LAST);
      later();
    },
    leftOut(number) {
      skipped += number;
      later();
    },
    forget() {
      requests = [];
      seen = skipped = 0;
      readout.textContent = words.textContent = "";
      showLegend(legend, []);
      showNothing(body, "Requests appear here as they end.");
    },
  };
}

export function slowestRequests() {
  const { root, body, readout, words } = panel({
    id: "slowest",
    title: "Slowest requests",
    note: "The last 15 minutes. Words are shown where the account logs its queries, else what stands for them.",
  });
  return {
    root,
    show(summary) {
      const slowest = summary.slowest.slice(0, MOST_SLOWEST);
      readout.textContent = words.textContent = "";
      if (!slowest.length) {
        showNothing(body, "No request in the last 15 minutes.");
        return;
      }
      const most = Math.max(slowest[0].ms, 1);
      readout.textContent = `axis ${milliseconds(most)}`;
      words.textContent = `The slowest took ${milliseconds(most)}, the ${slowest.length === 1 ? "only" : "last shown"} ${milliseconds(slowest.at(-1).ms)}.`;
      const named = slowest.map((each) => ({ ...each, key: `${each.runId ?? ""} ${each.at} ${each.ms}` }));
      rows(
        body,
        named,
        (request) => waterfall(request, most),
        (request) => clock(request.at),
      );
    },
  };
}

/** Shows requests as rows; one that stood there before keeps its element, and with it the focus. */
function rows(body, requests, picture, when) {
  const list = body.querySelector("ul.requests") ?? fill(body, el("ul", { class: "requests" })).firstChild;
  const known = new Map([...list.children].map((row) => [row.dataset.key, row]));
  const items = requests.map((request) => {
    const item = known.get(String(request.key)) ?? requestRow(request, when);
    item.querySelector(".bar").replaceWith(picture(request));
    return item;
  });
  if (items.length !== list.children.length || items.some((item, place) => item !== list.children[place])) {
    const focused = document.activeElement;
    list.replaceChildren(...items);
    if (list.contains(focused)) focused.focus({ preventScroll: true });
  }
}

function requestRow(request, when) {
  const isWell = request.outcome === "ok";
  const how = isWell ? sourceName(request.source) : outcomeName(request.outcome);
  const button = el(
    "button",
    { type: "button", onclick: () => requestDialog(request) },
    el("span", { class: "request-when", text: when(request) }),
    el("span", { class: "request-title", text: requestTitle(request).slice(0, MOST_CHARACTERS) }),
    el("span", {
      class: `request-source${isWell ? "" : " outcome"}${request.outcome === "error" ? " outcome-error" : ""}`,
      text: how,
    }),
    el("span", { class: "bar" }),
    el("span", { class: "bar-ms", text: milliseconds(request.ms) }),
  );
  return el("li", { "data-key": request.key }, button);
}

/** Makes of a log line what the summary gives for a slow request. */
function fromLine(line, key) {
  const timings = line.timings ?? {};
  return {
    key,
    ms: timings.E2E ?? 0,
    at: Date.parse(line.time) / 1000,
    query: line.query ?? null,
    queryHash: line.query_hash ?? null,
    source: line.source,
    outcome: line.outcome,
    error: line.error,
    degraded: line.degraded,
    event: line.event,
    index: line.index,
    runId: line.run_id,
    timings,
    starts: line.starts ?? {},
  };
}
