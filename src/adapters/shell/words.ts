/** How commands are confined, in words for approvals, `guild doctor` and problems. */
import type { SandboxSetting } from '../../domain/config/config.js';
import type { Confinement } from './confine.js';

export function confinementText(
  { sandbox, whyNot, isLimited }: Confinement,
  hosts: readonly string[] | undefined,
): string {
  if (sandbox !== undefined) {
    const network = hosts === undefined ? 'no network' : 'only the approved hosts';
    return (
      `sandboxed (${sandbox}, ${network}): it can write the workspace except agents, rules, tasks, conversations and` +
      ' other records; it sees neither private files nor your home folder'
    );
  }
  const limited = isLimited ? 'limits on time, output, memory and processes' : 'limits on time and output';
  return (
    `not sandboxed, because ${whyNot}: the only restrictions are a clean environment and ${limited};` +
    ' it can read and change whatever you can, and reach any host'
  );
}

/** Why a command does not run at all. */
export function refusalText({ whyNot, isUnsure }: Confinement, setting: SandboxSetting | undefined): string {
  if (isUnsure) return `it did not run, because ${whyNot}; try again when the machine is less busy`;
  const why = setting === 'required' ? 'guild.yaml requires a sandbox' : 'commands ran sandboxed here before';
  return `it did not run: ${why}, and no sandbox is available now, because ${whyNot}`;
}
