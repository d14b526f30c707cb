/** The built page: files with a hash in their name, compressed at build time. */
import fs from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../app/starter.js';
import { problem, ProblemError } from '../domain/problem.js';

export interface Assets {
  /** Differs with every build. */
  id: string;
  script: string;
  styles: string[];
  icon: string;
  /** The script that lays out graphs. */
  worker: string;
  /** The text of the script and the style of an exported run. */
  exported(): { script: string; style: string };
  /** Only names that the build lists are served, so a request cannot reach any other path. */
  read(name: string, brotli: boolean): { bytes: Buffer; type: string; encoding?: string } | undefined;
}

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export function openAssets(folder = packageFolder('dist/web')): Assets {
  let manifest: Omit<Assets, 'exported' | 'read'> & { exported: string; files: string[] };
  try {
    manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json'), 'utf8')) as typeof manifest;
  } catch {
    throw new ProblemError(
      problem('not_found', 'the files of the window are missing', {
        hint: 'run npm run build, or install guildhall again',
      }),
    );
  }
  const names = new Set(manifest.files);
  const kept = new Map<string, Buffer>();
  return {
    ...manifest,
    exported: () => ({
      script: fs.readFileSync(path.join(folder, manifest.exported), 'utf8'),
      style: fs.readFileSync(path.join(folder, manifest.styles[0]!), 'utf8'),
    }),
    read(name, brotli) {
      const type = TYPES[path.extname(name)];
      if (!names.has(name) || type === undefined) return undefined;
      const packed = brotli && names.has(`${name}.br`);
      const file = packed ? `${name}.br` : name;
      const bytes = kept.get(file) ?? fs.readFileSync(path.join(folder, file));
      kept.set(file, bytes);
      return packed ? { bytes, type, encoding: 'br' } : { bytes, type };
    },
  };
}
