/**
 * Stories of one agent: results, effects that happen once, dependencies, and roots that end after
 * their children.
 */
import { textOf } from '../endings.js';
import { agent, type Story } from './story.js';

export const BASICS: Story[] = [
  {
    name: 'a dropped task becomes a result',
    agents: { ana: agent('description: Answers\ntools: [read_file]') },
    files: { 'memory/facts.md': 'The runtime is podman.\n' },
    tasks: { ask: { description: 'Which runtime?' } },
    script: `
- {agent: ana, turn: 1, say: I will look., call: [{read_file: {path: memory/facts.md}}]}
- {agent: ana, turn: 2, when: podman, say: It is podman.}
`,
    results: { ask: 'It is podman.' },
    calls: 2,
  },
  {
    name: 'an effect and a final report',
    agents: { ana: agent('description: Writes\ntools: [write_file, final_report]') },
    tasks: { note: { description: 'Write it down' } },
    script: `
- {agent: ana, turn: 1, call: [{write_file: {path: workspaces/ana/note.txt, content: "once\\n"}}]}
- {agent: ana, turn: 2, when: /unknown_outcome/, call: [{final_report: {report: It may be written.}}]}
- {agent: ana, turn: 2, call: [{final_report: {report: It is written.}}]}
`,
    results: { note: /It (is|may be) written\./ },
    calls: 2,
    written: { 'workspaces/ana/note.txt': 'once\n' },
  },
  {
    name: 'three tasks take turns in one long conversation',
    agents: { ana: agent('description: Remembers\nsession: shared') },
    tasks: { a: { description: 'first word' }, b: { description: 'second word' }, c: { description: 'third word' } },
    script: `
- {agent: ana, task: a, say: one}
- {agent: ana, task: b, say: two}
- {agent: ana, task: c, say: three}
`,
    results: { a: 'one', b: 'two', c: 'three' },
    calls: 3,
  },
  {
    name: 'tasks that depend on each other, and one that fails',
    agents: { ana: agent('description: Answers') },
    tasks: {
      first: { description: 'one' },
      second: { description: 'two', dependencies: ['first'] },
      lost: { description: 'three', to: 'nobody-known' },
    },
    script: `
- {agent: ana, when: '/two[^]*Result of first/', say: "2"}
- {agent: ana, when: one, say: "1"}
`,
    results: { first: '1', second: '2', lost: /there is no agent nobody-known/ },
    calls: 2,
  },
  {
    name: 'a root ends after everything under it, including tasks that others added',
    agents: { ana: agent('description: Answers'), ben: agent('description: Answers late') },
    tasks: {
      main: { description: 'The whole', to: 'ana' },
      'main.extra': { description: 'One more thing', to: 'ben', parent: 'main', dependencies: ['gate'] },
      gate: { description: 'The gate', to: 'ben' },
    },
    script: `
- {agent: ana, say: The whole is done.}
- {agent: ben, task: gate, say: Open.}
- {agent: ben, task: main.extra, say: That too.}
`,
    results: { main: 'The whole is done.', gate: 'Open.' },
    put: ['main.extra'],
    calls: 3,
    check(disk) {
      const read = (id: string): Record<string, unknown> =>
        JSON.parse(textOf(disk, `tasks/completed/${id}.json`) || '{}') as Record<string, unknown>;
      const { certificate, ended_at: ended } = read('main');
      const wrong =
        JSON.stringify(certificate) === CERTIFICATE ? [] : [`the certificate is ${JSON.stringify(certificate)}`];
      if (String(ended) < String(read('main.extra')['ended_at'])) wrong.push('it ended before what was under it');
      return wrong;
    },
  },
];

const CERTIFICATE = '{"open":0,"unread":0,"effects":0,"agreed":1,"of":1}';
