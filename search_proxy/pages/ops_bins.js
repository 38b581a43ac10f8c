/** Puts the minutes of a summary into the bins of a plot, and adds them up. */

import { clock, count } from "./ops_words.js";

const MOST_BINS = 60;

/** Returns the counts of the last `span` minutes, several minutes a bin where there are many. */
export function binned(summary, span, countsOf, most = MOST_BINS) {
  const last = Math.floor(summary.time / 60) * 60;
  const known = new Map(summary.minutes.map((minute) => [minute.at, minute]));
  const size = Math.ceil(span / most);
  const minutes = everyMinute(last, span);
  const bins = [];
  for (let place = 0; place < minutes.length; place += size) {
    const ours = minutes.slice(place, place + size);
    const values = {};
    for (const at of ours) {
      if (known.has(at)) add(values, countsOf(known.get(at)));
    }
    const label = size === 1 ? clock(ours[0]) : `${clock(ours[0])} to ${clock(ours.at(-1))}`;
    bins.push({ at: ours[0], label, tick: ours.map((at) => tickOf(at, span)).find(Boolean), values });
  }
  return bins;
}

export function everyMinute(last, span) {
  return Array.from({ length: span }, (_, place) => last - (span - 1 - place) * 60);
}

export function tickOf(at, span) {
  return (at / 60) % (span > 60 ? 30 : span > 30 ? 15 : 10) === 0 ? clock(at) : undefined;
}

export function totalsOf(bins) {
  const totals = {};
  for (const { values } of bins) add(totals, values);
  return totals;
}

export function busiest(bins, format = count) {
  const most = bins.reduce((a, b) => (sum(b.values) > sum(a.values) ? b : a), bins[0]);
  return `Most at ${most.label}: ${format(sum(most.values))}.`;
}

export const sum = (values) => Object.values(values).reduce((total, number) => total + number, 0);
export const listed = (layers) => layers.map(({ label, value }) => `${label} ${value}`).join(", ");
export const spanText = (span) => (span === 60 ? "an hour" : span > 60 ? `${span / 60} hours` : `${span} minutes`);

function add(totals, counts) {
  for (const [name, number] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + number;
}
