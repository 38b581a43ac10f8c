/** The plots of what is counted by the minute. Each takes a whole summary and draws itself. */

import { el, fill } from "./dom.js";
import { binned, busiest, everyMinute, listed, spanText, sum, tickOf, totalsOf } from "./ops_bins.js";
import { svg } from "./ops_panel.js";
import { timePlot } from "./ops_timeplot.js";
import {
  CACHE_LAYERS,
  cacheLayer,
  clock,
  count,
  milliseconds,
  outcomeLayers,
  plain,
  sourceLayers,
} from "./ops_words.js";

const SAMPLES = 60;
/** A share of a handful of requests says little. */
const SHARE_BINS = 20;
const QUIET = "No request in this time.";

export function sourcesPlot() {
  const plot = timePlot({ id: "sources", title: "Requests by source", shape: "area", format: count, least: 1 });
  return {
    root: plot.root,
    show(summary, span) {
      const bins = binned(summary, span, (minute) => minute.sources);
      const totals = totalsOf(bins);
      const layers = sourceLayers(Object.keys(totals)).map((layer) => ({ ...layer, value: count(totals[layer.name]) }));
      const number = sum(totals);
      const headline = `${count(number)} in ${spanText(span)}`;
      const words = `${headline}: ${listed(layers)}. ${busiest(bins)}`;
      plot.show({ bins, layers, headline, words, nothing: number ? undefined : QUIET });
    },
  };
}

export function outcomesPlot() {
  const plot = timePlot({ id: "outcomes", title: "Outcomes", shape: "columns", format: count, least: 1 });
  const reasons = el("ul", { class: "reasons" });
  plot.root.append(reasons);
  return {
    root: plot.root,
    show(summary, span) {
      const bins = binned(summary, span, (minute) => minute.outcomes);
      const totals = totalsOf(bins);
      const number = sum(totals);
      const layers = outcomeLayers(Object.keys(totals)).map((layer) => ({
        ...layer,
        value: count(totals[layer.name]),
      }));
      const bad = number - (totals.ok ?? 0);
      const headline = bad ? `${count(bad)} of ${count(number)} not ok` : "all ok";
      plot.show({
        bins,
        layers,
        headline,
        words: `${headline}: ${listed(layers)}.`,
        nothing: number ? undefined : QUIET,
      });
      const degraded = totalsOf(binned(summary, span, (minute) => minute.degraded));
      fill(reasons, ...reasonBars(degraded));
    },
  };
}

function reasonBars(degraded) {
  const most = Math.max(0, ...Object.values(degraded));
  return Object.entries(degraded)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, number]) =>
      el(
        "li",
        {},
        el("span", { text: `degraded: ${plain(reason)}` }),
        svg(
          "svg",
          { class: "bar", "aria-hidden": "true" },
          svg("rect", { class: "t4", width: `${(number / most) * 100}%`, height: "100%" }),
        ),
        el("b", { text: count(number) }),
      ),
    );
}

export function durationsPlot() {
  const plot = timePlot({
    id: "durations",
    title: "How long requests took",
    note: "Line: half of a minute’s requests were not slower. Column: up to what 95 % were not.",
    shape: "range",
    format: (ms) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`),
  });
  return {
    root: plot.root,
    show(summary, span) {
      const last = Math.floor(summary.time / 60) * 60;
      const known = new Map(summary.minutes.map((minute) => [minute.at, minute]));
      const bins = everyMinute(last, span).map((at) => {
        const minute = known.get(at);
        const seen = minute?.p50 != null;
        const details = seen
          ? `half within ${milliseconds(minute.p50)}, 95 % within ${milliseconds(minute.p95)}`
          : "nothing";
        return {
          at,
          label: clock(at),
          tick: tickOf(at, span),
          values: seen ? { low: minute.p50, high: minute.p95 } : {},
          details,
        };
      });
      const seen = bins.filter(({ values }) => values.high);
      const slowest = seen.reduce((a, b) => (b.values.high > (a?.values.high ?? 0) ? b : a), null);
      const headline = slowest
        ? `slowest minute ${slowest.label}: 95 % within ${milliseconds(slowest.values.high)}`
        : "";
      const latest = seen.at(-1);
      const words = latest ? `Last at ${latest.label}: ${latest.details}. ${headline}.` : "";
      plot.show({ bins, layers: [], headline, words, nothing: seen.length ? undefined : QUIET });
    },
  };
}

export function cachePlot() {
  const plot = timePlot({ id: "cache", title: "Cache", shape: "columns", share: true, format: count });
  return {
    root: plot.root,
    show(summary, span) {
      const raw = binned(summary, span, (minute) => minute.cache, SHARE_BINS);
      const bins = raw.map((bin) => {
        const values = {};
        for (const [word, number] of Object.entries(bin.values))
          values[cacheLayer(word)] = (values[cacheLayer(word)] ?? 0) + number;
        const details = Object.entries(bin.values).map(([word, number]) => `${plain(word)} ${count(number)}`);
        return { ...bin, values, details: details.join(", ") || "nothing" };
      });
      const totals = totalsOf(bins);
      const number = sum(totals);
      const share = (part) => `${Math.round((100 * part) / number)} %`;
      const layers = CACHE_LAYERS.filter(({ name }) => totals[name]).map((each) => ({
        ...each,
        value: share(totals[each.name]),
      }));
      const headline = `${share((totals.edge ?? 0) + (totals.hit ?? 0))} of ${count(number)} from the cache`;
      const words = `${headline}: ${listed(layers)}.`;
      plot.show({
        bins,
        layers,
        headline,
        words,
        nothing: number ? undefined : "No request asked the cache in this time.",
      });
    },
  };
}

export function nowPlot() {
  const plot = timePlot({
    id: "now",
    title: "Now",
    note: "Since this page is open.",
    shape: "steps",
    format: count,
    least: 1,
  });
  const samples = [];
  return {
    root: plot.root,
    show(summary) {
      samples.push({ at: summary.time, open: summary.openStreams, runs: summary.runs });
      if (samples.length > SAMPLES) samples.shift();
      let minute = "";
      const bins = samples.map(({ at, open, runs }) => {
        const tick = clock(at) === minute ? undefined : (minute = clock(at));
        return { at, label: clock(at, true), tick, values: { open, runs }, details: nowText(open, runs) };
      });
      const layers = [
        { name: "open", label: "open streams", tone: "t3" },
        { name: "runs", label: "answers being made", tone: "t1" },
      ];
      const headline = nowText(summary.openStreams, summary.runs);
      plot.show({ bins, layers, headline, words: `${headline}.` });
    },
  };
}

const nowText = (open, runs) =>
  `${count(open)} open ${open === 1 ? "stream" : "streams"}, ${count(runs)} being answered`;
