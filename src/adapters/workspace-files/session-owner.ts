/**
 * Conversations of other agents are private. The header of the file names the owner. The file name
 * does not: agents `x` and `x-y` can both have conversations that start with `x-y`.
 */
const HEAD_BYTES = 4096;

export function isOwnSession(text: string, agent: string): boolean {
  const owner = /^agent_id:[ \t]*["']?([^"'\s#]+)/m.exec(text.slice(0, HEAD_BYTES));
  return owner?.[1] === agent;
}

/** True for a path, in parts, of a file in the folder of conversations. */
export function isSessionFile(parts: readonly string[]): boolean {
  return parts[0]?.toLowerCase() === 'sessions' && parts.length > 1;
}
