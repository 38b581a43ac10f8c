// Uses the client as a TypeScript program would; the compiler holds every line against aisle.d.ts.
import { Aisle } from "../../../search_proxy/pages/aisle.js";

const aisle = new Aisle({ baseUrl: "http://127.0.0.1:8787", apiKey: "pk_1" });
const index = "demo";

for await (const event of aisle.search({ index, q: "a warm blanket" })) {
  if (event.type === "open") event.runId.length;
  if (event.type === "delta") for (const row of event.data.categoryHits ?? []) row.hits[0]?._reason?.length;
  if (event.type === "error") (event.error.retryAfterSeconds ?? 0).toFixed();
  // @ts-expect-error: a delta has no such field
  if (event.type === "delta") event.data.categoryHit;
}

let conversationId: string | undefined;
for await (const event of aisle.converse({ index, q: "cheaper, in blue", conversationId })) {
  if (event.type === "conversation-id") ({ conversationId } = event.data);
  if (event.type === "message") event.data.text?.length;
}

const found = await aisle.products({ index, q: "tent" });
if (found.ok) found.value.hits.length;
else found.error.code.length;
// @ts-expect-error: there is a value only where there was no error
found.value;
// @ts-expect-error: an index is needed
aisle.search({ q: "tent" });
