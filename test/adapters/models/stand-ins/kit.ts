/** Serves a stand-in and checks that bad requests are refused for the right rule. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { standIns, type StandInName } from '../../../../src/adapters/models/stand-ins/index.js';
import type { Rules } from './rules/rule.js';
import { scripted } from '../../../../src/adapters/models/scripted/index.js';

const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((server) => server.close())));

const SCRIPT = `
- {when: look, say: I will look., call: [{read: {path: a.md}}]}
- {when: both, call: [{read: {path: a.md}}, {read: {path: b.md}}]}
- {when: empty, call: [vote]}
- {when: refuse, say: Half, finish: filtered}
- {when: long, say: Cut, finish: length}
- {say: 'Turn {{turn}} of {{agent}}: {{last}}'}
`;

export interface Reply {
  status: number;
  headers: Headers;
  /** The parsed body, or the text if it is not JSON. */
  body: any;
  text: string;
  /** Data of the events of a stream. */
  events: any[];
}

export interface Server {
  url: string;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
}

export async function serve(
  as: StandInName,
  headers: Record<string, string>,
  options: { script?: string; quirk?: string; now?: () => number } = {},
): Promise<Server> {
  const { script = SCRIPT, ...rest } = options;
  const server = await standIns({ as, model: scripted(script), ...rest });
  open.push(server);
  return {
    url: server.url,
    async post(path, body, more = {}) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method: 'POST',
        headers: Object.fromEntries(
          Object.entries({ 'content-type': 'application/json', ...headers, ...more }).filter(
            ([, value]) => value !== '',
          ),
        ),
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: parsed(text), text, events: eventsOf(text) };
    },
  };
}

/** A request that breaks one rule, and its good twin, which must pass. */
export interface Case {
  rule: string;
  /** The fault, for the title of the test. */
  when: string;
  bad: unknown;
  good: unknown;
  /** Requests that depend on earlier answers of this server. */
  earlier?: (server: Server) => Promise<{ bad: unknown; good: unknown }>;
  status?: number;
  /** The provider's words. */
  says: RegExp;
  path?: string;
  goodPath?: string;
  headers?: Record<string, string>;
  goodHeaders?: Record<string, string>;
}

/** One test for each case, and one test that the rule book and the cases have the same rules. */
export function judge(
  as: StandInName,
  options: {
    rules: Rules;
    path: string;
    headers: Record<string, string>;
    messageOf(body: any): string;
    cases: readonly Case[];
  },
): void {
  for (const { rule, when, status = 400, says, headers = {}, goodHeaders = {}, ...paths } of options.cases) {
    const { path = options.path, goodPath = path } = paths;
    test(`${as} refuses ${when} (${rule})`, async () => {
      const server = await serve(as, options.headers);
      const { bad, good } = paths.earlier ? await paths.earlier(server) : paths;
      const refused = await server.post(path, bad, headers);
      assert.equal(refused.status, status, refused.text.slice(0, 500));
      assert.deepEqual(refused.headers.get('x-guild-refused')?.split(', '), [rule], refused.text);
      assert.match(options.messageOf(refused.body), says);
      const accepted = await server.post(goodPath, good, goodHeaders);
      assert.equal(accepted.status, 200, accepted.text.slice(0, 500));
    });
  }
  test(`every rule of ${as} has a bad request and a source`, () => {
    const tried = new Set(options.cases.map(({ rule }) => rule));
    assert.deepEqual([...tried].toSorted(), Object.keys(options.rules).toSorted());
    for (const [id, { says, source }] of Object.entries(options.rules)) {
      assert.match(says, /\.$/, id);
      assert.match(source, /^https:\/\//, id);
    }
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function eventsOf(text: string): unknown[] {
  return text
    .split(/\r?\n\r?\n/)
    .flatMap((event) => /^data: (\{.*)$/m.exec(event)?.[1] ?? [])
    .map((data) => JSON.parse(data) as unknown);
}
