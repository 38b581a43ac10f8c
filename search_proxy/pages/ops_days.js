/** Two plots over the same days: tokens by kind, and what they cost by the table of prices. */

import { el } from "./dom.js";
import { busiest, listed, sum, totalsOf } from "./ops_bins.js";
import { timePlot } from "./ops_timeplot.js";
import { TOKEN_LAYERS, compact, money } from "./ops_words.js";

const FEWEST_DAYS = 14;
const MOST_DAYS = 45;
const HEIGHT = 104;

export function daysPlots() {
  const tokens = timePlot({
    id: "tokens",
    title: "Tokens a day",
    shape: "columns",
    format: compact,
    least: 10,
    height: HEIGHT,
  });
  const spent = timePlot({ id: "money", title: "Money a day", shape: "columns", format: shortNumber, height: HEIGHT });
  const table = el("p", { class: "panel-note muted" });
  spent.root.append(table);
  return {
    roots: [tokens.root, spent.root],
    show({ days, time, prices }) {
      const bins = dayBins(days, time);
      tokens.show(tokensOf(bins));
      const costs = costsOf(bins, prices);
      spent.show(costs);
      const known = `Prices of ${prices.date} in ${prices.currency}. ${prices.note} Days are those of UTC.`;
      table.textContent = costs.nothing ? known : [costs.missing, known].filter(Boolean).join(" ");
    },
  };
}

function tokensOf(days) {
  const bins = days.map((day) => ({ ...day, values: kindsOf(day.rows) }));
  const totals = totalsOf(bins);
  const all = sum(totals);
  const layers = TOKEN_LAYERS.filter(({ name }) => totals[name]).map((each) => ({
    ...each,
    value: compact(totals[each.name]),
  }));
  const headline = `${compact(all)} in ${days.length} days`;
  const words = `${headline}: ${listed(layers)}. ${busiest(bins, compact)}`;
  return { bins, layers, headline, words, nothing: all ? undefined : "No model was asked: no tokens." };
}

function costsOf(days, { currency }) {
  const bins = days.map((day) => ({ ...day, ...costOf(day.rows, currency) }));
  const totals = totalsOf(bins);
  const models = [...new Set(days.flatMap(({ rows }) => rows.map(({ model }) => model)))];
  const unknown = models.filter((model) => !(model in totals));
  const layers = Object.keys(totals).map((name, place) => {
    return { name, label: name, tone: `t${Math.min(6, place + 1)}`, value: money(totals[name], currency) };
  });
  const missing = unknown.length ? `No price known for ${unknown.join(", ")}.` : "";
  const headline = `${money(sum(totals), currency)} in ${days.length} days`;
  const nothing = layers.length ? undefined : missing || "No model was asked: no money.";
  return { bins, layers, headline, words: `${headline}: ${listed(layers)}. ${missing}`, nothing, missing };
}

function costOf(rows, currency) {
  const values = {};
  const said = rows.map((row) => {
    if (row.money === null) return `${row.model}: no price known`;
    values[row.model] = (values[row.model] ?? 0) + row.money;
    return `${row.model} ${money(row.money, currency)}`;
  });
  return { values, details: said.join(", ") || "nothing" };
}

/** Cached input is a part of the input, and thoughts are none of the output. */
function kindsOf(rows) {
  const values = { input: 0, cached: 0, output: 0, thoughts: 0 };
  for (const { tokens } of rows) {
    const cached = Math.min(tokens.cached, tokens.input);
    values.input += tokens.input - cached;
    values.cached += cached;
    values.output += tokens.output;
    values.thoughts += tokens.thoughts;
  }
  return values;
}

function dayBins(days, time) {
  const today = Math.floor(time / 86_400);
  const first = days.length ? Math.floor(Date.parse(days.at(-1).day) / 86_400_000) : today;
  const number = Math.min(MOST_DAYS, Math.max(FEWEST_DAYS, today - first + 1));
  return Array.from({ length: number }, (_, place) => {
    const date = new Date((today - number + 1 + place) * 86_400_000);
    const day = date.toISOString().slice(0, 10);
    const label = date.toLocaleDateString("en", { day: "numeric", month: "short", timeZone: "UTC" });
    return {
      at: today - number + 1 + place,
      label,
      tick: label,
      rows: days.filter((row) => row.day === day),
      values: {},
    };
  });
}

const shortNumber = (number) =>
  number >= 1 ? number.toFixed(number < 10 ? 1 : 0) : number ? number.toPrecision(1) : "0";
