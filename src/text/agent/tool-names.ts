/** The tools of this program and their names in other programs. */

/** Names of tools that agent files may use, whether or not this build has them. */
export const TOOL_NAMES: ReadonlySet<string> = new Set(
  [
    'read_file write_file list_directory get_file_info search_files create_directory query_tasks create_task update_task',
    'reassign_task execute_command system_status',
    'send_message broadcast list_active_sessions read_session edit_session slack_send slack_read delegate_to_agent route_to',
    'vote_conclude request_help request_dependency give_back provide_dependency create_agent final_report',
    'ask_human load_skill web_fetch web_search',
  ].flatMap((line) => line.split(' ')),
);

const READ_ONLY_TOOLS = ['read_file', 'list_directory', 'search_files'];

/** A pattern for the tools of plugins and MCP servers. It never matches a built-in tool. */
const EVERY_PLUGIN_TOOL = '*';

/**
 * The tools of an agent of another program whose file names none. In those programs such an agent
 * has every tool of the session except those that ask other agents. Each call goes through the
 * policy.
 */
export const INHERITED_TOOLS = [
  ...READ_ONLY_TOOLS,
  'write_file',
  'create_directory',
  'execute_command',
  'web_fetch',
  'load_skill',
  EVERY_PLUGIN_TOOL,
];

/** Our tools, and the names in lower case under which other programs know them. */
const THEIR_NAMES: [string[], string][] = [
  [['read_file'], 'read notebookread readfile read_many_files view'],
  [['write_file'], 'write edit multiedit notebookedit editfiles createfile replace patch apply_patch'],
  [['create_directory'], 'createdirectory'],
  [['execute_command'], 'bash shell execute runcommands runinterminal runtests run_shell_command terminal powershell'],
  [['search_files'], 'grep search codebase usages textsearch search_file_content grep_search'],
  [['list_directory', 'search_files'], 'glob ls filesearch'],
  [['list_directory'], 'list listdir listdirectory'],
  [['delegate_to_agent'], 'task agent runsubagent'],
  [['web_search'], 'websearch google_web_search'],
  [['web_fetch'], 'webfetch fetch'],
  [['web_fetch', 'web_search'], 'web'],
  [['send_message'], 'sendmessage'],
  [['create_task'], 'taskcreate'],
  [['query_tasks'], 'tasklist taskget taskoutput'],
  [['update_task'], 'taskupdate'],
  [['ask_human'], 'askuserquestion askquestions ask_user question'],
  [['load_skill'], 'skill activate_skill'],
  [[...INHERITED_TOOLS, 'delegate_to_agent'], '*'],
];

/** Groups of Copilot's own tools: `edit/editFiles`. Any other word before a slash is a server. */
const GROUPS = new Set('agent browser edit execute read search todo vscode web'.split(' '));

/**
 * Undefined if there is no counterpart. A tool of an MCP server, `mcp__server__tool` or
 * `server/tool`, is `server_tool` here; `*` as the tool, or none, means all of the server's tools.
 */
export function ourToolsFor(name: string): string[] | undefined {
  if (TOOL_NAMES.has(name)) return [name];
  const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? [];
  if (server !== undefined) return [serverTool(server, tool)];
  const [group, ...rest] = name.split('/');
  if (rest.length > 0 && !GROUPS.has(group!.toLowerCase())) return [serverTool(rest.at(-2) ?? group!, rest.at(-1))];
  return named(rest.at(-1) ?? group!) ?? (rest.length > 0 ? named(group!) : undefined);
}

function named(name: string): string[] | undefined {
  const plain = name.toLowerCase();
  return THEIR_NAMES.find(([, names]) => names.split(' ').includes(plain))?.[0];
}

/** As the tools of MCP servers are named. */
function serverTool(server: string, tool = '*'): string {
  const plain = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, '_');
  return `${plain(server)}_${tool === '*' ? '*' : plain(tool)}`.slice(0, 64);
}
