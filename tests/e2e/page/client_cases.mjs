// Runs one case of the client in Node and prints what it saw as JSON: node client_cases.mjs CASE BASE_URL
import { Aisle, EventStreamReader } from "../../../search_proxy/pages/aisle.js";
import { LinkReader } from "../../../search_proxy/pages/summary.js";

const [, , name, baseUrl] = process.argv;
const aisle = new Aisle({ baseUrl });
const question = { index: "demo", q: "warm for winter camping" };

const cases = {
  async collect() {
    const events = [];
    for await (const event of aisle.search({ ...question, maxCategories: 3, searchSettings: { limit: 5 } })) events.push(event);
    return events;
  },
  async leaveEarly() {
    for await (const event of aisle.search(question)) if (event.type === "init") break;
    return "left";
  },
  async abort() {
    const stop = new AbortController();
    const events = [];
    for await (const event of aisle.search({ ...question, signal: stop.signal })) {
      events.push(event.type);
      if (event.type === "init") stop.abort();
    }
    return events;
  },
  async converse() {
    const events = [];
    const turn = { index: "demo", q: "like this one", conversationId: "c1", documentIds: ["tent-001-1"], images: ["AAAA"] };
    for await (const event of aisle.converse(turn)) {
      events.push(event);
      process.stderr.write(`${event.id}\n`);
    }
    return events;
  },
  async followFirst() {
    const events = [];
    for await (const event of aisle.follow({ index: "demo", runId: "run1" })) events.push(event);
    return events;
  },
  async bugs() {
    const ended = () => new Response("id: r-1\nevent: stream-end\ndata: {}\n\n", { headers: { "x-aisle-run-id": "r" } });
    const here = new Aisle({ baseUrl: "http://127.0.0.1:1", fetch: async () => ended() });
    const loop = async () => {
      for await (const event of here.search(question)) event.nothing.there;
    };
    const address = async () => new Aisle({ baseUrl: "http://[" }).products({ index: "demo" });
    const key = async () => new Aisle({ baseUrl: "http://127.0.0.1:1", apiKey: "a\nb" }).products({ index: "demo" });
    const names = [];
    for (const wrong of [loop, address, key]) names.push(await wrong().then(() => "nothing", (error) => error.name));
    return names;
  },
  async rest() {
    return [
      await aisle.suggestions({ index: "demo", documentId: "tent-001-1", sessionId: "s", userId: "u" }),
      await aisle.typeahead({ index: "demo", q: "te" }),
      await aisle.forget({ index: "demo", conversationId: "c 1" }),
    ];
  },
  async methods() {
    return Object.getOwnPropertyNames(Aisle.prototype).filter((name) => !name.startsWith("_"));
  },
  async products() {
    return [
      await aisle.products({ index: "demo", q: "tent", limit: 2 }),
      await aisle.documents({ index: "demo", ids: ["tent-001-1"] }),
      await aisle.products({ index: "none", q: "tent" }),
      await aisle.stop({ index: "demo", runId: "nothing" }),
    ];
  },
  async cutAnywhere() {
    const text =
      "\ufeffretry: 20\n: ping\n\nid: r-1\nevent: delta\ndata: {\"a\":\"ä€😀\"}\r\n\r\nid: r-2\rdata: one\rdata: two\r\rdata\nid\n\n" +
      "event: stream-end\ndata:{}\nignored: x\n\n";
    const whole = [...new EventStreamReader().push(text)];
    const different = [];
    for (let size = 1; size <= text.length; size += 1) {
      const reader = new EventStreamReader();
      const read = [];
      for (let at = 0; at < text.length; at += size) read.push(...reader.push(text.slice(at, at + size)));
      if (JSON.stringify(read) !== JSON.stringify(whole)) different.push(size);
    }
    return { whole, different };
  },
  async linksCutAnywhere() {
    const text = "a [b](<p:x>) [c [d](<q:e f>)[[g](<z:h>) [i](<p:j) ](<p:k>) [" + "l".repeat(700) + "](<p:m>) [n](<p:o>";
    const join = (pieces) =>
      pieces.reduce((parts, piece) => {
        if (piece.text !== undefined && parts.at(-1)?.text !== undefined) parts.at(-1).text += piece.text;
        else parts.push({ ...piece });
        return parts;
      }, []);
    const read = (size) => {
      const reader = new LinkReader();
      const pieces = [];
      for (let at = 0; at < text.length; at += size) pieces.push(...reader.push(text.slice(at, at + size)));
      return join([...pieces, ...reader.end()]);
    };
    const whole = read(text.length);
    const different = [];
    for (let size = 1; size < 80; size += 1) if (JSON.stringify(read(size)) !== JSON.stringify(whole)) different.push(size);
    return { whole: whole.filter((piece) => piece.text === undefined), different };
  },
};

process.stdout.write(JSON.stringify(await cases[name]()));
