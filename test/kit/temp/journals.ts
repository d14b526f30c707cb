/** Journals whose process did not close them: the last file of a closed one has another name. */
export function unclosedJournals(names: readonly string[]): string[] {
  const peerOf = (name: string): string => name.split('.')[0]!;
  const closed = new Set(names.filter((name) => name.endsWith('.closed')).map(peerOf));
  return names.filter((name) => !closed.has(peerOf(name)));
}
