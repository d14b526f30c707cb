#!/usr/bin/env node
/** The command `guild`. Only looks whether it can start; everything else is in src/cli. */
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`guild needs Node 20.19 or newer; this is Node ${process.versions.node}`);
  process.exit(1);
}
try {
  await import('../dist/src/cli/main.js');
} catch (error) {
  const main = new URL('../dist/src/cli/main.js', import.meta.url).href;
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || error.url !== main) throw error;
  console.error('guild is not built yet; run: npm run build');
  process.exit(1);
}
