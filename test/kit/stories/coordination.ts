/** Stories about coordination: dependencies, help, deadlocks, states, and notes on channels. */
import path from 'node:path';
import { historyEnd, onceAwarded } from '../endings.js';
import { ROOT } from '../cluster.js';
import { agent, type Story } from './story.js';

export const COORDINATION: Story[] = [
  {
    name: 'a coordinator names the provider, and a free agent helps',
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
    name: 'peers offer what another needs, and a resource is passed on',
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
    name: 'a resource is released before its task ends, and the waiting task continues',
    agents: {
      ana: agent('description: Prints\ntools: [request_dependency]'),
      ben: agent('description: Prints too\ntools: [request_dependency]'),
    },
    tasks: { a: { description: 'print A', to: 'ana' }, b: { description: 'print B', to: 'ben' } },
    // `a` can end only if `b` gets the printer first.
    script: `
- {agent: [ana, ben], turn: 1, call: [{request_dependency: {type: resource, need: to print, resource: printer}}]}
- {agent: ana, turn: 2, call: [{give_back: {resource: printer}}]}
- {agent: ana, turn: 3, call: [{request_dependency: {type: sequence, need: the other print, after: b}}]}
- {agent: [ana, ben], say: Printed.}
`,
    results: { a: 'Printed.', b: 'Printed.' },
    calls: 6,
  },
  {
    name: 'an agent gives a task that has not started to another one',
    agents: {
      boss: agent('description: Leads'),
      hand: agent('description: Is busy\ntools: [reassign_task]'),
      mate: agent('description: Is free'),
    },
    tasks: {
      top: { description: 'See to both', to: 'boss', dependencies: ['gate', 'job'] },
      gate: { description: 'Move the job', to: 'hand', parent: 'top' },
      job: { description: 'The job', to: 'hand', parent: 'top', dependencies: ['gate'] },
    },
    script: `
- {agent: hand, task: gate, turn: 1, call: [{reassign_task: {id: job, agent: mate}}]}
- {agent: hand, task: gate, turn: 2, when: goes to mate, say: Moved.}
- {agent: mate, task: job, say: Done by mate.}
- {agent: boss, say: All done.}
`,
    results: { top: 'All done.', gate: 'Moved.', job: 'Done by mate.' },
    calls: 4,
  },
  {
    name: 'three agents ask each other in a cycle, and one gives way',
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
    // If the timing avoids the cycle, all three are helped.
    slack: 1,
  },
  {
    name: 'two tasks that depend on each other fail, and the coordinator is asked once about them',
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
    name: 'a task waits for budget that its open children reserve',
    agents: {
      lead: agent('description: Leads\ntools: [create_task]'),
      hand: agent('description: Helps'),
    },
    // The first one reserves budget for its own child, so nothing is left for the third until the
    // first has ended without that child.
    tasks: { t: { description: 'Go', to: 'lead', budget: { children: 3 } } },
    script: `
- {agent: lead, turn: 1, call: [{create_task: {agent: hand, description: part 1}}]}
- {agent: lead, turn: 2, call: [{create_task: {agent: hand, description: part 2}}]}
- {agent: lead, turn: 3, call: [{create_task: {agent: hand, description: part 3}}]}
- {agent: hand, say: Done.}
- {agent: lead, say: All done.}
`,
    results: { t: 'All done.' },
    calls: 8,
    slack: 2,
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
    name: 'a reader sees a note on its channel before the next turn',
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
];
