/** Offline search: files of the workspace, ranked by how many query words they contain. */
import * as fs from 'node:fs';
import * as path from 'node:path';

const FOLDERS = ['context', 'memory', 'results', 'docs'];
const MAX_FILES = 5000;
const MAX_BYTES = 256 * 1024;

export function searchFiles(workspace, query, limit) {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])];
  const results = [];
  for (const file of textFiles(workspace)) {
    const text = fs.readFileSync(path.join(workspace, file), 'utf8');
    const lower = text.toLowerCase();
    const matches = words.filter((word) => lower.includes(word));
    if (matches.length > 0) results.push({ file, score: matches.length / words.length, text: bestLines(text, words) });
  }
  results.sort((a, b) => b.score - a.score || (a.file < b.file ? -1 : 1));
  const lines = results
    .slice(0, limit)
    .map(({ file, text }) => JSON.stringify({ title: path.basename(file), url: file, text }));
  const head = `No web search is configured (plugins.web in guild.yaml). Results from files in ${FOLDERS.join('/, ')}/:`;
  return { success: true, content: [head, ...(lines.length > 0 ? lines : ['No results.'])].join('\n') };
}

function bestLines(text, words) {
  const scored = text.split('\n').map((line, at) => {
    const lower = line.toLowerCase();
    return { line: line.trim(), at, score: words.filter((word) => lower.includes(word)).length };
  });
  const best = scored.toSorted((a, b) => b.score - a.score || a.at - b.at).slice(0, 3);
  return best
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => a.at - b.at)
    .map(({ line }) => line.slice(0, 300))
    .join('\n');
}

/** Regular files only: a link could lead anywhere. */
function* textFiles(workspace) {
  let count = 0;
  const queue = [...FOLDERS];
  while (queue.length > 0) {
    const folder = queue.shift();
    let entries;
    try {
      if (fs.lstatSync(path.join(workspace, folder)).isSymbolicLink()) continue;
      entries = fs.readdirSync(path.join(workspace, folder), { withFileTypes: true });
    } catch {
      continue; // missing
    }
    for (const entry of entries) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) queue.push(file);
      else if (entry.isFile() && /\.(md|txt|json|yaml|yml|csv|html?)$/i.test(entry.name) && ++count <= MAX_FILES) {
        if (fs.statSync(path.join(workspace, file)).size <= MAX_BYTES) yield file;
      }
    }
  }
}
