/**
 * A person with an editor, as a process: `person.mjs <session file> <edits> <seed>`. It adds,
 * changes and removes messages, and saves as editors do: by renaming, in place, or by appending.
 * Every added sentence has a mark, and it prints which marks it kept and which it removed.
 */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [file, edits, seed] = process.argv.slice(2);
const random = mulberry(Number(seed));
const standing = new Set();
const removed = new Set();
let lastSaved = 0;
const ways = { rename: 0, over: 0, append: 0 };

for (let n = 1; n <= Number(edits); n++) {
  await sleep(20 + random() * 60);
  await somebodyElseWrote();
  const text = await whole();
  const items = text.split(/^(?= {2}- role: )/m);
  const kind = random();
  if (kind < 0.4) {
    fs.appendFileSync(file, message(mark(n)));
    ways.append++;
  } else if (kind < 0.65) save([...items, message(mark(n))]);
  else if (kind < 0.85) change(items, n);
  else remove(items);
  lastSaved = fs.statSync(file).mtimeMs;
}
process.stdout.write(JSON.stringify({ standing: [...standing], removed: [...removed], ways }));

function mark(n) {
  const text = `person-${String(n).padStart(3, '0')}`;
  standing.add(text);
  return text;
}

function message(text) {
  return `  - role: user\n    content: ${text} asks you to go on\n`;
}

/** Rewords a message of the model. */
function change(items, n) {
  const said = items.flatMap((item, at) =>
    /^ {2}- role: assistant/.test(item) && /content: .*Step \d+/.test(item) ? [at] : [],
  );
  if (said.length === 0) return;
  const at = said[Math.floor(random() * said.length)];
  items[at] = items[at].replace(/Step \d+[^"'\n]*/, (words) => {
    for (const [old] of words.matchAll(/person-\d+/g)) {
      standing.delete(old);
      removed.add(old);
    }
    return `Step as ${mark(n)} puts it`;
  });
  save(items);
}

function remove(items) {
  const own = items.flatMap((item, at) => (/^ {2}- role: user\n {4}content: person-/.test(item) ? [at] : []));
  if (own.length === 0) return;
  const [gone] = items.splice(own[Math.floor(random() * own.length)], 1);
  const [old] = /person-\d+/.exec(gone);
  standing.delete(old);
  removed.add(old);
  save(items);
}

function save(items) {
  const text = items.join('');
  if (random() < 0.5) {
    fs.writeFileSync(`${file}.swp`, text);
    fs.renameSync(`${file}.swp`, file);
    ways.rename++;
  } else {
    fs.writeFileSync(file, text); // truncated, then written
    ways.over++;
  }
}

/**
 * The person and the agent take turns roughly; the person does not wait for an agent that itself
 * waits for a half-saved file.
 */
async function somebodyElseWrote() {
  const mine = lastSaved;
  for (let waited = 0; waited < 250 && fs.statSync(file).mtimeMs === mine; waited += 10) await sleep(10);
}

/** A file that ends in the middle of a line is there only for a moment. */
async function whole() {
  for (;;) {
    const text = fs.readFileSync(file, 'utf8');
    if (text.endsWith('\n')) return text;
    await sleep(1);
  }
}

function mulberry(a) {
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
