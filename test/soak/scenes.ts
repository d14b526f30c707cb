/**
 * The workspaces for several real processes: the examples, in the terminals that their READMEs name
 * or in a few terminals that host all agents; and workspaces for approvals, boards, messages and
 * many small tasks.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../kit/guild.js';

export interface Scene {
  name: string;
  /** Creates the folder. */
  create(root: string): void;
  /**
   * Command lines that run until they are stopped; `pump` ends by itself and is restarted until
   * everything has ended.
   */
  hosts: string[][];
  /** Command lines that end by themselves, started next to the hosts. */
  beside?: string[][];
  /** Tasks that must have ended, or the number of roots. */
  ends: string[] | number;
  /** The outcome depends on timing, so only the end of all tasks is checked. */
  isLoose?: boolean;
  /** Additional checks at the end. */
  also?(root: string): string[];
}

const WATCH = ['watch', '-q'];
const start = (...names: string[]): string[] => ['agent', 'start', ...names, '-q'];
const pump = ['pump', '--all', '-q'];

const PATTERNS: [example: string, agent: string, asked: string[]][] = [
  ['advisors', 'manager', ['Should we move the archive to a new provider?']],
  ['checked', 'writer', ['Tell Ms Brown how to get her money back for the lamp']],
  ['delegation', 'orchestrator', ['Add a cache to our database queries']],
  ['handoff', 'writer', ['Announce version 2.0']],
  ['router', 'desk', ['I was billed twice', 'I cannot log in', 'Hm']],
  ['team', 'architect', ['Polling or a stream of events for the status page?']],
];

export const SCENES: Scene[] = [
  {
    name: 'swarm',
    create: example('swarm'),
    hosts: [start('breakdown', 'maker'), start('search'), start('file'), start('terminal')],
    ends: ['build_user_api'],
  },
  { name: 'swarm-watched', create: example('swarm'), hosts: [WATCH, WATCH, WATCH], ends: ['build_user_api'] },
  {
    name: 'swarm-twins',
    create: example('swarm'),
    hosts: [
      start('breakdown', 'maker', 'search'),
      start('file', 'terminal'),
      start('file', 'breakdown'),
      start('search', 'terminal'),
    ],
    ends: ['build_user_api'],
  },
  { name: 'composed', create: example('composed'), hosts: [WATCH, WATCH, WATCH], ends: ['sundays'] },
  { name: 'composed-pumped', create: example('composed'), hosts: [pump, pump, pump], ends: ['sundays'] },
  ...PATTERNS.flatMap(([name, agent, asked]): Scene[] => [
    {
      name,
      create(root) {
        example(name)(root);
        for (const [i, description] of [...asked, ...asked, ...asked].entries())
          put(root, `tasks/pending/t${i}.json`, JSON.stringify({ description, to: agent }));
      },
      hosts: [WATCH, WATCH, WATCH],
      ends: asked.flatMap((_, i) => [i, i + asked.length, i + 2 * asked.length]).map((i) => `t${i}`),
    },
    {
      name: `${name}-run`,
      create: example(name),
      hosts: [WATCH, WATCH],
      beside: asked.flatMap((text, i) => [0, 1].map((n) => ['run', agent, text, '--id', `t${i}-${n}`, '-q'])),
      ends: asked.flatMap((_, i) => [`t${i}-0`, `t${i}-1`]),
    },
  ]),
  {
    name: 'coordinator',
    create: example('coordinator'),
    hosts: [
      start('pm', 'architect', 'database'),
      start('backend', 'frontend', 'designer'),
      start('tester', 'reviewer', 'writer'),
    ],
    ends: ['shop'],
    isLoose: true,
  },
  {
    name: 'mesh',
    create: example('mesh'),
    hosts: [start('editor'), start('archive'), start('reporter'), start('cook')],
    ends: ['paper'],
    isLoose: true,
  },
  {
    name: 'deadlock',
    create: example('deadlock'),
    hosts: [start('coder'), start('analyst'), start('reviewer')],
    ends: ['chart', 'figures', 'release'],
    isLoose: true,
  },
  {
    name: 'last-note',
    create: example('last-note'),
    hosts: [start('lead'), start('near'), start('far')],
    ends: ['roads'],
  },
  {
    name: 'office',
    create: example('office'),
    hosts: [WATCH, WATCH],
    beside: [['inbox', 'add', 'Can you check if Redis is running?', '--from', 'sarah', '--channel', 'slack']],
    ends: 1,
  },
  {
    name: 'approvals',
    create: approvals,
    hosts: [WATCH, WATCH, WATCH],
    ends: Array.from({ length: 8 }, (_, i) => `c${i}`),
    also: ranOnce,
  },
  { name: 'boards', create: boards, hosts: [WATCH, WATCH, WATCH], ends: 6, also: allTicked },
  {
    name: 'mail',
    create: mail,
    hosts: [WATCH, WATCH],
    beside: Array.from({ length: 6 }, (_, i) => [
      'inbox',
      'add',
      `Message ${i}`,
      '--from',
      'sarah',
      '--channel',
      'slack',
    ]),
    ends: 6,
  },
  { name: 'many', create: many, hosts: [WATCH, WATCH, WATCH, WATCH], ends: 30 },
  { name: 'many-pumped', create: many, hosts: [pump, pump, pump, pump], ends: 30 },
];

/** Models answer with a delay, like real ones, so that faults hit processes during model calls. */
function example(name: string): (root: string) => void {
  return (root) => {
    fs.cpSync(path.join(ROOT, 'examples', name), root, { recursive: true });
    const script = path.join(root, 'script.yaml');
    const text = fs.readFileSync(script, 'utf8');
    if (/\bwait:/.test(text)) return;
    fs.writeFileSync(script, text.replace(/^- (?=\w)/gm, '- wait: 60ms\n  ').replace(/^- \{/gm, '- { wait: 60ms,'));
  };
}

function put(root: string, file: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  fs.writeFileSync(path.join(root, file), text);
}

function scripted(root: string, script: string, more = ''): void {
  put(root, 'guild.yaml', `model: demo/story\nproviders: { demo: { kind: scripted, script: script.yaml } }\n${more}`);
  put(root, 'script.yaml', script);
}

function approvals(root: string): void {
  scripted(
    root,
    `- { turn: 1, call: [{ execute_command: { command: "echo {{task}} >> ran.txt" } }] }
- { turn: 2, say: "{{task}} is done" }
`,
  );
  put(root, 'agents/ana.md', '---\ndescription: Runs\ntools: [execute_command]\n---\nRun.\n');
  for (let i = 0; i < 8; i++) put(root, `tasks/pending/c${i}.json`, '{"description": "run it", "to": "ana"}');
}

function ranOnce(root: string): string[] {
  const ran = lines(root, 'workspaces/ana/ran.txt').sort();
  const twice = ran.filter((line, i) => line === ran[i + 1]);
  return twice.map((line) => `${line} ran twice`);
}

function boards(root: string): void {
  scripted(root, '- { say: "{{task}} is done" }\n');
  put(root, 'agents/ana.md', '---\ndescription: Does\n---\nDo.\n');
  for (const name of ['plan', 'more']) {
    const bullets = Array.from(
      { length: 3 },
      (_, i) =>
        `- [ ] @ana "${name} ${i}"\n  id: ${name}-${i}\n  - [ ] @ana "${name} ${i} below"\n    id: ${name}-${i}-below\n`,
    );
    put(root, `tasks/${name}.task.md`, `# ${name}\n\n## TODO\n\n${bullets.join('\n')}`);
  }
}

function allTicked(root: string): string[] {
  return ['plan', 'more'].flatMap((name) =>
    lines(root, `tasks/${name}.task.md`).flatMap((line) =>
      /- \[[^x]\]/.test(line) ? [`left on the board: ${line}`] : [],
    ),
  );
}

function mail(root: string): void {
  scripted(root, '- { say: "{{task}} is answered" }\n', 'inbox: { agent: ana }\n');
  put(root, 'agents/ana.md', '---\ndescription: Answers\n---\nAnswer.\n');
}

function many(root: string): void {
  scripted(
    root,
    `- { agent: plain, turn: 1, wait: 5ms, call: [{ read_file: { path: memory/facts.md } }] }
- { agent: plain, turn: 2, wait: 5ms, say: "answer of {{task}}" }
- { agent: writer, turn: 1, wait: 5ms, call: [{ write_file: { path: "workspaces/writer/{{task}}.txt", content: "{{task}}" } }] }
- { agent: writer, turn: 2, wait: 5ms, say: "written by {{task}}" }
- { agent: lead, turn: 1, wait: 5ms, call: [{ delegate_to_agent: { agent: plain, task: look } }, { delegate_to_agent: { agent: writer, task: write } }] }
- { agent: lead, turn: 2, wait: 5ms, say: "both answered {{task}}" }
`,
  );
  put(root, 'memory/facts.md', 'A fact.\n');
  put(root, 'agents/plain.md', '---\ndescription: Answers\ntools: [read_file]\n---\nAnswer.\n');
  put(root, 'agents/writer.md', '---\ndescription: Writes\ntools: [write_file]\n---\nWrite.\n');
  put(
    root,
    'agents/lead.md',
    '---\ndescription: Leads\ntools: [delegate_to_agent]\nagents: [plain, writer]\n---\nLead.\n',
  );
  for (let i = 0; i < 30; i++)
    put(
      root,
      `tasks/pending/m${i}.json`,
      JSON.stringify({ description: `Task ${i}`, to: ['plain', 'writer', 'lead'][i % 3] }),
    );
}

function lines(root: string, file: string): string[] {
  const full = path.join(root, file);
  return fs.existsSync(full)
    ? fs
        .readFileSync(full, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
}
