/**
 * The operations page: reads the numbers every few seconds and follows requests live, while somebody looks.
 *
 * The key is kept for this tab alone and sent in a header. An open demo needs none, so that it is tried without first.
 */

import { announce, sentence } from "./dom.js";
import { makeBoard } from "./ops_board.js";
import { canBeSent, followRequests, pause, readSummary } from "./ops_feed.js";
import { clock } from "./ops_words.js";

const REFRESH_MS = 5000;
const KEPT_AS = "aisle-operations-key";

const byId = (id) => document.getElementById(id);
const [ask, choices, board, notice, state] = ["ask", "choices", "board", "notice", "state"].map(byId);
const plots = makeBoard(board);
let account = "";
let running = new AbortController();
let lines = { state: "wait", message: "" };
let numbers = { at: 0, message: "" };

const savedKey = () => sessionStorage.getItem(KEPT_AS) ?? "";

/** Begins anew with the key, the account and the time that are chosen now. */
function start() {
  running.abort();
  running = new AbortController();
  lines = { state: "wait", message: "" };
  showState();
  watch({ key: savedKey(), account, minutes: byId("minutes").value, signal: running.signal });
}

async function watch(asked) {
  let isFollowing = false;
  while (!asked.signal.aborted) {
    const answer = await readSummary(asked);
    if (asked.signal.aborted) return;
    if (answer.summary) {
      numbers = { at: answer.summary.time, message: "" };
      showBoard(answer.summary, Number(asked.minutes));
      if (!isFollowing) follow(asked, answer.summary.account);
      isFollowing = true;
    } else if (answer.status === 403 && asked.account) {
      return otherAccount(answer.message);
    } else if (answer.status === 401 || answer.status === 403) {
      return askForKey(asked.key ? answer : null);
    } else numbers = { ...numbers, message: answer.message };
    showState();
    await pause(REFRESH_MS, asked.signal);
  }
}

function follow({ key, signal }, whose) {
  followRequests({
    key,
    account: whose,
    signal,
    online: plots.add,
    onskipped: plots.leftOut,
    onstate(name, message) {
      lines = { state: name, message };
      showState();
    },
  });
}

function showBoard(summary, span) {
  ask.hidden = true;
  choices.hidden = board.hidden = false;
  byId("forget").hidden = !savedKey();
  byId("whose").textContent = `of ${summary.account}`;
  plots.show(summary, span);
}

function showState() {
  const said = {
    wait: () => "Connecting",
    live: () => "Live",
    paused: () => "Paused while nobody looks",
    lost: () => sentence(lines.message),
    refused: () => `No live requests: ${lines.message}`,
    key: () => "",
  }[lines.state]();
  const when = numbers.at ? `numbers of ${clock(numbers.at, true)}` : "";
  const trouble = numbers.message && sentence(numbers.message);
  const text = [trouble || said, lines.state === "key" ? "" : when].filter(Boolean).join(" · ");
  const now = trouble ? "lost" : lines.state;
  if (state.dataset.state !== now && (now === "lost" || now === "live"))
    announce(now === "live" ? "Live." : trouble || said);
  state.dataset.state = now;
  state.textContent = text;
}

function askForKey(refused) {
  stop("key");
  sessionStorage.removeItem(KEPT_AS);
  numbers = { at: 0, message: "" };
  choices.hidden = board.hidden = true;
  ask.hidden = false;
  byId("whose").textContent = "";
  byId("ask-error").textContent = refused ? whyNot(refused) : "";
  showState();
  byId("key").focus();
}

function whyNot({ status, message }) {
  return status === 401 ? "This server knows no such key, or it has ended." : sentence(message);
}

/** An account that the key may not see: the page says so, and goes on with the key's own. */
function otherAccount(message) {
  account = byId("account").value = "";
  start();
  notice.textContent = sentence(message);
  notice.hidden = false;
}

function stop(name) {
  running.abort();
  lines = { state: name, message: "" };
}

ask.addEventListener("submit", (event) => {
  event.preventDefault();
  const field = byId("key");
  const key = field.value.trim();
  if (!key) return;
  if (!canBeSent(key)) {
    byId("ask-error").textContent = "A key has no spaces, and letters and digits of ASCII alone.";
    return;
  }
  field.value = byId("ask-error").textContent = "";
  sessionStorage.setItem(KEPT_AS, key);
  plots.forget();
  start();
});
choices.addEventListener("submit", (event) => event.preventDefault());
choices.addEventListener("change", () => {
  const wanted = byId("account").value.trim();
  if (wanted !== account) plots.forget();
  account = wanted;
  notice.hidden = true;
  start();
});
byId("forget").addEventListener("click", () => {
  sessionStorage.removeItem(KEPT_AS);
  account = byId("account").value = "";
  notice.hidden = true;
  plots.forget();
  start();
});
document.addEventListener("visibilitychange", () => lines.state === "key" || look());

function look() {
  if (!document.hidden) return start();
  stop("paused");
  showState();
}

look();
