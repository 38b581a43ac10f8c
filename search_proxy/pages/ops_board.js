/** The board: every panel in its place. It is given whole summaries, and single requests as they end. */

import { cachePlot, durationsPlot, nowPlot, outcomesPlot, sourcesPlot } from "./ops_counts.js";
import { daysPlots } from "./ops_days.js";
import { lastRequests, slowestRequests } from "./ops_requests.js";
import { stagesPlot } from "./ops_stages.js";

export function makeBoard(main) {
  const days = daysPlots();
  const last = lastRequests();
  const [sources, now, stages, outcomes, durations, cache, slowest] = [
    sourcesPlot(),
    nowPlot(),
    stagesPlot(),
    outcomesPlot(),
    durationsPlot(),
    cachePlot(),
    slowestRequests(),
  ];
  const panels = [sources, now, stages, outcomes, durations, cache, slowest, days];
  main.append(
    sources.root,
    now.root,
    last.root,
    stages.root,
    outcomes.root,
    durations.root,
    cache.root,
    slowest.root,
    ...days.roots,
  );
  return {
    show: (summary, span) => panels.forEach((each) => each.show(summary, span)),
    add: last.add,
    leftOut: last.leftOut,
    forget: last.forget,
  };
}
