/** Changes one message of a conversation, as a person's save in an editor would. */
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { isSafeId } from '../../domain/task/id.js';
import { problemError } from '../../domain/problem.js';
import { editedMessage } from '../../text/session/edit.js';
import { textIn } from '../trust/text-file.js';
import { saveAsPerson } from './save-as-person.js';

const MAX_BYTES = 64 * 1024 * 1024;

/** False: the file has changed since it was seen. Throws if only an editor can change it. */
export async function editMessage(
  root: string,
  { session, n, text, seen }: { session: string; n: number; text: string; seen: (file: string) => boolean },
): Promise<boolean> {
  if (!isSafeId(session)) throw problemError('bad_name', 'that cannot be the id of a conversation');
  const file = `sessions/${session}.session.yaml`;
  const before = attempt(() => textIn(path.join(root, file), MAX_BYTES));
  if (before === undefined)
    throw problemError('not_found', `${file} is not in this folder`, {
      hint: 'the work is in a shared store: run guild sync here, and change it again',
    });
  if (!seen(before)) return false;
  const after = editedMessage(before, n, text);
  if (after === undefined)
    throw problemError('bad_file', `message ${n} cannot be changed here`, {
      where: { file },
      hint: 'edit it in your editor',
    });
  return saveAsPerson(root, file, before, after);
}
