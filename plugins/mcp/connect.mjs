/**
 * A connection to an MCP server, over HTTP or over stdio to a process started for it. It opens at
 * the first call and closes when idle. The process gets only PATH, HOME and the variables listed in
 * the settings.
 */
const IDLE_MS = 60_000;
const CONNECT_MS = 30_000;

/** `settings`: {command: [...], env: [NAMES]} or {url, key_env, headers}. */
export function connection(settings, { env, workspace }) {
  let client;
  let idle;
  const drop = async () => {
    clearTimeout(idle);
    const open = client;
    client = undefined;
    await (await open?.catch(() => undefined))?.close().catch(() => undefined);
  };
  const use = async (work) => {
    clearTimeout(idle);
    client ??= within(open(settings, env, workspace), CONNECT_MS, 'no answer within 30 s');
    try {
      return await work(await client);
    } catch (thrown) {
      await drop(); // the next call opens a new connection
      throw thrown;
    } finally {
      clearTimeout(idle);
      idle = setTimeout(() => void drop(), IDLE_MS);
      idle.unref();
    }
  };
  return {
    tools: () => use(listAll),
    call: (name, args, signal) => use((open) => open.callTool({ name, arguments: args, options: { signal } })),
    close: drop,
  };
}

async function open(settings, env, workspace) {
  const { createMCPClient } = await import('#ai-sdk/mcp');
  return createMCPClient({ transport: await transport(settings, env, workspace), onUncaughtError: () => {} });
}

async function transport({ command, env: names = [], url, key_env: keyEnv, headers = {} }, env, workspace) {
  if (url !== undefined) {
    const key = keyEnv === undefined ? undefined : env[keyEnv];
    if (keyEnv !== undefined && !key) throw new Error(`${keyEnv} is not set`);
    return { type: 'http', url, headers: { ...headers, ...(key ? { authorization: `Bearer ${key}` } : {}) } };
  }
  const { Experimental_StdioMCPTransport: Stdio } = await import('#ai-sdk/mcp-stdio');
  const [program, ...args] = command;
  const passed = Object.fromEntries(
    ['PATH', 'HOME', ...names].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  return new Stdio({ command: program, args, env: passed, cwd: workspace, stderr: 'ignore' });
}

async function listAll(client) {
  const all = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { params: { cursor } });
    all.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined && all.length < 1000);
  return all;
}

async function within(promise, ms, message) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** A tool's reply as text. Images and other media are named, not shown. */
export function replyText({ content = [], structuredContent, toolResult, isError = false }) {
  const parts = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}, not shown]`));
  if (parts.length === 0) parts.push(JSON.stringify(structuredContent ?? toolResult ?? 'done'));
  return { success: !isError, content: parts.join('\n') };
}
