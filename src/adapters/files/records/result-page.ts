/**
 * The page of an ended task in `results/`, for people. The record has the same text for programs.
 */
import { certificateText } from '../../../domain/task/certificate.js';
import type { Task } from '../../../domain/task/task.js';

export function resultPage(task: Task): string {
  const head = `# ${task.description.split('\n')[0]!.slice(0, 120)}\n\n`;
  if (task.error)
    return `${head}This task failed: ${task.error.message}\n${task.error.hint ? `\n${task.error.hint}\n` : ''}${task.result ? `\n${task.result.trimEnd()}\n` : ''}`;
  const certified = task.certificate && task.certificate.of > 1 ? `\n*${certificateText(task.certificate)}*\n` : '';
  return `${head}${(task.result ?? '').trimEnd()}\n${certified}`;
}
