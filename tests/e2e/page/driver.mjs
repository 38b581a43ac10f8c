// Drives Chromium for the Python tests: one JSON command a line on stdin, one JSON answer a line on stdout.
// Expressions run through the debugger, so that the page's own content policy stays in force while it is tested.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
const WATCH = `
  window.__shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
`;

const browser = await chromium.launch({ executablePath: process.argv[2], args: FLAGS });
let context, page, debuggerSession, seen;

const commands = {
  async open({ url, width = 1280, height = 900, dark = false, calm = true, touch = false, init }) {
    await context?.close();
    context = await browser.newContext({
      viewport: { width, height },
      hasTouch: touch,
      isMobile: touch,
      colorScheme: dark ? "dark" : "light",
      reducedMotion: calm ? "reduce" : "no-preference",
      locale: "en-US",
    });
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    seen = { requests: [], errors: [], dialogs: [], bytes: 0 };
    page.on("request", (request) => seen.requests.push(request.url()));
    page.on("pageerror", (error) => seen.errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
    page.on("dialog", (dialog) => (seen.dialogs.push(dialog.message()), dialog.dismiss()));
    debuggerSession = await context.newCDPSession(page);
    await page.addInitScript(WATCH);
    if (init) await page.addInitScript(init);
    await page.goto(url, { waitUntil: "load" });
  },
  async js({ expression }) {
    const { result, exceptionDetails } = await debuggerSession.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
      allowUnsafeEvalBlockedByCSP: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  },
  async wait({ expression, seconds = 15 }) {
    const until = performance.now() + seconds * 1000;
    for (;;) {
      const value = await commands.js({ expression }).catch((error) => (isGone(error) ? null : Promise.reject(error)));
      if (value) return value;
      if (performance.now() > until) throw new Error(`still not true: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  },
  click: ({ selector }) => page.click(selector),
  fill: ({ selector, text }) => page.fill(selector, text),
  press: ({ key }) => page.keyboard.press(key),
  async back() {
    await page.goBack({ waitUntil: "commit" });
  },
  async reload() {
    await page.reload({ waitUntil: "load" });
  },
  async drop({ selector, color, source }) {
    const expression = `(async () => {
      const canvas = new OffscreenCanvas(1600, ${source ? 1600 : 900});
      const context = canvas.getContext("2d");
      context.fillStyle = ${JSON.stringify(color)};
      context.fillRect(0, 0, 1600, 1600);
      const source = ${JSON.stringify(source ?? "")};
      if (source) {
        const picture = Object.assign(new Image(1600, 1600), { src: source });
        await picture.decode();
        context.drawImage(picture, 0, 0, 1600, 1600);
      }
      const file = new File([await canvas.convertToBlob({ type: "image/png" })], "photo.png", { type: "image/png" });
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(file);
      const target = document.querySelector(${JSON.stringify(selector)});
      const options = { dataTransfer, bubbles: true, cancelable: true };
      target.dispatchEvent(new DragEvent("dragover", options));
      const taken = !target.dispatchEvent(new DragEvent("drop", options));
      return taken;
    })()`;
    if (!(await commands.js({ expression }))) throw new Error("nobody took the drop");
  },
  async asleep({ asleep }) {
    await debuggerSession.send("Page.setWebLifecycleState", { state: asleep ? "frozen" : "active" });
  },
  async offline({ offline }) {
    await context.setOffline(offline);
  },
  files: ({ selector, paths }) => page.setInputFiles(selector, paths),
  async screenshot({ path }) {
    await page.screenshot({ path });
  },
  seen: async () => seen,
  async axe() {
    await commands.js({ expression: readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8") });
    const expression = `axe.run(document, { resultTypes: ["violations"] }).then((result) => result.violations.map(
      (found) => ({ id: found.id, impact: found.impact, nodes: found.nodes.map((node) => node.html.slice(0, 160)) })))`;
    return commands.js({ expression });
  },
};

function isGone(error) {
  return /context was destroyed|Cannot find context|navigat/i.test(String(error));
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, command, ...parameters } = JSON.parse(line);
  let answer;
  try {
    answer = { id, value: (await commands[command](parameters)) ?? null };
  } catch (error) {
    answer = { id, error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
