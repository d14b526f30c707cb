/** guild.yaml: every key, its default, and errors with their place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/domain/config/config.js';
import { problemText } from '../../../src/domain/problem.js';
import { parseConfig } from '../../../src/text/config/config.js';

const good = (text: string) => {
  const { config, problems } = parseConfig(text, 'guild.yaml');
  assert.deepEqual(problems.map(problemText), []);
  return config;
};

test('a missing, empty or commented-out file gives every default', () => {
  for (const text of ['\n', '# nothing yet\n', '---\n', '\uFEFF']) assert.deepEqual(good(text), good(''));
  assert.deepEqual(good('').limits, DEFAULT_LIMITS);
  assert.notEqual(good('').limits, good('').limits);
});

test('check-ins can be configured or turned off', () => {
  assert.equal('checkins' in good(''), false);
  const { planner, checkins } = good('planner: chief\ncheckins: true\n');
  assert.deepEqual({ planner, checkins }, { planner: 'chief', checkins: true });
  assert.equal(good('checkins: false\n').checkins, false);
  assert.match(problemText(parseConfig('checkins: often\n', 'guild.yaml').problems[0]!), /checkins/);
});

const modelFor = (env: Record<string, string>): string => parseConfig('', 'guild.yaml', env).config.model;

test('the default model belongs to a provider with a key', () => {
  assert.match(modelFor({ ANTHROPIC_API_KEY: 'x' }), /^anthropic\//);
  assert.match(modelFor({ ANTHROPIC_API_KEY: 'x', OPENAI_API_KEY: 'y' }), /^openai\//);
  assert.match(modelFor({ OPENAI_API_KEY: '' }), /^openai\//);
});

test('every key is read', () => {
  const config = good(`
model: fast
models:
  fast: openai/gpt-5-mini
  several: [a/b, c/d]
  careful: {model: [anthropic/claude-sonnet-4-5, openai/gpt-5], temperature: 0.2, max_tokens: 4k}
providers:
  local: {kind: openai-compatible, base_url: http://127.0.0.1:11434/v1, key_env: LOCAL_KEY, headers: {X-Team: a}}
  bare: {base_url: https://example.org/v1}
  demo: {kind: scripted, script: script.yaml}
prices: {openai/gpt-5: {input: 1.25, output: 10, cached: 0.125}}
windows: {openai/gpt-5: 272k, small: 8000}
timeouts: {call: 10m, stall: 30s, tries: 2}
limits: {parallel: 4, depth: 3, attempts: 2, turns: 9, children: 7, tasks_per_minute: 50, max_task_bytes: 1M, max_result_bytes: 2k, calls: 6, argument_bytes: 3k, requests: 8}
budget: {usd: 5, tokens: 1.5M, time: 1h, turns: 40, tool_calls: 200, children: 12}
default_agent: planner
search: semantic
allow_outward: [send_mail]
sandbox: required
watch: {rescan: 5s}
store: files
coordination: {coordinator: lead, offer: 3s, help: 1m, bid: 90s, vote: 20s}
git: {enabled: true, author: 'Ada <ada@example.org>'}
channels: {deploys: {writers: [ops], readers: planner, ttl: 1d, max_bytes: 2k}, talk: {}}
inbox: {agent: planner, admit: ask}
plugins: {slack: {channels: ['#ops']}, pager: }
schedules: {report: {task: Write the report, schedule: '0 9 * * 1', timezone: Europe/Berlin, agent: planner}}
webhooks: {deploys: {secret_env: DEPLOY_TOKEN}}
notify: {on: [waits], gather: 5s, quiet_hours: '22:00-07:30', timezone: Europe/Berlin, bell: false, command: say hi}
`);
  assert.deepEqual(config, {
    model: 'fast',
    aliases: {
      fast: { models: ['openai/gpt-5-mini'], settings: {} },
      several: { models: ['a/b', 'c/d'], settings: {} },
      careful: {
        models: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5'],
        settings: { temperature: 0.2, maxTokens: 4000 },
      },
    },
    providers: {
      local: {
        kind: 'openai-compatible',
        baseUrl: 'http://127.0.0.1:11434/v1',
        keyEnv: 'LOCAL_KEY',
        headers: { 'X-Team': 'a' },
      },
      bare: { kind: 'openai-compatible', baseUrl: 'https://example.org/v1' },
      demo: { kind: 'scripted', script: 'script.yaml' },
    },
    prices: { 'openai/gpt-5': { input: 1.25, output: 10, cached: 0.125 } },
    windows: { 'openai/gpt-5': 272_000, small: 8000 },
    timeouts: { callMs: 600_000, stallMs: 30_000, tries: 2 },
    limits: {
      parallel: 4,
      depth: 3,
      attempts: 2,
      turns: 9,
      children: 7,
      tasksPerMinute: 50,
      maxTaskBytes: 1_000_000,
      maxResultBytes: 2000,
      calls: 6,
      argumentBytes: 3000,
      requests: 8,
    },
    budget: { microUsd: 5_000_000, tokens: 1_500_000, timeMs: 3_600_000, turns: 40, toolCalls: 200, children: 12 },
    defaultAgent: 'planner',
    search: 'semantic',
    allowOutward: ['send_mail'],
    sandbox: 'required',
    rescanMs: 5000,
    store: 'files',
    git: { enabled: true, author: 'Ada <ada@example.org>' },
    inbox: { agent: 'planner', admit: 'ask' },
    plugins: { slack: { channels: ['#ops'] }, pager: {} },
    schedules: { report: { task: 'Write the report', cron: '0 9 * * 1', timezone: 'Europe/Berlin', to: 'planner' } },
    webhooks: { deploys: { kind: 'standard', secretEnv: 'DEPLOY_TOKEN' } },
    notify: {
      on: ['waits'],
      gatherMs: 5000,
      quiet: { from: 1320, to: 450, timezone: 'Europe/Berlin' },
      bell: false,
      desktop: false,
    },
    notifyBy: { command: 'say hi' },
    coordination: {
      mode: 'hierarchical',
      coordinator: 'lead',
      offerMs: 3000,
      helpMs: 60_000,
      bidMs: 90_000,
      voteMs: 20_000,
      leaseMs: 15_000,
    },
    channels: {
      deploys: { writers: ['ops'], readers: ['planner'], ttlMs: 86_400_000, maxBytes: 2000 },
      talk: { maxBytes: 65_536 },
    },
  });
  assert.deepEqual(good('plugins: [slack, pager]').plugins, { slack: {}, pager: {} });
  assert.deepEqual(good('aliases: {main: openai/gpt-5}').aliases, { main: { models: ['openai/gpt-5'], settings: {} } });
});

const faults: [string, string, RegExp, string, RegExp?][] = [
  ['an unknown admit mode', 'inbox: {admit: never}\n', /"inbox.admit" must be one of: auto, ask/, '1:16'],
  ['a plugin outside its folder', 'plugins: [../evil]\n', /must be the name of a folder under plugins/, '1:11'],
  ['a mistyped key', 'model: a/b\nmodles: {}\n', /unknown key "modles"/, '2:1', /"models"/],
  ['a mistyped key inside', 'limits:\n  paralel: 3\n', /unknown key "limits.paralel"/, '2:3', /"parallel"/],
  ['a wrong type', 'limits: {parallel: many}\n', /"limits.parallel" must be a whole number/, '1:20'],
  ['a limit below its minimum', 'limits:\n  parallel: 0\n', /at least 1/, '2:13'],
  ['a duration without unit', 'timeouts: {call: soon}\n', /a duration/, '1:18'],
  [
    'a key in the file',
    'providers:\n  x: {kind: openai, api_key: sk-123}\n',
    /must not be written in this file/,
    '2:21',
    /key_env/,
  ],
  ['a provider without address', 'providers:\n  x: {kind: openai-compatible}\n', /base_url/, '2:6'],
  ['an invalid address', 'providers:\n  x: {base_url: localhost}\n', /http/, '2:17'],
  ['a price without output', 'prices:\n  a/b: {input: 1}\n', /"output"/, '2:8'],
  ['an invalid amount of money', 'budget: {usd: lots}\n', /"budget.usd" must be dollars/, '1:15'],
  ['an unknown budget', 'budget: {token: 3}\n', /unknown key "budget.token"/, '1:10', /"tokens"/],
  ['a list', '- a\n', /must be a mapping/, '1:1'],
  ['an unknown store', 'store: redis\n', /files, or an address such as postgres/, '1:8'],
  ['a repeated key', 'model: a\nmodel: b\n', /twice/, '2:1'],
  ['a syntax error', 'model: [a\nlimits: {}\n', /./, '1:8'],
];
for (const [what, text, message, place, hint] of faults) {
  test(`${what} is reported with its place, and its default is used`, () => {
    const { config, problems } = parseConfig(text, 'guild.yaml');
    assert.equal(problems.length, 1, problems.map(problemText).join('\n'));
    assert.match(problems[0]!.message, message);
    assert.equal(`${problems[0]!.where?.line}:${problems[0]!.where?.column}`, place);
    if (hint) assert.match(problems[0]!.hint ?? '', hint);
    assert.equal(config.limits.parallel, DEFAULT_LIMITS.parallel);
  });
}

test('all errors are reported at once', () => {
  const { problems } = parseConfig('modle: a\nlimits: {parallel: x, foo: 1}\nbudget: {usd: x, bar: 1}\n', 'guild.yaml');
  assert.equal(problems.length, 5);
});

test('a name of an object property is an ordinary name', () => {
  const config = good('models: {__proto__: a/b, constructor: c/d}');
  assert.deepEqual(Object.keys(config.aliases), ['__proto__', 'constructor']);
  assert.equal(Object.getPrototypeOf(config.aliases), Object.prototype);
});
