/**
 * Every tool goes through the gate: nothing happens before the yes, the tool acts once after it,
 * and a no reaches the model as a refusal.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalOf } from '../../../src/domain/task/approval.js';
import { roleFacts, ROLE_NAMES } from '../../../src/domain/task/role.js';
import { answerApproval } from '../../../src/engine/approvals/answers.js';
import { isBuilt, toolbox } from '../../../src/tools/toolbox.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { agent, writeStory } from '../../kit/stories/story.js';

interface Use {
  args: Record<string, unknown>;
  /** The text that shows that it acted, searched in every file of the workspace. */
  shows: RegExp;
}

/** Tools that create a child: after the yes its agent works. */
const ASKS: Record<string, Use> = {
  delegate_to_agent: { args: { agent: 'hand', task: 'help' }, shows: /Here is help/ },
  create_task: { args: { agent: 'hand', description: 'help' }, shows: /Here is help/ },
  request_dependency: { args: { type: 'expertise', need: 'help', expertise: ['helping'] }, shows: /Here is help/ },
  request_help: { args: { context: 'helping with help', capabilities: ['helping'] }, shows: /Here is help/ },
  break_down: {
    args: {
      parts: [
        { key: 'one', description: 'help with the left side', agent: 'hand' },
        { key: 'two', description: 'carry the long table upstairs', agent: 'hand' },
      ],
    },
    shows: /Here is help/,
  },
};

const OTHERS: Record<string, Use> = {
  read_file: { args: { path: 'memory/a.md' }, shows: /The secret word is plum/ },
  write_file: { args: { path: 'b.md', content: 'written' }, shows: /^written$/ },
  get_file_info: { args: { path: 'memory/a.md' }, shows: /"kind":"text file"/ },
  list_directory: { args: { path: 'memory' }, shows: /a\.md/ },
  create_directory: { args: { path: 'new' }, shows: /creat/ },
  search_files: { args: { query: 'plum' }, shows: /plum/ },
  execute_command: { args: { command: 'podman ps' }, shows: /NAMES/ },
  query_tasks: { args: { query: 'SELECT id FROM tasks' }, shows: /\{"id":"top"\}/ },
  update_task: { args: { status: 'completed', note: 'It is done so.' }, shows: /It is done so/ },
  reassign_task: { args: { id: 'ghost', agent: 'hand' }, shows: /there is no task ghost/ },
  send_message: { args: { to: 'sleeper', message: 'Wake up' }, shows: /Wake up/ },
  list_active_sessions: { args: {}, shows: /waits_for|"state"/ },
  read_session: { args: { session: 'lead-top' }, shows: /session_id: lead-top/ },
  edit_session: { args: { session: 'nobody', content: 'x' }, shows: /not_found|bad_file|there is no/ },
  create_agent: { args: { name: 'fresh', content: agent('description: New') }, shows: /description: New/ },
  broadcast: { args: { message: 'Fire', channel: 'news' }, shows: /Posted on the channel news/ },
  give_back: { args: { resource: 'staging' }, shows: /staging/ },
  provide_dependency: { args: { status: 'resolved', data: 'x' }, shows: /no agent asked you/ },
  system_status: { args: {}, shows: /Disk of the workspace: / },
  load_skill: { args: { name: 'cooking' }, shows: /there is no skill cooking/ },
  web_fetch: { args: { url: 'not an address' }, shows: /is not an address/ },
  final_report: { args: { report: 'The whole story.' }, shows: /The whole story/ },
};

/** A role requires or adds most of these. Nobody asks for their approval. */
const OF_ROLES = new Set([
  ...ROLE_NAMES.flatMap((role) => {
    const { requiredTool, onlyTools = [], addedTools = [] } = roleFacts(role);
    return [...(requiredTool === undefined ? [] : [requiredTool]), ...onlyTools, ...addedTools];
  }),
  'route_to',
  // A question goes to a person directly; an approval of it would ask that person twice.
  'ask_human',
]);

test('no tool is left out of this test', () => {
  const covered = new Set([...Object.keys(ASKS), ...Object.keys(OTHERS), ...OF_ROLES]);
  const missing = [...toolbox().keys()].filter((name) => isBuilt(name) && !covered.has(name));
  assert.deepEqual(missing, []);
});

interface Scene {
  disk: SimDisk;
  proc: Proc;
}

async function asked(tool: string, args: Record<string, unknown>): Promise<Scene> {
  const disk = simDisk();
  const call = JSON.stringify({ [tool]: args });
  const script = `
- {agent: lead, turn: 1, call: [${call}]}
- {agent: hand, say: Here is help.}
- {agent: lead, say: The end.}
- {agent: sleeper, call: [{execute_command: {command: wait}}]}
`;
  const agents = {
    lead: agent(`description: Leads\ntools: [${tool}, request_dependency]\napprove: {${tool}: ask}`),
    hand: agent('description: Helps with helping\ncapabilities: [helping]\nexpertise: [helping, help]'),
    sleeper: agent('description: Waits\ntools: [execute_command]'),
  };
  const tasks = {
    top: { description: 'Go', to: 'lead' },
    ...(tool === 'send_message' ? { rest: { description: 'Wait', to: 'sleeper' } } : {}),
  };
  const files = { 'memory/a.md': 'The secret word is plum', 'guild.yaml': 'channels: {news: {}}\n' };
  writeStory(disk, { name: '', agents, tasks, files, script, results: {}, calls: 0 });
  const proc = cluster(script, [tool, ...(tool === 'send_message' ? ['execute_command'] : [])]).start(disk);
  await untilQuiet(proc);
  return { disk, proc };
}

const approvalId = (proc: Proc): string | undefined =>
  [...proc.ports.tasks.open()].find(({ task }) => task.parent === 'top' && approvalOf(task) !== undefined)?.task.id;

/** Whether a file of the workspace shows it, apart from the agents' own files and the script. */
function shown({ disk }: Scene, what: RegExp): boolean {
  return [...disk.tree()].some(
    ([file, text]) => what.test(text) && !file.startsWith(`${ROOT}/memory`) && !file.startsWith(`${ROOT}/agents/hand`),
  );
}

for (const [tool, { args, shows }] of Object.entries({ ...ASKS, ...OTHERS })) {
  test(`${tool}: it acts after the yes`, async () => {
    const scene = await asked(tool, args);
    const id = approvalId(scene.proc);
    assert.ok(id !== undefined, 'the human is asked');
    const children = [...scene.proc.ports.tasks.open()].filter(({ task }) => task.parent === 'top');
    assert.equal(children.length, 1, 'nothing exists yet but the approval');
    await answerApproval(scene.proc.ports, id, { approved: true, by: 'human' }, 'test');
    await untilQuiet(scene.proc);
    assert.ok(shown(scene, shows), [...scene.disk.tree()].map(([file, text]) => `${file}\n${text}`).join('\n'));
    assert.doesNotMatch([...scene.disk.tree()].find(([file]) => file.includes('lead-top'))![1], /"approved"/);
    if (tool !== 'send_message') assert.equal((await scene.proc.ports.tasks.read('top'))?.state, 'completed');
  });

  test(`${tool}: it does nothing after a no`, async () => {
    const scene = await asked(tool, args);
    await answerApproval(scene.proc.ports, approvalId(scene.proc)!, { approved: false, by: 'human' }, 'test');
    await untilQuiet(scene.proc);
    const session = [...scene.disk.tree()].find(([file]) => file.includes('lead-top'))![1];
    assert.match(session, /the human refused this action/);
    if (tool in ASKS) assert.ok(!shown(scene, shows), 'no child was created');
  });
}
