/** Stories about a person who approves, refuses and edits on the ballot, and writes on boards. */
import path from 'node:path';
import { BOARD, boardEnd, textOf } from '../endings.js';
import { ROOT } from '../cluster.js';
import { agent, BALLOT, mark, type Story } from './story.js';

export const HUMAN: Story[] = [
  {
    name: 'a human approves an action by ticking a line',
    agents: { ana: agent('description: Writes\ntools: [write_file]') },
    tasks: { page: { description: 'Publish it' } },
    asks: ['write_file'],
    human: (disk) => mark(disk, '[x]'),
    script: `
- {agent: ana, turn: 1, call: [{write_file: {path: page.txt, content: "public\\n"}}]}
- {agent: ana, turn: 2, when: /unknown_outcome/, say: It may be public.}
- {agent: ana, turn: 2, when: /refused/, say: It was refused.}
- {agent: ana, turn: 2, say: It is public.}
`,
    results: { page: /It (is|may be) public\./ },
    calls: 2,
    written: { 'page.txt': 'public\n' },
  },
  {
    name: 'a human refuses one action and edits another',
    agents: { ana: agent('description: Writes\ntools: [write_file]') },
    tasks: { page: { description: 'Publish it' } },
    asks: ['write_file'],
    human: (disk) => {
      const read = disk.read(BALLOT);
      const first = read.kind !== 'file' || !read.bytes.toString('utf8').includes('second');
      return first
        ? mark(disk, '[-]')
        : mark(disk, '[x]', (text) => text.replaceAll('content: second', 'content: better'));
    },
    script: `
- {agent: ana, turn: 1, call: [{write_file: {path: page.txt, content: first}}]}
- {agent: ana, turn: 2, when: /refused/, call: [{write_file: {path: page.txt, content: second}}]}
- {agent: ana, turn: 3, when: /unknown_outcome/, say: It may be out.}
- {agent: ana, turn: 3, when: /changed it to "better"/, say: It is out as you changed it.}
`,
    results: { page: /It (is|may be) out/ },
    calls: 3,
    written: { 'page.txt': 'better' },
  },
  {
    name: 'an agent asks, the human first answers with something else, then with one of the choices',
    agents: { ana: agent('description: Releases\ntools: [ask_human]') },
    tasks: { release: { description: 'Release it', to: 'ana' } },
    script: `
- {agent: ana, turn: 1, call: [{ask_human: {question: Which version is it?, choices: ["1.0", "1.1"], default: "1.0"}}]}
- {agent: ana, turn: 2, say: "It is {{last}}."}
`,
    human(disk) {
      const isWrong = (text: string): boolean => text.includes('answer: 2.0');
      const read = disk.read(BALLOT);
      const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
      if (isWrong(text)) {
        disk.save(BALLOT, text.replace('answer: 2.0', 'answer: 1.1'));
        return true;
      }
      return mark(disk, '[x]', (marked) => marked.replace('answer: 1.0', 'answer: 2.0'));
    },
    results: { release: 'It is 1.1.' },
    calls: 2,
  },
  {
    name: 'a plan is refused, changed, approved, and only then carried out',
    agents: { ana: agent('description: Writes\ntools: [write_file]\nplan_approval: true') },
    tasks: { page: { description: 'Publish it' } },
    human: (disk) => {
      const read = disk.read(BALLOT);
      const first = read.kind !== 'file' || !read.bytes.toString('utf8').includes('on a page');
      return first
        ? mark(disk, '[-]')
        : mark(disk, '[x]', (text) => text.replaceAll('Write it on a page.', 'Write it on a better page.'));
    },
    script: `
- {agent: ana, turn: 1, when: show your plan, say: Shout it., call: [{write_file: {path: workspaces/ana/no.txt, content: too early}}]}
- {agent: ana, turn: 2, when: was not approved, say: Write it on a page.}
- {agent: ana, turn: 3, when: better page, call: [{write_file: {path: workspaces/ana/page.txt, content: "public\\n"}}]}
- {agent: ana, turn: 4, when: /unknown_outcome/, say: It may be public.}
- {agent: ana, turn: 4, say: It is public.}
`,
    results: { page: /It (is|may be) public\./ },
    calls: 4,
    written: { 'workspaces/ana/page.txt': 'public\n' },
    check: (disk) =>
      disk.read(path.join(ROOT, 'workspaces/ana/no.txt')).kind === 'file' ? ['it acted too early'] : [],
  },
  {
    name: 'bullets of a board become tasks, and their boxes follow',
    agents: { ana: agent('description: Answers'), ben: agent('description: Answers too') },
    files: { 'tasks/plan.task.md': BOARD },
    tasks: {},
    script: `
- {agent: ben, when: Find the runtime, say: podman}
- {agent: ana, when: '/Ship it[^]*A guide for podman/', say: Shipped.}
- {agent: ana, when: Write the guide, say: "A guide for podman."}
- {agent: ben, when: '/Look at the whole[^]*Shipped/', say: Good.}
`,
    results: { ship: 'Shipped.', review: 'Good.' },
    calls: 4,
    check: boardEnd,
  },
  {
    name: 'a person ticks, deletes and adds lines of a board',
    agents: { ana: agent('description: Answers'), ben: agent('description: Answers too') },
    files: {
      'tasks/plan.task.md': `## TODO
- [ ] @ana "Gate" id: gate depends_on: never
- [ ] @ben "After" id: after depends_on: gate
- [ ] @ana "Gone" id: gone depends_on: never
`,
    },
    tasks: {},
    script: `
- {agent: ana, when: Fresh, say: Fresh.}
- {agent: ben, when: After, say: Done after all.}
`,
    human: (disk) => {
      const file = path.join(ROOT, 'tasks/plan.task.md');
      const text = textOf(disk, 'tasks/plan.task.md');
      if (!text.includes('[ ] @ana "Gate"')) return false;
      disk.save(
        file,
        text.replace('[ ] @ana', '[x] @ana').replace(/- \[ \] @ana "Gone".*\n/, '- [ ] @ana "Fresh" id: new\n'),
      );
      return true;
    },
    results: { gate: 'done by hand', after: 'Done after all.', gone: /its line was removed/, new: 'Fresh.' },
    calls: 2,
    check(disk) {
      const text = textOf(disk, 'tasks/plan.task.md');
      const shape =
        /^## TODO\n- \[x\] @ana "Gate" id: gate depends_on: never\n- \[x\] @ben "After" .*\n {2}completed_at: .*\n- \[x\] @ana "Fresh" id: new\n {2}completed_at: .*\n$/;
      return shape.test(text) ? [] : [`the board reads ${JSON.stringify(text)}`];
    },
  },
];
