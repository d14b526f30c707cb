/** Stories about patterns in agent files, and about agents that ask each other. */
import { textOf } from '../endings.js';
import { agent, type Story } from './story.js';

export const PATTERNS: Story[] = [
  {
    name: 'delegation to two agents in one turn',
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
    name: 'results of background tasks come back as messages',
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
- {agent: lead, when: that you gave to, say: Both are back.}
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
    name: 'two agents ask an advisor with capacity for one',
    agents: {
      boss: agent('description: Decides\nadvisors: [legal]'),
      legal: agent('description: Law\nmax_concurrent_tasks: 1'),
    },
    tasks: { plan: { description: 'Shall we?', to: 'boss' }, deal: { description: 'And this?', to: 'boss' } },
    script: `
- {agent: legal, say: It is lawful.}
- {agent: boss, when: It is lawful, say: Yes then.}
`,
    results: { plan: 'Yes then.', deal: 'Yes then.' },
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
    name: 'a goal check sends the work back once, then accepts it',
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
- {agent: desk, task: odd.work, say: I cannot route that.}
- {agent: billing, when: be kind, say: It is mended.}
- {agent: support, when: Sing, say: La la.}
- {agent: scribe, when: It is mended, say: "Dear customer: mended."}
- {agent: scribe, when: La la, say: "Dear customer: la la."}
`,
    results: { bill: 'Dear customer: mended.', odd: 'Dear customer: la la.' },
    calls: 8,
  },
  {
    name: 'a team of three with one failing member reaches consensus',
    agents: {
      chair: agent('description: Chairs\nteam: {members: [ann, ben, cyd], terminationMode: consensus, maxRounds: 4}'),
      ann: agent('description: A'),
      ben: agent('description: B'),
      cyd: agent('description: C\nmodel: nobody/knows'),
    },
    tasks: { plan: { description: 'Red or blue?', to: 'chair' } },
    script: `
- {agent: ann, task: "*-1", turn: 1, call: [{broadcast: {message: I like red}}]}
- {agent: ben, task: "*-1", say: I like blue}
- {agent: ann, task: "*-2", turn: 1, when: I like blue, call: [{broadcast: {message: blue then}}, {vote_conclude: {reason: agreed}}]}
- {agent: ben, task: "*-2", turn: 1, when: I like red, call: [{vote_conclude: {}}]}
- {agent: chair, when: blue then, say: Blue it is.}
`,
    results: { plan: 'Blue it is.' },
    calls: 5,
  },
  {
    name: "the last agent of a member's chain speaks and votes for it",
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
- {agent: ben, turn: 1, call: [{vote_conclude: {}}]}
- {agent: chair, when: '/all voted to conclude in round 1[^]*red then/', say: Red it is.}
`,
    results: { plan: 'Red it is.' },
    calls: 4,
  },
];
