/**
 * Builds of Guildhall as npm delivers them: packed, unpacked, next to the packages they depend on.
 * Benchmarks drive a build only through its public library and its command.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from './folders.js';

export interface Build {
  name: string;
  /** The module that `import 'guildhall'` loads. */
  entry: string;
  /** The file of the command `guild`. */
  guild: string;
  /** A checkout whose own benchmarks are built; undefined for an unpacked package. */
  checkout?: string;
}

export const THIS_CHECKOUT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');

/** The checkout of this benchmark, packed into `folder`. */
export function packedBuild(folder: string): Build {
  return { ...pack('Guildhall', THIS_CHECKOUT, folder), checkout: THIS_CHECKOUT };
}

/** From a folder with a checkout, or from a revision, which is built once and kept. */
export function olderBuild(folderOrRevision: string, folder: string): Build {
  const isFolder = fs.existsSync(path.join(folderOrRevision, 'package.json'));
  const checkout = isFolder ? path.resolve(folderOrRevision) : checkoutOf(folderOrRevision);
  const build = pack('before', checkout, folder);
  return fs.existsSync(path.join(checkout, 'dist/bench/main.js')) ? { ...build, checkout } : build;
}

function checkoutOf(revision: string): string {
  const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: THIS_CHECKOUT, maxBuffer: 1 << 30 });
  const commit = git('rev-parse', '--verify', `${revision}^{commit}`).toString().trim();
  const folder = path.join(cacheFolder(), `build-${commit.slice(0, 12)}`);
  if (fs.existsSync(path.join(folder, 'dist'))) return folder;
  process.stderr.write(`building ${revision} …\n`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['x', '-C', folder], { input: git('archive', commit) });
  execFileSync('npm', ['run', 'build'], { cwd: folder, stdio: ['ignore', 2, 2] });
  return folder;
}

function pack(name: string, checkout: string, folder: string): Build {
  const target = path.join(folder, 'node_modules', 'guildhall');
  fs.mkdirSync(target, { recursive: true });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const text = execFileSync('npm', args, { cwd: checkout, stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' });
  const [{ filename }] = JSON.parse(text) as [{ filename: string }];
  execFileSync('tar', ['xzf', path.join(folder, filename), '--strip-components=1', '-C', target]);
  for (const dependency of dependenciesOf(checkout))
    fs.symlinkSync(dependency.path, linkPlace(folder, dependency.name), 'dir');
  const { exports } = JSON.parse(fs.readFileSync(path.join(target, 'package.json'), 'utf8')) as {
    exports: { '.': { default: string } };
  };
  return { name, entry: path.join(target, exports['.'].default), guild: path.join(target, 'bin/guild.mjs') };
}

/** Packages that npm would install, from the checkout's own node_modules. */
function dependenciesOf(checkout: string): { name: string; path: string }[] {
  const file = path.join(checkout, 'package-lock.json');
  if (!fs.existsSync(file)) return [];
  const { packages } = JSON.parse(fs.readFileSync(file, 'utf8')) as {
    packages: Record<string, { dev?: boolean; peer?: boolean; optional?: boolean }>;
  };
  return Object.entries(packages)
    .filter(([key, { dev, peer }]) => /^node_modules\/[^/]+(\/[^/]+)?$/.test(key) && !dev && !peer)
    .map(([key]) => ({ name: key.slice('node_modules/'.length), path: path.join(checkout, key) }))
    .filter((dependency) => fs.existsSync(dependency.path));
}

function linkPlace(folder: string, name: string): string {
  const place = path.join(folder, 'node_modules', name);
  fs.mkdirSync(path.dirname(place), { recursive: true });
  return place;
}
