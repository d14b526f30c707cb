/** The person's input of earlier chats, for the arrow keys. No other user can read the file. */
import { attempt } from '../../../domain/attempt.js';
import fs from 'node:fs';
import path from 'node:path';

const MAX_LINES = 500;

interface History {
  lines: string[];
  add(text: string): void;
}

export function openHistory(root: string): History {
  const file = path.join(root, '.guild', 'chat-history.jsonl');
  const lines = read(file);
  return {
    lines,
    add(text) {
      if (text.trim() === '' || lines.at(-1) === text) return;
      lines.push(text);
      try {
        if (lines.length <= MAX_LINES) fs.appendFileSync(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
        else {
          lines.splice(0, lines.length - MAX_LINES / 2);
          const tmp = `${file}.${process.pid}`;
          fs.writeFileSync(tmp, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
          fs.renameSync(tmp, file);
        }
      } catch {
        // A history that cannot be written affects only the arrow keys.
      }
    },
  };
}

function read(file: string): string[] {
  const lines = attempt(() => fs.readFileSync(file, 'utf8'), '').split('\n');
  return lines.flatMap((line): string[] => {
    const text: unknown = attempt(() => JSON.parse(line));
    return typeof text === 'string' ? [text] : [];
  });
}
