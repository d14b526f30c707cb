/** The stories that are played whole, with crashes at every change, with power cuts, and by several processes at once. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Disk } from '../../src/ports/disk.js';
import { BOARD, boardEnd, historyEnd, onceAwarded, textOf } from './endings.js';
import { ROOT } from './hall.js';
import type { SimDisk } from './sim-disk.js';

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
  /** More calls that an unlucky order may need, without anything going wrong. */
  slack?: number;
  /** Tasks that a person puts under others. One that ends before its asker looked is in its own record only; `guild task tree` adds it up all the same. */
  put?: string[];
  /** Tools that need a human here. */
  asks?: string[];
  /** What the human does when nothing moves; true if there was something to do. */
  human?: (disk: SimDisk) => boolean;
  /** Files that must hold exactly this at the end: effects that happened once. */
  written?: Record<string, string>;
  /** What else is wrong with the end, one line each, judged by the files alone. */
  check?: (disk: SimDisk) => string[];
}

export function lay(disk: Disk, story: Story): void {
  const put = (file: string, text: string): void => {
    const full = path.join(ROOT, file);
    disk.makeFolder(path.dirname(full));
    disk.create(full, text);
  };
  put('guild.yaml', story.files?.['guild.yaml'] ?? '');
  for (const [name, text] of Object.entries(story.agents)) put(`agents/${name}.md`, text);
  for (const [name, text] of Object.entries(story.files ?? {})) put(name, text);
  for (const [name, task] of Object.entries(story.tasks)) put(`tasks/pending/${name}.json`, JSON.stringify(task));
}

const BALLOT = path.join(ROOT, 'tasks/approvals.task.md');

/** Edits the ballot as a person would: every open entry, once. */
function mark(disk: SimDisk, box: string, more: (text: string) => string = (text) => text): boolean {
  const read = disk.read(BALLOT);
  const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
  if (!text.includes('- [_]')) return false;
  disk.save(BALLOT, more(text.replaceAll('- [_]', `- ${box}`)));
  return true;
}

const agent = (front: string, prompt = 'Do what you are asked.'): string => `---\n${front}\n---\n${prompt}\n`;

/** The shipped example, as it is: Sarah asks, three agents find out and answer, a human allows two actions. */
function office(): Story {
  const folder = fileURLToPath(new URL('../../../examples/office/', import.meta.url));
  const text = (file: string): string => fs.readFileSync(path.join(folder, file), 'utf8');
  const names = ['planner', 'executor', 'evaluator'];
  return {
    name: 'the office: from a message to a reply',
    agents: Object.fromEntries(names.map((name) => [name, text(`agents/${name}.md`)])),
    files: {
      'memory/system-config.md': text('memory/system-config.md'),
      'memory/team-prefs.md': text('memory/team-prefs.md'),
      'inbox/slack-messages.jsonl': `${JSON.stringify({ id: 's1', from: 'sarah', channel: 'ops', text: 'Can you check if Redis is running?' })}\n`,
    },
    tasks: {},
    asks: ['execute_command'],
    human: (disk) => mark(disk, '[x]'),
    script: text('script.yaml'),
    results: {},
    calls: 15,
    slack: 1,
    check(disk) {
      const [root, more] = disk.list(path.join(ROOT, 'tasks/completed')).filter((name) => !name.includes('.call-'));
      const outbox = disk.tree().get(`${ROOT}/inbox/slack-outbox.jsonl`) ?? '';
      const sent = outbox.split('\n').filter((line) => line !== '');
      const wrong =
        root === undefined || more !== undefined ? [`the message came to ${root ? 'two ends' : 'no end'}`] : [];
      if (sent.length > 1) wrong.push(`the reply was sent ${sent.length} times`);
      return wrong;
    },
  };
}

export const STORIES: Story[] = [
  office(),
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
    name: 'a human allows an action by ticking a line',
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
    name: 'a human refuses, and edits another action',
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
- {agent: ana, turn: 3, when: /made it "better"/, say: It is out as you changed it.}
`,
    results: { page: /It (is|may be) out/ },
    calls: 3,
    written: { 'page.txt': 'better' },
  },
  {
    name: 'a plan is refused, then changed and approved, and only then carried out',
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
    name: 'tasks given away come back as messages',
    agents: {
      lead: agent('description: Leads\ntools: [create_task]'),
      left: agent('description: Left'),
      right: agent('description: Right'),
    },
    tasks: { plan: { description: 'Plan it', to: 'lead' } },
    script: `
- agent: lead
  turn: 1
  call: [{create_task: {agent: left, description: say L}}, {create_task: {agent: right, description: say R}}]
- {agent: lead, turn: 2, say: I wait for both.}
- {agent: left, say: L}
- {agent: right, say: R}
- {agent: lead, turn: {from: 3}, say: Both are back.}
`,
    results: { plan: 'Both are back.' },
    calls: 5,
    slack: 1,
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
    name: 'a goal check sends the work back once, and is then content',
    agents: { ana: agent('description: Writes\nmetacognition: {prompt: You judge.}') },
    tasks: { plan: { description: 'When do we meet?', to: 'ana' } },
    script: `
- {agent: ana, task: "*.work", say: We shall see.}
- {agent: ana, task: "*.check-1", when: {system: You judge, last: We shall see}, call: [{give_verdict: {advances: false, reason: no day is named}}]}
- {agent: ana, task: "*.work-2", when: no day is named, say: On Monday.}
- {agent: ana, task: "*.check-2", when: {system: You judge, last: On Monday}, call: [{give_verdict: {advances: true, reason: it is a day}}]}
`,
    results: { plan: 'On Monday.' },
    calls: 4,
    check: (disk) =>
      textOf(disk, 'sessions/ana-plan.work.session.yaml').match(/On Monday/g)?.length === 1
        ? []
        : ['the second try is not in the conversation of the first'],
  },
  {
    name: 'a task is broken down: a doubt is settled, the parts run in their order, and the answer is made of them',
    agents: {
      chief: agent('description: Breaks down\ntools: [break_down]\ncapabilities: [planning]'),
      hand: agent('description: Does\ncapabilities: [doing]'),
    },
    tasks: {
      api: { description: 'Build a small API', to: 'chief' },
      old: { description: 'Design the database schema for users', to: 'hand' },
    },
    script: `
- agent: chief
  task: api
  turn: 1
  call:
    - break_down:
        parts:
          - {key: model, description: Write the data model of users, requires: [doing]}
          - {key: again, description: Writing a data model for users, requires: [doing]}
          - {key: routes, description: Write the routes over the model, requires: [doing], depends_on: [model, again]}
          - {key: schema, description: Design the schema of the users table, agent: hand}
- {agent: chief, task: "*.same", when: perhaps the same as old, call: [{name_duplicates: {duplicates: [schema]}}]}
- {agent: hand, task: old, say: one table}
- {agent: hand, task: "*.model", say: id and name}
- {agent: hand, task: "*.routes", when: id and name, say: GET and POST}
- {agent: chief, task: api, when: GET and POST, say: It is built.}
`,
    results: { api: 'It is built.', old: 'one table' },
    calls: 6,
  },
  {
    name: 'a coordinator says who provides, and somebody who is free helps',
    agents: {
      ana: agent('description: Builds\ntools: [request_dependency, request_help]'),
      pm: agent('description: Leads'),
      ben: agent('description: Knows tables\nexpertise: [schema]'),
      eve: agent('description: Checks\nexpertise: [fire safety]\ncapabilities: [review]'),
    },
    files: { 'guild.yaml': 'coordination: { coordinator: pm }\n' },
    tasks: { shop: { description: 'Build the shop', to: 'ana' } },
    script: `
- agent: ana
  turn: 1
  call:
    - request_dependency: {type: data, need: the columns, data_type: schema, urgency: high}
    - request_help: {kind: review, context: is the door right for fire safety, capabilities: [review]}
- {agent: pm, when: the columns, call: [{assign_provider: {agent: ben}}]}
- {agent: ben, call: [{provide_dependency: {status: partial, data: "id, name"}}]}
- {agent: eve, say: It is.}
- {agent: ana, turn: 2, when: '/"status":"partial","provider":"ben","data":"id, name"/', say: Built.}
`,
    results: { shop: 'Built.' },
    calls: 5,
  },
  {
    name: 'peers offer what another needs, and a resource goes from hand to hand',
    agents: {
      ana: agent('description: Prints\ntools: [request_dependency]'),
      ben: agent('description: Prints too\ntools: [request_dependency]'),
      cyd: agent('description: Knows tables\nexpertise: [schema]'),
    },
    files: { 'bus/state.jsonl': '' },
    tasks: { a: { description: 'print A', to: 'ana' }, b: { description: 'print B', to: 'ben' } },
    script: `
- agent: ana
  turn: 1
  call:
    - request_dependency: {type: data, need: the columns, data_type: schema}
    - request_dependency: {type: resource, need: to print, resource: printer}
- {agent: ben, turn: 1, call: [{request_dependency: {type: resource, need: to print, resource: printer}}]}
- {agent: cyd, when: the columns, say: "id, name"}
- {agent: [ana, ben], turn: 2, when: you hold printer, say: Printed.}
`,
    results: { a: 'Printed.', b: 'Printed.' },
    calls: 5,
    check: onceAwarded,
  },
  {
    name: 'nobody can do it: a new agent is drafted, tried and allowed, and does it',
    agents: { maker: agent('description: Makes agents\ncapabilities: [agent_creation]\nthreshold: never') },
    tasks: { song: { description: 'Sing of the sea', requirements: ['singing'] } },
    script: `
- agent: maker
  task: song.new-draft-1
  call: [{draft_agent: {name: bard, source: "---\\ndescription: Sings\\ncapabilities: [singing]\\n---\\nSing.\\n", trial_task: Sing la, trial_expect: la}}]
- {agent: maker, task: song.new-trial-1, when: {system: Sing.}, say: la}
- {agent: maker, task: song.new-goal-1, when: {system: Sing.}, say: O sea.}
- {agent: maker, task: song.new-judge-1, when: O sea, call: [{judge_trial: {works: true, better: true, reason: it sings}}]}
- {agent: bard, task: song.work, say: "O sea, O sea."}
- {agent: bard, task: song.check-1, call: [{give_verdict: {advances: true, reason: a song}}]}
`,
    human: (disk) => mark(disk, '[x]'),
    results: { song: 'O sea, O sea.' },
    calls: 6,
    slack: 1,
  },
  {
    name: 'one long conversation for three tasks, in turns',
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
    name: 'a router, a bad choice, and a handoff after it',
    agents: {
      desk: agent(
        'description: Routes\nrouter: {destinations: [billing, support], fallback: support}\nhandoff: scribe',
      ),
      billing: agent('description: Money'),
      support: agent('description: Help'),
      scribe: agent('description: Writes it well'),
    },
    tasks: { bill: { description: 'My bill is wrong', to: 'desk' }, odd: { description: 'Sing', to: 'desk' } },
    script: `
- {agent: desk, turn: 1, when: bill, call: [{route_to: {agent: legal}}]}
- {agent: desk, turn: 2, when: is not a choice, call: [{route_to: {agent: billing, message: be kind}}]}
- {agent: desk, turn: 1, when: Sing, say: I cannot route that.}
- {agent: billing, when: be kind, say: It is mended.}
- {agent: support, when: Sing, say: La la.}
- {agent: scribe, when: It is mended, say: "Dear customer: mended."}
- {agent: scribe, when: La la, say: "Dear customer: la la."}
`,
    results: { bill: 'Dear customer: mended.', odd: 'Dear customer: la la.' },
    calls: 7,
  },
  {
    name: 'a team of three, one of whom fails, comes to consensus',
    agents: {
      chair: agent('description: Chairs\nteam: {members: [ann, ben, cyd], terminationMode: consensus, maxRounds: 4}'),
      ann: agent('description: A'),
      ben: agent('description: B'),
      cyd: agent('description: C\nmodel: nobody/knows'),
    },
    tasks: { plan: { description: 'Red or blue?', to: 'chair' } },
    script: `
- {agent: ann, task: "*-1", turn: 1, call: [{broadcast: {message: I like red}}]}
- {agent: ann, task: "*-1", turn: 2, say: "That is my view."}
- {agent: ben, task: "*-1", say: I like blue}
- {agent: ann, task: "*-2", turn: 1, when: I like blue, call: [{broadcast: {message: blue then}}, {vote_conclude: {reason: agreed}}]}
- {agent: ann, task: "*-2", turn: 2, say: Done.}
- {agent: ben, task: "*-2", turn: 1, when: I like red, call: [{vote_conclude: {}}]}
- {agent: ben, task: "*-2", turn: 2, say: Done.}
- {agent: chair, when: blue then, say: Blue it is.}
`,
    results: { plan: 'Blue it is.' },
    calls: 8,
  },
  {
    name: 'a team with a member that has a chain: its end speaks and votes',
    agents: {
      chair: agent('description: Chairs\nteam: {members: [ann, ben], terminationMode: consensus, maxRounds: 4}'),
      ann: agent('description: A\nhandoff: editor'),
      editor: agent('description: E'),
      ben: agent('description: B'),
    },
    tasks: { plan: { description: 'Red or blue?', to: 'chair' } },
    script: `
- {agent: ann, say: a draft for red}
- {agent: editor, turn: 1, when: draft for red, call: [{broadcast: {message: red then}}, {vote_conclude: {reason: fine}}]}
- {agent: editor, turn: 2, say: Done.}
- {agent: ben, turn: 1, call: [{vote_conclude: {}}]}
- {agent: ben, turn: 2, say: Done.}
- {agent: chair, when: '/all voted to conclude in round 1[^]*red then/', say: Red it is.}
`,
    results: { plan: 'Red it is.' },
    calls: 6,
  },
  {
    name: 'three agents bid for a task, one of them in words',
    agents: {
      ana: agent('description: Finds things\ncapabilities: [find]'),
      ben: agent('description: Finds and files\ncapabilities: [find, file]\nevaluator: {model: demo/other}'),
      cyd: agent('description: Talks\ncapabilities: [find]'),
      dan: agent('description: Files'),
    },
    tasks: { seek: { description: 'Find the key', requirements: ['find'] } },
    script: `
- {agent: ana, task: '*.bid-*', call: [{place_bid: {proceed: true, able: true, fitness: 6, reason: I can.}}]}
- {agent: ben, task: '*.bid-*', call: [{place_bid: {proceed: true, able: true, fitness: 9, reason: Made for it.}}]}
- {agent: cyd, task: '*.bid-*', say: YES I WILL PROCEED}
- {agent: ben, task: seek, say: Under the mat.}
`,
    results: { seek: 'Under the mat.' },
    calls: 5,
    // A death costs what is in flight: two bids, and both tries of whoever had just given up, and is asked anew as after any end.
    slack: 2,
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
- {agent: ana, when: '/two[^]*What came of first/', say: "2"}
- {agent: ana, when: one, say: "1"}
`,
    results: { first: '1', second: '2', lost: /there is no agent nobody-known/ },
    calls: 2,
  },
  {
    name: 'messages in an inbox, one of them twice and one that is none',
    agents: { planner: agent('description: Plans') },
    files: {
      'inbox/slack-messages.jsonl': [
        '{"from":"sarah","text":"Is Redis up?"}',
        'not json',
        '{"id":"m2","from":"tom","text":"Lunch?"}',
        '{"id":"m2","from":"tom","text":"Lunch?"}',
        '{"from":"half',
      ].join('\n'),
    },
    tasks: {},
    script: `
- {agent: planner, when: Redis, say: It is up.}
- {agent: planner, when: Lunch, say: At noon.}
`,
    results: {
      'inbox-slack-messages-2d43e7d708c5fea8deb0': 'It is up.',
      'inbox-slack-messages-ba4f5c821fddb158b8ce': 'At noon.',
    },
    calls: 2,
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
    results: { gate: 'done by hand', after: 'Done after all.', gone: /its line was taken off/, new: 'Fresh.' },
    calls: 2,
    check(disk) {
      const text = textOf(disk, 'tasks/plan.task.md');
      const shape =
        /^## TODO\n- \[x\] @ana "Gate" id: gate depends_on: never\n- \[x\] @ben "After" .*\n {2}completed_at: .*\n- \[x\] @ana "Fresh" id: new\n {2}completed_at: .*\n$/;
      return shape.test(text) ? [] : [`the board reads ${JSON.stringify(text)}`];
    },
  },
  {
    name: 'three who talk in one conversation each ask each other in a ring, and one has to give way',
    agents: {
      ann: agent('description: Has the numbers\nsession: shared\ntools: [delegate_to_agent]\nagents: [ben]'),
      ben: agent('description: Reviews\nsession: shared\ntools: [delegate_to_agent]\nagents: [cyd]'),
      cyd: agent('description: Has the code\nsession: shared\ntools: [delegate_to_agent]\nagents: [ann]'),
    },
    tasks: {
      a: { description: 'Report', to: 'ann' },
      b: { description: 'Review', to: 'ben' },
      c: { description: 'Release', to: 'cyd' },
    },
    script: `
- {agent: ann, task: a, turn: 1, call: [{delegate_to_agent: {agent: ben, task: review my numbers}}]}
- {agent: ben, task: b, turn: 1, call: [{delegate_to_agent: {agent: cyd, task: show me the code}}]}
- {agent: cyd, task: c, turn: 1, call: [{delegate_to_agent: {agent: ann, task: give me the numbers}}]}
- {task: [a, b, c], turn: 2, when: deadlock, say: Done alone.}
- {task: [a, b, c], turn: 2, when: each waited for the next, say: Done alone.}
- {task: [a, b, c], turn: 2, say: Done together.}
- {task: '*.call-*', say: Here you are.}
`,
    results: { a: /^Done (alone|together)\.$/, b: /^Done (alone|together)\.$/, c: /^Done (alone|together)\.$/ },
    calls: 8,
    // Where nobody is in a hurry, the ring never closes, and all three are helped.
    slack: 1,
  },
  {
    name: 'two that only depend on each other fail, and the coordinator is asked once to see to their work',
    agents: { ann: agent('description: Paints'), boss: agent('description: Leads') },
    files: { 'guild.yaml': 'coordination: { coordinator: boss }\n' },
    tasks: {
      paint: { description: 'Paint the door', to: 'ann', dependencies: ['hang'] },
      hang: { description: 'Hang the door', to: 'ann', dependencies: ['paint'] },
    },
    script: '- {agent: boss, say: We have a curtain.}',
    results: { paint: /form a cycle/, hang: /form a cycle/ },
    calls: 1,
    check: (disk) => {
      const asked = disk.list(path.join(ROOT, 'tasks/completed')).filter((name) => name.startsWith('deadlock-'));
      return asked.length === 1 ? [] : [`the coordinator was asked ${asked.length} times`];
    },
  },
  {
    name: 'states: working, blocked, working, waiting, complete',
    agents: {
      lead: agent('description: Leads\ntools: [delegate_to_agent]\nagents: [mid]'),
      mid: agent('description: Between\ntools: [delegate_to_agent]\nagents: [leaf]'),
      leaf: agent('description: Does it'),
    },
    files: { 'bus/state.jsonl': '' },
    tasks: { top: { description: 'Do it', to: 'lead' } },
    script: `
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: mid, task: do it}}]}
- {agent: mid, turn: 1, call: [{delegate_to_agent: {agent: leaf, task: do it}}]}
- {agent: leaf, say: It is done.}
- {agent: mid, turn: 2, say: It is done there.}
- {agent: lead, turn: 2, say: All is done.}
`,
    results: { top: 'All is done.' },
    calls: 5,
    check: historyEnd,
  },
  {
    name: 'a note on a channel is heard by its reader before the next turn',
    agents: { ana: agent('description: Looks'), ben: agent('description: Drives') },
    files: {
      'guild.yaml': 'channels: { news: { writers: [ana], readers: [ben] } }\n',
      'bus/state.jsonl': '',
    },
    tasks: { a: { description: 'Look', to: 'ana' }, b: { description: 'Drive', to: 'ben', dependencies: ['a'] } },
    script: `
- {agent: ana, turn: 1, call: [{broadcast: {channel: news, message: The bridge is gone}}]}
- {agent: ana, turn: 2, say: Told.}
- {agent: ben, when: The bridge is gone, say: By the other road.}
`,
    results: { a: 'Told.', b: 'By the other road.' },
    calls: 3,
  },
  {
    name: 'a root is over when everything under it is, also what somebody else put there',
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
