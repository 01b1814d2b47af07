// A client of the Model Context Protocol as others write one: node mcp_client.mjs sdk|auto|legacy|VERSION PROGRAM ROOT CACHE TRACE
// Calls everything there is, and prints what it got as one line of JSON. The packages check every reply against the
// protocol, and what tools answer against the schemas that the server tells.
const [library, program, root, cache, trace] = process.argv.slice(2);
const server = { command: program, args: ["mcp", "--root", root, "--cache", cache], stderr: "inherit" };

async function connect() {
  if (library === "sdk") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport(server));
    return client;
  }
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const mode = ["auto", "legacy"].includes(library) ? library : { pin: library };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(server));
  return client;
}

const client = await connect();
const seen = { version: client.getServerVersion?.(), instructions: client.getInstructions?.(), tools: {}, resources: {}, prompts: {} };
const { tools } = await client.listTools();
seen.listed = tools.map((tool) => tool.name);

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  seen.tools[name] = result.structuredContent;
  return result.structuredContent;
}

await call("probe", { trace });
const { run, gpus } = await call("analyze", { trace });
await call("findings", { run });
await call("explain", { what: "idle-host-code" });
await call("tables", { run });
await call("table", { run, table: "kernels", limit: 3 });
await call("sql", { run, query: "select count(*) as n from kernel_events" });
await call("window", { run, start_ns: gpus[0].window_start_ns, end_ns: gpus[0].window_end_ns });
await call("critical_path", { run });
await call("whatif", { run });
await call("skills", {});
await call("skills", { skill: "streams" });
await call("run_skill", { run, skill: "streams" });
await call("ask", { run, question: "why is the GPU idle" });
await call("check_claims", { run, question: "why is the GPU idle", draft: "It is idle [F1]." });
await call("compare", { base: run, new: run });
await call("export", { run, format: "speedscope" });

const { resources } = await client.listResources();
for (const { uri } of resources.slice(0, 3)) seen.resources[uri] = (await client.readResource({ uri })).contents[0].text.length;
const { resourceTemplates } = await client.listResourceTemplates();
seen.templates = resourceTemplates.length;
seen.report = (await client.readResource({ uri: `nsys-ai://run/${run}/report.md` })).contents[0].text.length;
const { prompts } = await client.listPrompts();
for (const { name, arguments: wanted } of prompts)
  seen.prompts[name] = (await client.getPrompt({ name, arguments: Object.fromEntries(wanted.map((a) => [a.name, "x"])) })).messages.length;

seen.refused = (await client.callTool({ name: "sql", arguments: { run, query: "select nonsense" } })).isError;
seen.wrong = await client.callTool({ name: "sql", arguments: { run } }).then((result) => result.isError, (error) => error.code);

// A call that is given up is ended, and the server goes on.
const slow = "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t";
const giveUp = new AbortController();
setTimeout(() => giveUp.abort(), 200);
const args = { name: "sql", arguments: { run, query: slow } };
const given = library === "sdk" ? client.callTool(args, undefined, { signal: giveUp.signal }) : client.callTool(args, { signal: giveUp.signal });
seen.cancelled = await given.then(() => "answered", () => "given up");
seen.after = (await call("sql", { run, query: "select 7 as x" })).rows[0][0];
await client.close();
console.log(JSON.stringify(seen));
