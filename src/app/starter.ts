/** Starter workspaces and the package's own folders. */
export { exampleNames, initWorkspace } from '../adapters/starter/index.js';
export { packageFolder } from '../adapters/starter/package-folder.js';
