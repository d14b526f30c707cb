/** The tools of this program and their names in other programs. */

/** Names of tools in this program's design, whether or not this build has them. */
export const TOOL_NAMES: ReadonlySet<string> = new Set(
  [
    'read_file write_file list_directory search_files create_directory query_tasks create_task update_task execute_command',
    'send_message broadcast list_active_sessions read_session edit_session slack_send slack_read delegate_to_agent route_to',
    'vote_conclude request_help request_dependency give_back provide_dependency create_agent final_report',
  ].flatMap((line) => line.split(' ')),
);

export const READ_ONLY_TOOLS = ['read_file', 'list_directory', 'search_files'];

/** Our tools, and the names in lower case under which Claude Code, Copilot and others know them. */
const THEIR_NAMES: [string[], string][] = [
  [['read_file'], 'read notebookread readfile'],
  [['write_file'], 'write edit multiedit editfiles createfile'],
  [['execute_command'], 'bash shell execute runcommands runinterminal powershell'],
  [['search_files'], 'grep search codebase usages textsearch'],
  [['list_directory', 'search_files'], 'glob ls filesearch'],
  [['list_directory'], 'listdir'],
  [['delegate_to_agent'], 'task agent runsubagent'],
  [[...READ_ONLY_TOOLS, 'write_file', 'execute_command', 'delegate_to_agent'], '*'],
];

/** Undefined if there is no counterpart. `server/Read` is `Read`. */
export function ourToolsFor(name: string): string[] | undefined {
  const plain = name.replace(/^.*\//, '').toLowerCase();
  return THEIR_NAMES.find(([, names]) => names.split(' ').includes(plain))?.[0];
}
