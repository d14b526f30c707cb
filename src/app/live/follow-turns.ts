/**
 * The running turns of a workspace, in all its processes: the words of the model as they
 * arrive, the tool and its argument, its last result, tokens and cost. `watch`, `top`, `chat` and
 * the window's server read them here.
 *
 *     const live = followTurns(root, env, {
 *       progress: (progress, turn) => …, // a piece: thinking, words, tool, report, result
 *       turn: (turn) => …,               // a whole turn: it was found, or its cost changed
 *       end: (turn) => …,                // the task was parked or ended, or its process died
 *     });
 *     live.turns();                      // all turns as they are now, for a page that opens late
 *     live.close();
 *
 * The turns come from private sockets of the other processes (`adapters/live-progress`). Every
 * callback is optional. Texts are those of models and tools, unescaped and cut to a limit: a
 * surface escapes them. Losing a socket affects only the display: the truth is in the files.
 */
import type { Env } from '../../domain/config/env.js';
import { attempt } from '../../domain/attempt.js';
import fs from 'node:fs';
import path from 'node:path';
import { followProgress, type Following } from '../../adapters/live-progress/index.js';
import type { LiveTurn } from '../../domain/live-turn.js';
import type { Progress } from '../../domain/progress.js';

export interface TurnListener {
  progress?(progress: Progress, turn: LiveTurn): void;
  turn?(turn: LiveTurn): void;
  end?(turn: LiveTurn): void;
}

/** `own`: the peer id of this process if it works, too; its turns are left out. */
export function followTurns(root: string, env: Env, listener: TurnListener = {}, own?: () => string): Following {
  return followProgress({
    root: realPath(root),
    env,
    own,
    onProgress: (progress, turn) => listener.progress?.(progress, turn),
    onTurn: (turn) => listener.turn?.(turn),
    onEnd: (turn) => listener.end?.(turn),
  });
}

/** Processes that came to the workspace by different paths must find each other. */
export function realPath(root: string): string {
  const resolved = path.resolve(root);
  return attempt(() => fs.realpathSync(resolved), resolved);
}
