/**
 * A connection to an MCP server. It opens at the first call and stays open as long as a task that
 * used it is open. An error of one call affects only that call. If the connection breaks, the next
 * call opens a new one. A call whose server waits for the person stays open until it is answered.
 */
import { runningCall } from './elicit.mjs';
import { LoginNeeded } from './login.mjs';
import { makeTransport } from './transport.mjs';

const IDLE_MS = 60_000;
const START_MS = 60_000;
/** Without progress. With progress a call may take up to `MAX_CALL_MS`. */
const CALL_MS = 5 * 60_000;
const MAX_CALL_MS = 60 * 60_000;

/**
 * `settings`: as `namedServers` returns them. `host.isOpen(task)`: whether that task has not ended.
 * `onTools(tools)`: the server changed its tools.
 */
export function connection(name, settings, host, onTools = () => {}) {
  const callMs = durationMs(settings.timeout) ?? CALL_MS;
  const calls = new Set();
  const users = new Set();
  /** Open calls of tools, which may wait for the person. */
  const asking = new Map();
  let opened;
  let idle;
  const drop = async () => {
    clearTimeout(idle);
    const open = opened;
    opened = undefined;
    await (await open?.catch(() => undefined))?.close().catch(() => undefined);
  };
  const rest = () => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      for (const task of users) if (host.isOpen?.(task) !== true) users.delete(task);
      for (const call of calls) if (call.run?.isAsking && !users.has(call.task)) call.stop?.();
      if (calls.size > 0 || users.size > 0) rest();
      else void drop();
    }, IDLE_MS);
    idle.unref();
  };
  const open = () => {
    if (opened !== undefined) return opened;
    const opening = connect(settings, host, { onTools, onClose: () => forget(opening), elicit });
    opening.catch(() => forget(opening));
    opened = opening;
    return opening;
  };
  /** A connection that ends late must not take a newer one with it. */
  const forget = (old) => {
    if (opened === old) opened = undefined;
  };
  /** The protocol does not always say which call asks: the newest that runs does. */
  const elicit = (params) => [...calls].findLast(({ ask }) => ask !== undefined)?.ask(params) ?? { action: 'cancel' };
  const use = async (work, call = {}) => {
    const limit = timeLimit(callMs);
    calls.add(call);
    call.stop = () => limit.stop(new Error('its task has ended'));
    if (call.task !== undefined) users.add(call.task);
    const options = {
      // Our own limit: time does not pass while a person is asked.
      timeout: NEVER_MS,
      onprogress(progress) {
        limit.restart();
        call.progress?.(progressText(progress));
      },
      signal: call.signal ? AbortSignal.any([call.signal, limit.signal]) : limit.signal,
    };
    if (call.ask !== undefined) {
      const { ask } = call;
      call.ask = async (params) => {
        limit.pause();
        try {
          return await ask(params);
        } finally {
          limit.restart();
        }
      };
    }
    try {
      const client = await open();
      try {
        return await work(client, options);
      } catch (thrown) {
        if (!isForgottenSession(thrown)) throw thrown;
        await drop(); // The server did not run the call: it has restarted and does not know us.
        return await work(await open(), options);
      }
    } catch (thrown) {
      throw explained(name, limit.signal.reason ?? thrown, callMs);
    } finally {
      limit.end();
      calls.delete(call);
      rest();
    }
  };
  /** Until the call ends or the server wants to know something: `{value}` or `{ask}`. */
  const callTool = async (tool, args, call) => {
    const { answers = [] } = call;
    const key = `${call.callId} ${tool}`;
    let entry = asking.get(key);
    if (entry === undefined) {
      entry = { task: call.task, progress: call.progress, signal: call.signal };
      entry.run = runningCall((ask) => {
        entry.ask = ask;
        return use((client, options) => client.callTool({ name: tool, arguments: args }, options), entry);
      });
      asking.set(key, entry);
    }
    const stop = () => entry.stop?.();
    call.signal?.addEventListener('abort', stop, { once: true });
    const step = await entry.run.next(answers);
    call.signal?.removeEventListener('abort', stop);
    if (step.ask === undefined) asking.delete(key);
    if (step.thrown !== undefined) throw step.thrown;
    return step;
  };
  return {
    tools: () => use(listTools),
    call: callTool,
    resources: (call) => use(listResources, call),
    read: (uri, call) => use((client, options) => client.readResource({ uri }, options), call),
    close: drop,
  };
}

async function connect(settings, host, { onTools, onClose, elicit }) {
  // The handshake that every server knows; a server that knows only the newer one is asked again.
  const modes = settings.url === undefined ? ['legacy', 'auto'] : ['auto'];
  const startMs = durationMs(settings.start_timeout) ?? START_MS;
  let first;
  for (const mode of modes) {
    const { transport, stderr } = await makeTransport(settings, host);
    const { Client } = await import('#mcp/client');
    const client = new Client(
      { name: 'guildhall', version: host.version ?? '0' },
      {
        versionNegotiation: { mode },
        capabilities: { elicitation: { form: {}, url: {} } },
        listChanged: { tools: { onChanged: (_, tools) => tools && onTools(tools) } },
        // A server that breaks its own output schema is still understood.
        jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input, errorMessage: undefined }) },
      },
    );
    client.setRequestHandler('elicitation/create', ({ params }) => elicit(params));
    client.onerror = () => {};
    try {
      await client.connect(transport, { timeout: startMs });
      client.onclose = onClose; // only now: closing after a failed handshake must not end the next attempt
      return client;
    } catch (thrown) {
      await client.close().catch(() => undefined);
      const why = isTimeout(thrown) ? new Error(`it did not answer within ${startMs / 1000} s`) : thrown;
      first ??= withStderr(why, stderr());
      if (typeof thrown.code !== 'number') break; // it did not answer at all, so no handshake helps
    }
  }
  throw first;
}

/** The last lines of stderr say more than "the connection was closed". */
function withStderr(thrown, text) {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const tail = lines.slice(-5).join(' | ').slice(-500);
  if (tail === '') return thrown;
  return new Error(`${thrown.message}; it wrote: ${tail}`, { cause: thrown });
}

async function listTools(client, options) {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], hasResources: hasResources(client) };
  const { tools } = await client.listTools(undefined, { ...options, cacheMode: 'refresh' });
  return { tools, hasResources: hasResources(client) };
}

function hasResources(client) {
  return client.getServerCapabilities()?.resources !== undefined;
}

async function listResources(client, options) {
  const { resources } = await client.listResources(undefined, options);
  const { resourceTemplates } = await client
    .listResourceTemplates(undefined, options)
    .catch(() => ({ resourceTemplates: [] }));
  return { resources, resourceTemplates };
}

/** Servers say so with 404, as the protocol has it, or with 400. Neither has run the call. */
function isForgottenSession(thrown) {
  return [400, 404].includes(thrown.status ?? thrown.data?.status);
}

function isTimeout(thrown) {
  return thrown.code === 'REQUEST_TIMEOUT';
}

/** The longest time that a timer accepts. */
const NEVER_MS = 2 ** 31 - 1;

/** Aborts after `callMs` without progress, and after `MAX_CALL_MS` in all. */
function timeLimit(callMs) {
  const controller = new AbortController();
  const late = () => controller.abort(Object.assign(new Error('no answer in time'), { code: 'REQUEST_TIMEOUT' }));
  let left = Math.max(callMs, MAX_CALL_MS);
  let since;
  let timer;
  const pause = () => {
    clearTimeout(timer);
    if (since !== undefined) left -= Date.now() - since;
    since = undefined;
  };
  const restart = () => {
    pause();
    since = Date.now();
    timer = setTimeout(late, Math.max(0, Math.min(callMs, left)));
  };
  restart();
  return {
    signal: controller.signal,
    pause,
    restart,
    end: () => clearTimeout(timer),
    stop: (why) => controller.abort(why),
  };
}

function explained(name, thrown, callMs) {
  for (let cause = thrown; cause !== undefined; cause = cause.cause) {
    if (cause instanceof LoginNeeded || cause.name === 'UnauthorizedError')
      return new Error(`the MCP server ${name} wants you to log in: guild mcp login ${name}`, { cause: thrown });
  }
  if (!isTimeout(thrown)) return thrown;
  return new Error(`no answer within ${Math.round(callMs / 1000)} s; the server may still be working`, {
    cause: thrown,
  });
}

function progressText({ progress, total, message }) {
  const amount = total === undefined ? String(progress) : `${Math.round((progress / total) * 100)} %`;
  return message ? `${amount}: ${message}` : amount;
}

/** `90s`, `5m`, `1h`, or a number of seconds. */
function durationMs(written) {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(String(written ?? '')) ?? [];
  return amount === undefined ? undefined : Number(amount) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit];
}
