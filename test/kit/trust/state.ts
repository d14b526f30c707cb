/**
 * A state folder of the user that belongs to this test file: tests never touch the real one.
 * Import it wherever a workspace is opened.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { acceptTrust } from '../../../src/app/trust/trust.js';

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-state-')));
process.env['GUILD_STATE'] = folder;
process.env['GUILD_CONFIG'] = path.join(folder, 'config');
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** Trusts the workspace as it is, as a person who has looked at it would. */
export function trust(root: string, env: Record<string, string | undefined> = {}): void {
  acceptTrust(root, env);
}
