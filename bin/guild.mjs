#!/usr/bin/env node
/** The command `guild`. Only looks whether it can start; everything else is in src/cli. */
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`guild needs Node 20.19 or newer; this is Node ${process.versions.node}`);
  process.exit(1);
}
const cli = new URL('../dist/bundle/guild.js', import.meta.url).href;
const { main } = await import(cli).catch((error) => {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || error.url !== cli) throw error;
  console.error('guild is not built yet; run: npm run build');
  process.exit(1);
});
// Only this user can read the files that guild, its commands and git write.
process.umask(0o077);
process.exitCode = await main(process.argv.slice(2));
