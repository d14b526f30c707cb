/**
 * Reads every task and conversation repeatedly while others write, until its input ends, without
 * product code. A task file must always be complete. A conversation grows by appending: a reader
 * may see a partial last item, but it must be complete a moment later.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const root = process.argv[2];
// a killed writer's last item is repaired when another process takes over the task
const PATIENCE_MS = 120_000;
const STATES = ['pending', 'active', 'waiting', 'completed', 'failed'];
let going = true;
process.stdin.on('end', () => (going = false)).resume();

let reads = 0;
let partSeen = 0;
const torn = [];
const broken = new Map();
const known = new Map();
while (going) {
  for (const state of STATES) each(path.join(root, 'tasks', state), task);
  each(path.join(root, 'sessions'), session);
  each(path.join(root, 'results'), page);
  each(path.join(root, '.guild/run'), lines);
  each(path.join(root, 'events'), lines);
  await new Promise((resolve) => setTimeout(resolve, 20));
}
process.stdout.write(JSON.stringify({ reads, torn, partSeen }));

function each(folder, read) {
  for (const name of list(folder)) {
    if (name.endsWith('.leaving')) continue; // its content is being replaced
    const file = path.join(folder, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat === undefined || known.get(file) === `${stat.ino} ${stat.size} ${stat.mtimeMs}`) continue;
    const text = textOf(file);
    if (text === undefined) continue;
    reads++;
    if (read(file, text)) known.set(file, `${stat.ino} ${stat.size} ${stat.mtimeMs}`);
  }
}

function task(file, text) {
  try {
    const record = JSON.parse(text);
    if (typeof record.description !== 'string') throw new Error('it has no description');
    return true;
  } catch (error) {
    torn.push(`${file}: ${error.message}: ${JSON.stringify(text.slice(0, 200))}`);
    return false;
  }
}

function page(file, text) {
  if (!/^# .+\n\n[^]*\n$/.test(text)) torn.push(`${file}: ${JSON.stringify(text.slice(0, 200))}`);
  return true;
}

/** The first line is whole from the start; a last line without its newline is being written. */
function lines(file, text) {
  const all = text.split('\n').slice(0, -1);
  try {
    if (all.length === 0) throw new Error('it has no line');
    for (const line of all) JSON.parse(line);
  } catch (error) {
    torn.push(`${file}: ${error.message}: ${JSON.stringify(text.slice(0, 200))}`);
  }
  return true;
}

function session(file, text) {
  if (!file.endsWith('.session.yaml')) return true;
  const why = faultOf(text);
  if (why === undefined) {
    broken.delete(file);
    return true;
  }
  const before = broken.get(file);
  if (before === undefined) {
    partSeen++;
    broken.set(file, { since: Date.now() });
  } else if (Date.now() - before.since > PATIENCE_MS && !before.reported) {
    before.reported = true;
    torn.push(`${file}: ${why}`);
  }
  return false;
}

function faultOf(text) {
  try {
    const { session_id: id, messages } = parse(text);
    if (typeof id !== 'string' || !Array.isArray(messages)) return 'not a session';
    const bad = messages.find((one) => typeof one?.role !== 'string' || typeof one.timestamp !== 'string');
    return bad === undefined ? undefined : `a message is cut: ${JSON.stringify(bad)}`;
  } catch (error) {
    return error.message;
  }
}

function list(folder) {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
