/**
 * Every kind of file that has a schema, with the text at the top of its reference page. `labels`
 * names the mappings that have no key of their own.
 */
import { union } from '../../dist/src/schemas/zod.js';
import { agentFlat, agentSpec } from '../../dist/src/schemas/agent-files.js';
import { AGENT_KEYS, agentMarkdown } from '../../dist/src/schemas/agent.js';
import { allowlistYaml } from '../../dist/src/schemas/allowlist.js';
import { checkInYaml } from '../../dist/src/schemas/check-in.js';
import { evalYaml } from '../../dist/src/schemas/eval-cases.js';
import { guildYaml } from '../../dist/src/schemas/guild-yaml.js';
import { policyYaml } from '../../dist/src/schemas/policy.js';
import { scriptYaml } from '../../dist/src/schemas/script.js';
import { settingsYaml } from '../../dist/src/schemas/settings.js';
import { sessionYaml } from '../../dist/src/schemas/session.js';
import { taskRecord } from '../../dist/src/schemas/task.js';

const GUILD = {
  schema: guildYaml,
  json: 'guild.json',
  page: 'configuration.md',
  title: 'Configuration: `guild.yaml`',
  about: 'Everything that holds for a whole workspace. Every key is optional, and an empty file is a good one.',
  more: `A wrong value or a mistyped key stops \`run\`, \`pump\` and \`watch\` before they start, because the
limits and models of the workspace are not certain then. \`guild check\` shows every problem with its
place. A key that resembles none of these is reported and ignored. A running process keeps the
configuration it started with; \`guild watch\` reports an edit once.`,
};

const AGENT = {
  schema: agentMarkdown,
  json: 'agent.json',
  page: 'agents.md',
  title: 'Agents: `agents/<name>.md`',
  about: 'Markdown with YAML frontmatter. The body is the system prompt.',
  more: `\`{{tool_descriptions}}\` and \`{{variable}}\` in the prompt are filled in. The headings \`# System Prompt\` and
\`# User Prompt Template\` divide the body; inside code fences they are ordinary text. A key may be written
in camel case: \`maxTokens\` is \`max_tokens\`. An unknown key is an error that names the nearest known key. How
the keys work together is in [patterns](../explanation/patterns.md) and [swarm](../explanation/swarm.md).
A conversation keeps the agent file it started with; of a changed file only its tools and approvals count in it.

These files are read too:

- \`agents/<name>/agent.md\`, in the same format.
- \`agents/*.agent.yaml\` and \`templates/*.agent.yaml\`: [every key at the top](#agentyaml-with-every-key-at-the-top),
  or [with \`apiVersion\`](#agentyaml-with-apiversion).
- The agents of Claude Code, Copilot, opencode and Gemini CLI, in their own folders and at any depth
  ([how-to](../how-to/use-claude-code-agents.md)). Their tools become ours where there is a counterpart, and an
  agent that does not mention tools has every tool. A key without a meaning here is a warning.
- \`*.ai\` files. They name other agents by the path of their file.`,
  parts: [
    {
      heading: 'agent.yaml with every key at the top',
      about: 'The keys above, and these:',
      schema: agentFlat,
      omit: AGENT_KEYS,
    },
    {
      heading: 'agent.yaml with apiVersion',
      about: 'The keys above are in `spec`, together with `system_prompt` and `user_prompt_template`.',
      schema: agentSpec,
      omit: AGENT_KEYS,
    },
  ],
};

const AGENT_YAML = {
  schema: union([agentSpec, agentFlat]),
  json: 'agent-yaml.json',
  title: 'Agents: `*.agent.yaml`',
  about: 'An agent as one YAML file.',
};

const TASK = {
  schema: taskRecord,
  json: 'task.json',
  page: 'task-files.md',
  title: 'Task files: `tasks/<state>/<id>.json`',
  about: 'One task, one JSON file. The folder is the state.',
  format: 'json',
  more: `A person may drop a file with only a description into \`tasks/pending/\`:

\`\`\`json
{ "description": "Summarise memory/ in five lines", "to": "retriever" }
\`\`\`

The program writes the whole record, in the order of the table. \`null\` counts as absent. Unknown keys are
kept and printed at the end. Times are ISO 8601 in UTC. A file that is cut off or empty is held and read
again when it changes. A file that can never be valid goes to \`quarantine/\`, with the reason beside it.`,
};

const SESSION = {
  schema: sessionYaml,
  json: 'session.json',
  page: 'session-files.md',
  title: 'Session files: `sessions/<id>.session.yaml`',
  about: 'One conversation of an agent: a header and the list of messages.',
  more: `\`\`\`yaml
session_id: planner-is-redis-running
agent_id: planner
created: '2026-01-31T09:00:00.000Z'
status: active
task: is-redis-running
messages:
  - role: user
    content: 'Is Redis running? Answer for Sarah.'
    timestamp: '2026-01-31T09:00:00.000Z'
\`\`\`

You may add, change or remove messages at any time; the conversation continues from your edit. A message
of yours needs only \`role: user\` and \`content\`. Reading is generous: timestamps may be missing, and a wrong
optional key is ignored. A file that does not parse is held, and its task waits until it can be read. A
tool result over 16 KiB is stored in \`storage/blobs/<sha256>\`, and the session quotes its head and tail.`,
};

const POLICY = {
  schema: policyYaml,
  json: 'policy.json',
  page: 'policy.md',
  title: 'Policy: `storage/policy.yaml`',
  about:
    'Rules about tools, in categories that you name. They add to the built-in rules and never loosen the built-in denials.',
  more: `\`\`\`yaml
filesystem:
  write_config:
    pattern: write_file
    conditions: [{path_matches: ["config/*"]}]
    supervision: confirm
    priority: 10
\`\`\`

An unknown name makes the whole file unreadable: until it is fixed nothing runs by itself, and
denials still deny. How rules work together is in [policy](../explanation/policy.md).`,
  labels: { '<name>.<name>': '<category>.<rule>' },
};

const ALLOWLIST = {
  schema: allowlistYaml,
  json: 'allowlist.json',
  page: 'allowlist.md',
  title: 'Allowlist: `storage/terminal-cmd-allowlist.yaml`',
  about: 'Commands that run by themselves, and commands that are always asked for.',
  more: `\`\`\`yaml
ls: true                        # commands that begin with these words run by themselves
git push: false                 # these are always asked for
npm: null                       # says nothing
/^npm (test|run lint)$/: true   # a pattern on one command of the line
/curl/: { approve: false, matchCommandLine: true }    # a pattern on the whole line
\`\`\`

A key is the first words of a command, or a pattern between slashes. Words are compared whole: \`ls\`
says nothing about \`lsof\`. A value is \`true\`, \`false\`, \`null\` or a mapping. One wrong entry makes the
file unreadable, because it may be the one that was meant to hold something back.`,
  labels: { '<name>': '<command>' },
};

const CHECK_IN = {
  schema: checkInYaml,
  json: 'check-in.json',
  page: 'check-ins.md',
  title: 'Check-ins: `storage/planner-checkin.yaml`',
  about:
    'When the planner last checked in on the others, and how often it does. The program writes it and keeps your edits.',
  more: `Check-ins are on if this file exists or \`guild.yaml\` says \`checkins: true\`. The planner gets a task
\`checkin-<count>\` once \`interval_seconds\` have passed, another agent has open work, and that work has
changed since the last check-in. A workspace that only waits costs one check-in and then no model
call. Comments and keys of your own stay. Without the file, counting starts over.`,
};

const SETTINGS = {
  schema: settingsYaml,
  json: 'settings.json',
  page: 'settings.md',
  title: 'Your own settings: `settings.yaml`',
  about: 'What holds in every workspace of yours. A workspace can tighten it and never widen.',
  more: `The file is in your configuration folder: \`GUILD_CONFIG\`, else \`guild\` in \`XDG_CONFIG_HOME\`, else
\`~/.config/guild\`. A \`policy.yaml\` next to it has the format of [the policy of a workspace](policy.md); where one of
its rules applies, no workspace can be milder. A file that cannot be read stops \`run\`, \`pump\` and \`watch\`.

A key goes only to the host it belongs to, and only by HTTPS. If \`guild.yaml\` sends a well-known key such as \`OPENAI_API_KEY\` to another
address, the provider is not used and its agents wait until \`keys\` here names that host. Addresses in your own environment,
such as \`OPENAI_BASE_URL\`, need no line.`,
};

const SCRIPT = {
  schema: scriptYaml,
  json: 'script.json',
  page: 'scripts.md',
  title: 'Scripts of the scripted model',
  about: 'A list of lines. The first line that fits a model call, and is not used up, answers it.',
  more: `\`\`\`yaml
- agent: planner
  turn: 1
  say: I'll look it up.
  call:
    - read_file: {path: memory/system-config.md}
- agent: planner
  when: {tool: {read_file: '/port:? (\\d+)/i'}}
  say: Redis listens on {{1}}.
\`\`\`

A provider of kind \`scripted\` plays a script: \`script.yaml\` unless \`guild.yaml\` names another. It needs
no network and no key. An unknown key is an error, so that a misspelt one never widens a line.`,
  labels: { '[]': 'line' },
};

const EVAL = {
  schema: evalYaml,
  json: 'eval-cases.json',
  page: 'eval-cases.md',
  title: 'Cases of `guild eval`: `evals/*.yaml`',
  about: 'A list of cases. Each is a task for the team and what must be true afterwards.',
  more: `Every case runs in a copy of the workspace that has the agents, the configuration and the memory, and
none of the work. A text between slashes is a regular expression: \`/port \\d+/i\`. How to use them is in
[evaluate a model](../how-to/evaluate-a-model.md).`,
};

export const KINDS = [GUILD, AGENT, AGENT_YAML, TASK, SESSION, POLICY, ALLOWLIST, SCRIPT, CHECK_IN, EVAL, SETTINGS];

/** Where the published schemas can be read from. */
export const PUBLISHED = 'https://unpkg.com/guildhall/schemas/';
