/**
 * A state folder of the user that belongs to this test file: tests never touch the real one.
 * Import it wherever a workspace is opened.
 */
import path from 'node:path';
import { tempFolder } from '../temp/folder.js';
import { acceptTrust } from '../../../src/app/trust/trust.js';

const folder = tempFolder('state');
process.env['GUILD_STATE'] = folder;
process.env['GUILD_CONFIG'] = path.join(folder, 'config');

/** Trusts the workspace as it is, as a person who has looked at it would. */
export function trust(root: string, env: Record<string, string | undefined> = {}): void {
  acceptTrust(root, env);
}
