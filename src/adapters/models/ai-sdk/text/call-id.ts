/**
 * Ids of tool calls as they are sent: nine letters and digits, which every provider accepts. A
 * conversation may change its provider, so the same call always gets the same id.
 */
import { hash } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function callId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  const bytes = hash('sha256', id, 'buffer');
  return Array.from({ length: 9 }, (_, at) => LETTERS[bytes.readUInt16BE(2 * at) % LETTERS.length]).join('');
}
