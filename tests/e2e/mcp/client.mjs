// Calls tools with an official TypeScript client and prints what came of it as one JSON line.
//
//   node client.mjs '{"client": "v1" | "v2", "url": ..., "key": ..., "mode": "auto" | "pinned version", "calls": [...]}'

const asked = JSON.parse(process.argv[2]);
const headers = asked.key ? { authorization: `Bearer ${asked.key}` } : {};

async function connected() {
  const about = { name: "aisle-tests", version: "1.0.0" };
  if (asked.client === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import(
      "@modelcontextprotocol/sdk/client/streamableHttp.js"
    );
    const client = new Client(about);
    await client.connect(new StreamableHTTPClientTransport(new URL(asked.url), { requestInit: { headers } }));
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client(about, { versionNegotiation: { mode: asked.mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(asked.url), { requestInit: { headers } }));
  return client;
}

try {
  const client = await connected();
  const { tools } = await client.listTools();
  const results = [];
  for (const call of asked.calls) {
    results.push(await client.callTool(call));
  }
  const version = client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion ?? null;
  console.log(JSON.stringify({ tools, results, version }));
  await client.close();
} catch (error) {
  console.log(JSON.stringify({ error: String(error?.message ?? error), code: error?.code ?? null }));
}
