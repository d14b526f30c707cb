/**
 * The last changes of a killed process may be in no list. Until a full look after its death,
 * changes in the program's folders are not mistaken for a person's changes.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isProgramsOwn } from './covered.js';
import { statNow } from './files-now.js';

interface Killed {
  /**
   * Notes that a process was killed: it left a list without a message. Call before the list is
   * removed.
   */
  note(): void;
  /** Tells whether a killed process may have made the last change of this file. */
  isVictims(): (name: string) => boolean;
  /** Everything has been looked at. */
  forget(): void;
}

export function killed(root: string, folder: string): Killed {
  const file = path.join(folder, 'killed');
  return {
    note: () => fs.writeFileSync(file, ''),
    isVictims() {
      const noted = statNow(file);
      if (noted === undefined || noted === 'unreadable') return () => false;
      return (name) => {
        const stat = isProgramsOwn(name) ? statNow(path.join(root, name)) : 'unreadable';
        return stat !== 'unreadable' && (stat === undefined || stat.ctimeMs <= noted.mtimeMs);
      };
    },
    forget: () => fs.rmSync(file, { force: true }),
  };
}
