/** All tools by name, and their descriptions for a model that reads them in its prompt. */
import { askHuman } from './people/ask-human.js';
import { assignProvider } from './coordination/assign-provider.js';
import { breakDown, nameDuplicates } from './tasks/break-down.js';
import { createAgent } from './agents/create-agent.js';
import { createDirectory } from './files/create-directory.js';
import { createTask } from './tasks/create-task.js';
import { delegateToAgent } from './tasks/delegate-to-agent.js';
import { draftAgent, judgeTrial } from './agents/draft-agent.js';
import { editSession } from './conversations/edit-session.js';
import { executeCommand } from './shell/execute-command.js';
import { finalReport } from './tasks/final-report.js';
import { giveBack } from './coordination/release-resource.js';
import { giveVerdict } from './tasks/give-verdict.js';
import { listDirectory } from './files/list-directory.js';
import { placeBid } from './tasks/place-bid.js';
import { provideDependency } from './coordination/provide-dependency.js';
import { queryTasks } from './tasks/query-tasks.js';
import { getFileInfo } from './files/get-file-info.js';
import { readFile } from './files/read-file.js';
import { reassignTask } from './tasks/reassign-task.js';
import { requestDependency } from './coordination/request-dependency.js';
import { requestHelp } from './coordination/request-help.js';
import { routeTo } from './tasks/route-to.js';
import { searchFiles } from './files/search-files.js';
import { sendMessage } from './conversations/send-message.js';
import { loadSkill } from './skills/load-skill.js';
import { listActiveSessions, readSession } from './conversations/sessions.js';
import { broadcast, concludeTeam, voteConclude } from './conversations/team.js';
import { toolProblem } from './core/define-tool.js';
import type { Tool } from './core/tool.js';
import { systemStatus } from './machine/system-status.js';
import { updateTask } from './tasks/update-task.js';
import { webFetch } from './web/web-fetch.js';
import { writeFile } from './files/write-file.js';

const BUILT: readonly Tool[] = [
  readFile,
  writeFile,
  listDirectory,
  getFileInfo,
  createDirectory,
  searchFiles,
  executeCommand,
  systemStatus,
  webFetch,
  loadSkill,
  delegateToAgent,
  queryTasks,
  createTask,
  breakDown,
  nameDuplicates,
  updateTask,
  reassignTask,
  sendMessage,
  listActiveSessions,
  readSession,
  editSession,
  createAgent,
  draftAgent,
  judgeTrial,
  routeTo,
  broadcast,
  voteConclude,
  concludeTeam,
  giveVerdict,
  placeBid,
  requestDependency,
  giveBack,
  provideDependency,
  assignProvider,
  requestHelp,
  askHuman,
  finalReport,
];

/**
 * Tools of plugins that agent files may name although the plugin is off, each with an alternative.
 */
const UNBUILT: Record<string, string> = {
  slack_send: 'put the message into your answer',
  slack_read: 'read the files under inbox/ with read_file',
};

/** Every name that an agent file may list. */
export const KNOWN_TOOLS: ReadonlySet<string> = new Set([...BUILT.map((tool) => tool.name), ...Object.keys(UNBUILT)]);

/** Every known tool. One that cannot run says so when it is called; `isBuilt` tells them apart. */
export function toolbox(): Map<string, Tool> {
  const tools = [...BUILT, ...Object.entries(UNBUILT).map(([name, instead]) => unbuilt(name, instead))];
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** Whether it can run. A tool that cannot run is not offered to a model. */
export function isBuilt(name: string): boolean {
  return BUILT.some((tool) => tool.name === name);
}

/**
 * For `{{tool_descriptions}}` in a prompt: one line per tool, with the first sentence of its
 * description. The model gets the rest, and the arguments, with the tools themselves.
 */
export function toolDescriptions(tools: Iterable<Pick<Tool, 'name' | 'description'>>): string {
  return [...tools].map(({ name, description }) => `- ${name}: ${firstSentence(description)}`).join('\n');
}

const LINE_CHARS = 200;

function firstSentence(text: string): string {
  const [line = ''] = text.trim().split('\n');
  const sentence = /^.*?[.!?](?=\s+\p{Lu}|$)/u.exec(line)?.[0] ?? line;
  return sentence.length > LINE_CHARS ? `${sentence.slice(0, LINE_CHARS - 1)}…` : sentence;
}

function unbuilt(name: string, instead: string): Tool {
  return {
    name,
    kind: 'pure',
    description: 'Not available here: do not call it.',
    parameters: { type: 'object', additionalProperties: true },
    run: () => toolProblem('not_allowed', `${name} is not available here; ${instead}`),
  };
}
