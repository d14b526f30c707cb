/** The stories that are played whole, with crashes at every change, with power cuts, and by several processes at once. */
import path from 'node:path';
import type { Disk } from '../../src/ports/disk.js';
import { ROOT } from './hall.js';

export interface Story {
  name: string;
  agents: Record<string, string>;
  /** Other files of the workspace. */
  files?: Record<string, string>;
  /** Task files as a person drops them. */
  tasks: Record<string, unknown>;
  script: string;
  /** Result of each root task, by id. A RegExp where it may say more. */
  results: Record<string, string | RegExp>;
  /** Model calls when nothing goes wrong. */
  calls: number;
  /** Files that must hold exactly this at the end: effects that happened once. */
  written?: Record<string, string>;
}

export function lay(disk: Disk, story: Story): void {
  const put = (file: string, text: string): void => {
    const full = path.join(ROOT, file);
    disk.makeFolder(path.dirname(full));
    disk.create(full, text);
  };
  put('guild.yaml', '');
  for (const [name, text] of Object.entries(story.agents)) put(`agents/${name}.md`, text);
  for (const [name, text] of Object.entries(story.files ?? {})) put(name, text);
  for (const [name, task] of Object.entries(story.tasks)) put(`tasks/pending/${name}.json`, JSON.stringify(task));
}

const agent = (front: string, prompt = 'Do what you are asked.'): string => `---\n${front}\n---\n${prompt}\n`;

export const STORIES: Story[] = [
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
    name: 'delegation to two in one turn',
    agents: {
      lead: agent('description: Leads\ntools: [delegate_to_agent]\nagents: [left, right]'),
      left: agent('description: Left'),
      right: agent('description: Right'),
    },
    tasks: { both: { description: 'Ask both', to: 'lead' } },
    script: `
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: left, task: say L}}, {delegate_to_agent: {agent: right, task: say R}}]}
- {agent: left, say: L}
- {agent: right, say: R}
- {agent: lead, turn: 2, say: Both have answered.}
`,
    results: { both: 'Both have answered.' },
    calls: 4,
  },
  {
    name: 'advisors, then a handoff',
    agents: {
      boss: agent('description: Decides\nadvisors: [legal, risk]\nhandoff: scribe'),
      legal: agent('description: Law'),
      risk: agent('description: Risk'),
      scribe: agent('description: Writes it well'),
    },
    tasks: { plan: { description: 'Shall we?', to: 'boss' } },
    script: `
- {agent: legal, say: It is lawful.}
- {agent: risk, say: It is safe.}
- {agent: boss, when: It is lawful, say: Yes then.}
- {agent: scribe, when: Yes then, say: "Dear all: yes."}
`,
    results: { plan: 'Dear all: yes.' },
    calls: 4,
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
- {agent: ana, when: one, say: "1"}
- {agent: ana, when: two, say: "2"}
`,
    results: { first: '1', second: '2', lost: /there is no agent nobody-known/ },
    calls: 2,
  },
];
