/** The person and the machine, where several people may answer: `ana@laptop`. */
import os from 'node:os';

export function deskName(): string {
  return `${os.userInfo().username}@${os.hostname()}`;
}
