/** `guild.yaml`: everything that holds for a whole workspace. */
import { DEFAULT_LIMITS, SANDBOX_SETTINGS, WEBHOOK_KINDS } from '../domain/config/config.js';
import { key, named, needed } from './about.js';
import { channel, channelName, coordination } from './guild-coordination.js';
import { alias, price, provider } from './guild-models.js';
import { notify } from './guild-notify.js';
import { cron, missed, timezone } from './schedule.js';
import { at, budget, choice, duration, flag, mapping, names, priority, text, whole } from './values.js';
import * as z from './zod.js';

const STORE = 'files, or an address such as postgres://user@host/database?schema=team';

const limit = DEFAULT_LIMITS;
const limits = z.strictObject(
  {
    parallel: key(whole(1), 'Tasks that advance at the same time in one process.', at(limit.parallel)),
    depth: key(
      whole(0),
      'How many times in a row agents may ask each other by themselves. Pattern stages do not count.',
      at(limit.depth),
    ),
    attempts: key(
      whole(1),
      'How many workers in a row a task may lose without progress before it fails.',
      at(limit.attempts),
    ),
    turns: key(whole(1), 'Model calls of one task, if its agent sets no limit.', at(limit.turns)),
    children: key(whole(1), 'Children of one task.', at(limit.children)),
    tasks_per_minute: key(
      whole(1),
      'Tasks that may be created below one root task in a minute.',
      at(limit.tasksPerMinute),
    ),
    calls: key(whole(1), 'Tool calls of one turn; the rest is refused.', at(limit.calls)),
    argument_bytes: key(whole(1), 'The arguments of one tool call.', at(limit.argumentBytes)),
    requests: key(
      whole(1),
      'Requests of one agent that may wait for you at the same time; more are refused.',
      at(limit.requests),
    ),
    max_task_bytes: key(whole(1), 'The largest task file that is read.', at(limit.maxTaskBytes)),
    max_result_bytes: key(
      whole(1),
      'A longer tool result is stored as a blob, and the session quotes its head and tail.',
      at(limit.maxResultBytes),
    ),
  },
  mapping,
);

const git = z.union(
  [
    flag,
    z.strictObject({
      enabled: key(flag, 'Whether history is kept.', { default: '`true`' }),
      author: key(
        z.string().check(z.regex(/^[^<>\n]+<[^<>\s]+>\s*$/, 'a name and an address, such as "Ada <ada@example.org>"')),
        'The author of the commits of the program; people keep their own names.',
        { example: 'Ada <ada@example.org>' },
      ),
      branch: key(flag, 'Commit to the branch that is checked out in the workspace, not to `.guild/history.git`.', {
        default: '`false`',
      }),
    }),
  ],
  { error: 'true, false, or a mapping with "enabled", "author" and "branch"' },
);

const scheduleName = named(
  'name',
  z.string({ error: 'a name for a schedule' }).check(z.regex(/^[A-Za-z0-9][\w-]{0,59}$/)),
);
const schedule = z.strictObject(
  {
    schedule: needed(cron, 'Minute, hour, day of the month, month and day of the week.', {
      example: '"0 9 * * 1"',
      hint: 'add a "schedule", such as "0 9 * * 1" for Mondays at nine',
    }),
    task: needed(z.string({ error: 'text that says what to do' }).check(z.regex(/\S/)), 'The request.', {
      example: 'Write the weekly report',
      hint: 'add a "task": one sentence that says what to do',
    }),
    agent: key(text, 'The agent that does it.', { default: 'none: agents bid for it', example: 'planner' }),
    timezone: key(timezone, 'The time zone.', {
      default: "`timezone` of the file, else the machine's",
      example: 'Europe/Berlin',
    }),
    missed: key(missed, '`once`: the last missed run takes place late.', { default: '`report`' }),
    priority: key(priority, 'How urgent it is.', { default: '`C`' }),
  },
  mapping,
);

const webhookName = named(
  'name',
  z.string({ error: 'lower-case letters and digits' }).check(z.regex(/^[a-z][a-z0-9]{0,39}$/)),
);
const webhook = z.strictObject(
  {
    kind: key(
      choice([...WEBHOOK_KINDS]),
      'How calls prove where they come from. `standard`: the signature of Standard Webhooks. `github`: `x-hub-signature-256`. `token`: `authorization: Bearer`.',
      { default: '`standard`' },
    ),
    secret_env: needed(
      z.string({ error: 'the name of an environment variable' }).check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)),
      'The environment variable with the token or the secret. It is never written into a file.',
      { example: 'GITHUB_WEBHOOK_SECRET', hint: 'name the environment variable that has the secret' },
    ),
    agent: key(text, 'The agent that gets the messages.', {
      default: 'as for all messages: `inbox.agent`',
      example: 'planner',
    }),
  },
  mapping,
);

const pluginName = named(
  'name',
  z.string({ error: 'the name of a folder under plugins/' }).check(z.regex(/^[A-Za-z0-9][\w-]{0,63}$/)),
);
const settings = named('settings', z.record(z.string(), z.unknown()));
const plugins = z.union(
  [
    named('names', z.string().check(z.regex(/^[\w-]+(?:\s*,\s*[\w-]+)*$/, 'names of folders under plugins/'))),
    z.array(pluginName),
    z.record(pluginName, z.union([z.null(), flag, settings], { error: 'a mapping of settings' })),
  ],
  { error: 'a list of plugins, or a mapping of plugins to their settings' },
);

export const guildYaml = z.strictObject(
  {
    model: key(text, 'The model of every agent that names none: `provider/model`, or a name from `models`.', {
      default: 'a small model of the provider whose key is in the environment',
      example: 'openai/gpt-5',
    }),
    models: key(
      z.record(z.string(), alias, mapping),
      'Your own names for models. A list is tried in order when a model cannot be reached or refuses.',
      { example: '{fast: openai/gpt-6.1-terra}', spellings: ['aliases'] },
    ),
    providers: key(z.record(z.string(), provider, mapping), 'Providers that are not built in.', {
      example: '{local: {base_url: "http://127.0.0.1:8080/v1", key_env: LOCAL_KEY}}',
    }),
    prices: key(
      z.record(z.string(), price, mapping),
      'Prices of models. They override the built-in list. The cost of a model without a price is unknown, and budgets in dollars do not limit it.',
      { example: '{local/large: {input: 1.00, output: 4.00}}' },
    ),
    windows: key(
      z.record(z.string(), whole(1000, 'a number of tokens, at least 1000, such as 128k'), mapping),
      'The context windows of models, in tokens, where the built-in value is wrong or missing.',
      { example: '{local/large: 128k}' },
    ),
    timeouts: key(
      z.strictObject(
        {
          call: key(duration, 'The longest model call.', { default: '`10m`' }),
          stall: key(duration, 'The longest silence inside a streamed answer.', { default: '`60s`' }),
          tries: key(whole(1), 'How many times a failed call is tried in all.', at(4)),
        },
        mapping,
      ),
      'Time limits of model calls.',
      { example: '{call: 5m, tries: 2}' },
    ),
    limits: key(limits, 'Limits that protect the workspace.', { example: '{parallel: 4}' }),
    budget: key(budget, 'The limits for one task together with everything below it, whatever its agent allows.', {
      default: 'no limit',
      example: '{tokens: 500k, usd: 5.00}',
    }),
    default_agent: key(text, 'The agent that takes a task without `to` if several agents could.', {
      default: 'none: agents bid for the task',
      example: 'orchestrator',
    }),
    search: key(
      choice(['lexical', 'semantic']),
      'How `search_files` ranks. `semantic` needs the package `@lat.md/embed` and its weights.',
      { default: '`lexical`' },
    ),
    allow_outward: key(
      names,
      'Tools that may send data out without asking even if text from outside has influenced the task.',
      { default: 'none', example: '[web_search]' },
    ),
    sandbox: key(
      choice([...SANDBOX_SETTINGS]),
      'Whether commands need a sandbox. `required`: without one they do not run. `preferred`: without one they ask, and reading commands run only on files of the workspace. `off`: never use one.',
      { default: '`required` where a command ran sandboxed before, else `preferred`' },
    ),
    watch: key(
      z.strictObject(
        {
          rescan: key(duration, 'How often `guild watch` checks every file, even without file events.', {
            default: '`4s`',
          }),
        },
        mapping,
      ),
      'Settings of `guild watch`.',
      { example: '{rescan: 10s}' },
    ),
    store: key(
      z.string({ error: STORE }).check(z.regex(/^(?:files|memory:|postgres(?:ql)?:\/\/\S+)$/, STORE)),
      'Where the work is kept: `files` in this folder, or a PostgreSQL database that several machines share. ' +
        'The password comes from the environment (`PGPASSWORD`) or `~/.pgpass`. ' +
        '`memory:` keeps nothing after the process ends.',
      { default: '`files`', example: 'postgres://guild@db.internal/guild?schema=team' },
    ),
    git: key(
      git,
      'History in Git, in `.guild/history.git`: a commit every few seconds while something changes. `false` keeps none.',
      {
        default: '`true`',
        example: '{author: "Ada <ada@example.org>"}',
      },
    ),
    inbox: key(
      z.strictObject(
        {
          agent: key(text, 'The agent that gets messages that name no agent.', {
            default: 'the planner, else the default agent',
            example: 'planner',
          }),
          admit: key(choice(['auto', 'ask']), '`ask`: you admit each message before an agent sees it.', {
            default: '`auto`',
          }),
        },
        mapping,
      ),
      'Messages from outside, in `inbox/*.jsonl`.',
      { example: '{agent: planner, admit: ask}' },
    ),
    plugins: key(
      plugins,
      'The plugins that may run, as a list or with settings for each. No other code under `plugins/` runs.',
      { default: 'none', example: '[slack]' },
    ),
    planner: key(text, 'The agent that is asked to check in on the others.', {
      default: '`planner`, else an agent of type `planner`',
      example: 'chief',
    }),
    checkins: key(flag, 'Whether the planner checks in on the others.', {
      default: 'on if `storage/planner-checkin.yaml` exists',
      example: 'true',
    }),
    coordination: key(coordination, 'How agents find each other when one needs something from another.', {
      example: '{coordinator: orchestrator, help: 1m}',
    }),
    timezone: key(timezone, 'The time zone of schedules that name none.', {
      default: 'the time zone of the machine',
      example: 'Europe/Berlin',
    }),
    schedules: key(
      z.record(scheduleName, schedule, mapping),
      'Work that is done again and again. A change takes effect without a restart.',
      { example: '{weekly-report: {schedule: "0 9 * * 1", agent: planner, task: Write the weekly report}}' },
    ),
    notify: key(notify, 'Tells you when something waits for you or has ended.', {
      default: 'nothing is sent',
      example: '{desktop: true, quiet_hours: "22:00-07:00"}',
    }),
    webhooks: key(
      z.record(webhookName, webhook, mapping),
      'Programs that may send messages to `guild serve`, by the last part of their address.',
      { example: '{github: {kind: github, secret_env: GITHUB_WEBHOOK_SECRET}}' },
    ),
    channels: key(z.record(channelName, channel, mapping), 'Your own channels for notes.', {
      example: '{deploys: {writers: [ops], readers: [planner]}}',
    }),
  },
  { error: 'a mapping: lines such as "model: openai/gpt-5"' },
);
export type GuildYaml = z.infer<typeof guildYaml>;
