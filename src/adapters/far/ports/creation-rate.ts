/**
 * Counts how many tasks were recently created under each root, from the tasks that looks bring.
 * Times come from the records, so the count is wrong by as much as the machines' clocks differ.
 */
import type { Task } from '../../../domain/task/task.js';
import type { CreationRate } from '../../../ports/creation-rate.js';

/** `onNew`: calls back for each task that this process sees for the first time. */
export function farCreationRate(onNew: (hear: (task: Task) => void) => void): CreationRate {
  const created = new Map<string, number[]>();
  onNew(({ id, root, created_at: at }) => {
    if (id === root) return;
    const times = created.get(root);
    if (times === undefined) created.set(root, [Date.parse(at)]);
    else times.push(Date.parse(at));
  });
  return {
    madeSince(root, ms) {
      for (const [each, times] of created) {
        const recent = times.filter((at) => at >= ms);
        if (recent.length === 0) created.delete(each);
        else if (recent.length < times.length) created.set(each, recent);
      }
      return created.get(root)?.length ?? 0;
    },
  };
}
