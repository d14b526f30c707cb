/**
 * Files that a task brings along. Images and PDF documents go to the model as they are; text is
 * quoted. The agent must be allowed to read them; a file that it cannot get is named with the
 * reason.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { FileRef } from '../../domain/file-ref.js';
import type { Message } from '../../domain/session/session.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import { fence } from '../../rules/patterns/gather.js';
import type { EngineContext } from '../core/context.js';

const MAX_MEDIA_BYTES = 4 * 1024 * 1024;
const MAX_TEXT_BYTES = 64 * 1024;

/** The task's first message with its attachments. */
export async function withAttachments(
  context: EngineContext,
  agent: Agent,
  task: Task,
  message: Message,
): Promise<Message> {
  const paths = await attachmentsOf(context, task);
  if (paths.length === 0) return message;
  const files: FileRef[] = [];
  const texts: string[] = [];
  for (const path of paths) {
    const got = await attachment(context, agent, task, path);
    if (typeof got === 'string') texts.push(got);
    else files.push(got);
  }
  return {
    ...message,
    content: [message.content, ...texts].join('\n\n'),
    ...(files.length > 0 ? { files } : {}),
  };
}

/** The work stage of a pattern gets its parent's attachments. */
export async function attachmentsOf(context: EngineContext, task: Task): Promise<readonly string[]> {
  if (task.attachments !== undefined) return task.attachments;
  if (!roleFacts(task.role).isOwnWork || task.parent === undefined) return [];
  return (await context.tasks.read(task.parent))?.task.attachments ?? [];
}

async function attachment(context: EngineContext, agent: Agent, task: Task, path: string): Promise<FileRef | string> {
  const media = context.workspaceFiles.readMedia(agent.name, path, MAX_MEDIA_BYTES);
  if (!media.ok) return `[${path} is attached, but it cannot be read: ${media.reason}]`;
  if (media.value !== undefined) {
    const { mediaType, data } = media.value;
    const name = path.replace(/^.*\//, '');
    return { name, mediaType, blob: await context.blobs.put(data), bytes: data.length };
  }
  const read = context.workspaceFiles.read(agent.name, path, MAX_TEXT_BYTES);
  if (!read.ok) return `[${path} is attached, but it cannot be read: ${read.reason}]`;
  const { text, cut } = read.value;
  return `${path}:\n${fence('file', 'attachment', cut ? `${text}\n[… cut]` : text, task.id)}`;
}
