/**
 * Steps that nobody waits for. Memory is ahead of the disk by what is in here, and the disk follows in order: a step begins when
 * the one before it is done, so a stop at any moment leaves what a stop a little earlier would have left. Whatever must not be
 * undone by that waits until the disk has caught up.
 */
export interface Behind {
  /** Does it after all steps before it. Throws what went wrong with one of them: then nothing more is done. */
  later(step: () => Promise<void>): void;
  /** There are steps to be done, or one went wrong. */
  isBehind(): boolean;
  /** Resolves when all steps so far are done; throws what went wrong with one of them. */
  caughtUp(): Promise<void>;
}

export function behind(): Behind {
  let last: Promise<void> = Promise.resolve();
  let broken: { thrown: unknown } | undefined;
  let open = 0;
  return {
    later(step) {
      if (broken) throw broken.thrown;
      open++;
      last = last.then(step);
      last.then(
        () => open--,
        (thrown: unknown) => (broken ??= { thrown }),
      );
    },
    isBehind: () => open > 0,
    caughtUp: () => last,
  };
}
