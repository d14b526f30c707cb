/** Stories about unassigned work: bids, breakdowns, and new agents when no agent fits. */
import { agent, mark, type Story } from './story.js';

export const SWARM: Story[] = [
  {
    name: 'a breakdown resolves a doubtful duplicate, runs its parts in order and combines their results',
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
- {agent: chief, task: "*.same", when: possibly the same as old, call: [{name_duplicates: {duplicates: [schema]}}]}
- {agent: hand, task: old, say: one table}
- {agent: hand, task: "*.model", say: id and name}
- {agent: hand, task: "*.routes", when: id and name, say: GET and POST}
- {agent: chief, task: api, when: GET and POST, say: It is built.}
`,
    results: { api: 'It is built.', old: 'one table' },
    calls: 6,
  },
  {
    name: 'if no agent fits, a new one is drafted, tried and approved, and does the task',
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
    name: 'three agents bid for a task, one of them in prose',
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
    // Calls in flight at a crash are made again: two bids, or two attempts of one agent.
    slack: 2,
  },
];
