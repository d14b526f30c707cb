/** Reference pages from the tables in the code: commands, events, tools, variables. */
import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { findProvider, providerNames } from '../../dist/src/domain/config/providers.js';
import { EVENTS } from '../../dist/src/domain/event.js';
import { isBuilt, toolbox } from '../../dist/src/tools/toolbox.js';
import { ROOT } from '../setup.mjs';
import { VARIABLES } from './environment.mjs';
import { manPage } from './man-page.mjs';
import { code, notice, page, plain, table } from './markdown.mjs';

export function codePages() {
  const help = JSON.parse(execFileSync(process.execPath, [path.join(ROOT, 'bin', 'guild.mjs'), 'help', '--json']));
  return [
    ['docs/reference/commands.md', commandsPage(help)],
    ['docs/reference/events.md', eventsPage()],
    ['docs/reference/tools.md', toolsPage()],
    ['docs/reference/environment.md', environmentPage(help)],
    ['man/guild.1', manPage(help)],
  ];
}

const COMMANDS_ABOUT = `\`guild <command> --help\` prints the same text. \`guild --help --json\` prints all of it for
programs. The exit codes are in [environment](environment.md#exit-codes).`;

function commandsPage({ commands, options }) {
  const sections = commands.flatMap(({ name, summary, usage, about, options: own }) => [
    `## ${code(`guild ${name}`)}`,
    `${summary[0].toUpperCase()}${summary.slice(1)}.`,
    usage.some((form) => form.about !== undefined)
      ? table(
          ['usage', 'meaning'],
          usage.map(({ form, about: meaning = '' }) => [code(form), plain(meaning)]),
        )
      : usage.map(({ form }) => `\`\`\`\n${form}\n\`\`\``).join('\n\n'),
    prose(about),
    own.length === 0 ? '' : optionTable(own),
  ]);
  return page(
    notice('the definitions of the commands'),
    '# Commands',
    COMMANDS_ABOUT,
    '## Options of every command',
    optionTable(options),
    ...sections,
  );
}

/** Indented lines are examples. */
function prose(about) {
  return about
    .split(/\n{2,}/)
    .map((block) => (/^ {2}/m.test(block) ? `\`\`\`\n${block.replace(/^ {2}/gm, '')}\n\`\`\`` : plain(block)))
    .join('\n\n');
}

function optionTable(options) {
  const rows = options.map(({ name, short, placeholder, multiple, about }) => {
    const value = placeholder === undefined ? '' : ` ${placeholder}`;
    return [
      code(`${name}${value}`) + (short === undefined ? '' : `, ${code(short)}`),
      plain(about) + (multiple ? ' (may be given several times)' : ''),
    ];
  });
  return table(['option', 'meaning'], rows);
}

const EVENTS_ABOUT = `One JSON object on a line for each change. Every event has \`at\`, an ISO time in UTC, and \`name\`. As they
apply it has \`task\`, \`agent\`, \`peer\` (the process), \`cause\` (the id of the task, request or tool call that
led to it) and details. The events that create and claim a task also have its \`parent\` and \`root\`. A last
line without a newline is not complete yet. The list of names is closed.`;

function eventsPage() {
  return page(
    notice('src/domain/event.ts'),
    '# Events: `events/<day>.jsonl`',
    EVENTS_ABOUT,
    table(
      ['name', 'meaning'],
      Object.entries(EVENTS).map(([name, meaning]) => [code(name), meaning]),
    ),
  );
}

const KINDS = {
  pure: 'Reads only.',
  effect: 'Changes something outside the records of the workspace. The policy decides whether it asks you first.',
  ask: 'Creates tasks or messages for others.',
};

const TOOLS_ABOUT = `An agent may call the tools that its file lists under \`tools\`. Patterns grant the tools they need
themselves: \`route_to\` to a router, \`broadcast\` and \`vote_conclude\` to the members of a team that votes,
\`conclude_team\` to its coordinator, \`give_verdict\` to a check, \`place_bid\` to an agent that bids. Plugins
add more, such as \`slack_send\`, \`slack_read\` and \`web_search\`, and so do MCP servers.`;

function toolsPage() {
  const sections = [...toolbox().values()]
    .filter((tool) => isBuilt(tool.name))
    .flatMap(({ name, kind, description, parameters }) => [
      `## ${code(name)}`,
      `${plain(description)} ${KINDS[kind]}`,
      parameterTable(parameters),
    ]);
  return page(notice('src/tools'), '# Tools', TOOLS_ABOUT, ...sections);
}

function parameterTable({ properties = {}, required = [] }) {
  const rows = Object.entries(properties).map(([name, parameter]) => [
    code(name),
    typeOf(parameter),
    required.includes(name) ? 'yes' : 'no',
    plain(parameter.description ?? ''),
  ]);
  return rows.length === 0 ? 'It has no parameters.' : table(['parameter', 'type', 'required', 'meaning'], rows);
}

function typeOf({ type, items, enum: words }) {
  if (words !== undefined) return words.map(code).join(' or ');
  return type === 'array' ? `list of ${typeOf(items ?? { type: 'any value' })}` : type;
}

const EXITS = {
  done: 'Done.',
  problem: 'A problem; the text on standard error says which.',
  usage: 'Wrong usage: an unknown command or option, or a wrong value.',
  refused: 'The policy refuses it.',
  waiting: 'It waits for a person.',
  interrupted: 'Stopped with Ctrl-C.',
};

function environmentPage({ exit_codes: exits }) {
  const codes = Object.entries(exits).map(([name, number]) => {
    if (EXITS[name] === undefined) throw new Error(`the exit code ${name} has no meaning`);
    return [code(String(number)), EXITS[name]];
  });
  return page(
    notice('scripts/reference/environment.mjs and src/domain/config/providers.ts'),
    '# Environment variables and exit codes',
    '## Variables',
    table(
      ['variable', 'meaning'],
      Object.entries(VARIABLES).map(([name, meaning]) => [code(name), meaning]),
    ),
    '## Keys of providers',
    'A key is never written in a file. Providers of your own name their variable with `key_env` in [`guild.yaml`](configuration.md#providersname).',
    table(['provider', 'variable', 'address'], providerRows()),
    '## Exit codes',
    table(
      ['code', 'meaning'],
      [
        ...codes,
        [
          '`130`',
          'Ctrl-C was pressed twice: the process stopped at once. After one Ctrl-C it finishes its current steps and ends with another code.',
        ],
      ],
    ),
  );
}

function providerRows() {
  return providerNames({}).map((name) => {
    const { keyEnv, baseUrl, kind } = findProvider(name, {});
    return [
      code(name),
      keyEnv === undefined ? 'none' : code(keyEnv),
      baseUrl ?? (kind === 'scripted' ? 'none' : 'its own'),
    ];
  });
}
