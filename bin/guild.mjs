#!/usr/bin/env node
/** The command `guild`. Only looks whether and how it can start; everything else is in src/cli. */
import fs from 'node:fs';
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`guild needs Node 20.19 or newer; this is Node ${process.versions.node}`);
  process.exit(1);
}
// Only this user can read the files that guild, its commands and git write.
process.umask(0o077);
// A window runs all day, and what it read of that code would stay in its memory.
if (process.argv[2] !== 'ui') keepCompiledCode();
const cli = new URL('../dist/bundle/guild.js', import.meta.url).href;
const { main } = await import(cli).catch((error) => {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || error.url !== cli) throw error;
  console.error('guild is not built yet; run: npm run build');
  process.exit(1);
});
process.exitCode = await main(process.argv.slice(2));

/**
 * From Node 22 on, commands start faster from compiled code. It is kept in the user's state folder,
 * which no workspace may contain: whoever can write it decides what guild does. See
 * src/adapters/trust/state-folder.ts.
 */
function keepCompiledCode() {
  const { GUILD_STATE, XDG_STATE_HOME, HOME } = process.env;
  const state = GUILD_STATE || path.join(XDG_STATE_HOME || path.join(HOME || os.homedir(), '.local/state'), 'guild');
  const folder = path.join(path.resolve(state), 'compiled');
  if (module.enableCompileCache === undefined || !isMine(path.dirname(folder)) || isInWorkspace(folder)) return;
  try {
    fs.mkdirSync(folder);
  } catch (error) {
    if (error.code !== 'EEXIST') return;
  }
  if (isMine(folder)) module.enableCompileCache(folder);
}

/** It could have come with the workspace. No such state folder is used; here that is not known yet. */
function isInWorkspace(folder) {
  const above = path.dirname(folder);
  if (['guild.yaml', 'tasks'].some((name) => fs.existsSync(path.join(folder, name)))) return true;
  return above !== folder && isInWorkspace(above);
}

/** A real folder that only this user can write. */
function isMine(folder) {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}
