/**
 * Offline search: the files of the workspace that the agent may read. The program searches, by the
 * rules of its file tools, so secrets and other agents' conversations are left out.
 */
const FOLDERS = ['context', 'memory', 'results', 'docs'];
const HEAD = `No web search is configured (plugins.web in guild.yaml). Results from files in ${FOLDERS.join('/, ')}/:`;

/** `search` is the search of file tools, for the agent that calls. */
export async function searchFiles(search, query, limit) {
  const found = [];
  for (const under of FOLDERS) {
    const reply = await search(query, { under, limit });
    if (reply.ok) found.push(...reply.value); // a folder may be missing
  }
  found.sort((a, b) => b.score - a.score);
  const lines = found
    .slice(0, limit)
    .map(({ path, line, text }) => JSON.stringify({ url: `${path}:${line}`, text: text.slice(0, 300) }));
  return { success: true, content: [HEAD, ...(lines.length > 0 ? lines : ['No results.'])].join('\n') };
}
