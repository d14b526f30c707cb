/** Changes one message of a conversation, as a person's save in an editor would. */
import fs from 'node:fs';
import path from 'node:path';
import { isSafeId } from '../../domain/task/id.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { editedMessage } from '../../text/session/edit.js';
import { saveAsPerson } from './save-as-person.js';

/** False: the file is not the one that was seen. Throws if only an editor can change it. */
export async function editMessage(
  root: string,
  { session, n, text, seen }: { session: string; n: number; text: string; seen: (file: string) => boolean },
): Promise<boolean> {
  if (!isSafeId(session)) throw new ProblemError(problem('bad_name', 'that cannot be the id of a conversation'));
  const file = `sessions/${session}.session.yaml`;
  if (!fs.existsSync(path.join(root, file)))
    throw new ProblemError(
      problem('not_found', `${file} is not in this folder`, {
        hint: 'the work is in a shared store: run guild sync here, and change it again',
      }),
    );
  const before = fs.readFileSync(path.join(root, file), 'utf8');
  if (!seen(before)) return false;
  const after = editedMessage(before, n, text);
  if (after === undefined)
    throw new ProblemError(
      problem('bad_file', `message ${n} cannot be changed here`, { where: { file }, hint: 'edit it in your editor' }),
    );
  return saveAsPerson(root, file, before, after);
}
