/** Where there is no web: the workspace's own texts, ranked by how many of the words of the query they hold, each with its best lines. */
import * as fs from 'node:fs';
import * as path from 'node:path';

const FOLDERS = ['context', 'memory', 'results', 'docs'];
const MAX_FILES = 5000;
const MAX_BYTES = 256 * 1024;

export function searchFiles(workspace, query, limit) {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])];
  const found = [];
  for (const file of texts(workspace)) {
    const text = fs.readFileSync(path.join(workspace, file), 'utf8');
    const lower = text.toLowerCase();
    const held = words.filter((word) => lower.includes(word));
    if (held.length > 0) found.push({ file, score: held.length / words.length, text: bestLines(text, words) });
  }
  found.sort((a, b) => b.score - a.score || (a.file < b.file ? -1 : 1));
  const lines = found
    .slice(0, limit)
    .map(({ file, text }) => JSON.stringify({ title: path.basename(file), url: file, text }));
  const head = `No web search is set up ("web" under "plugins" in guild.yaml); these are files under ${FOLDERS.join('/, ')}/:`;
  return { success: true, content: [head, ...(lines.length > 0 ? lines : ['Nothing was found.'])].join('\n') };
}

function bestLines(text, words) {
  const scored = text.split('\n').map((line, at) => {
    const lower = line.toLowerCase();
    return { line: line.trim(), at, score: words.filter((word) => lower.includes(word)).length };
  });
  const best = scored.toSorted((a, b) => b.score - a.score || a.at - b.at).slice(0, 3);
  return best
    .filter((one) => one.score > 0)
    .toSorted((a, b) => a.at - b.at)
    .map((one) => one.line.slice(0, 300))
    .join('\n');
}

/** Plain files only: a link could lead anywhere. */
function* texts(workspace) {
  let count = 0;
  const left = [...FOLDERS];
  while (left.length > 0) {
    const folder = left.shift();
    let entries;
    try {
      if (fs.lstatSync(path.join(workspace, folder)).isSymbolicLink()) continue;
      entries = fs.readdirSync(path.join(workspace, folder), { withFileTypes: true });
    } catch {
      continue; // not there
    }
    for (const entry of entries) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) left.push(file);
      else if (entry.isFile() && /\.(md|txt|json|yaml|yml|csv|html?)$/i.test(entry.name) && ++count <= MAX_FILES) {
        if (fs.statSync(path.join(workspace, file)).size <= MAX_BYTES) yield file;
      }
    }
  }
}
