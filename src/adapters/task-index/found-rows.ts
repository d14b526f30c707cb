/**
 * Where each ended task was found, in typed arrays, because there may be a hundred thousand. The
 * newest come first; tasks of the same age are in the order of the listing.
 */
export interface FoundRows {
  /** `place`: the position in the listing. */
  add(writtenMs: number, place: number, chunk: number, row: number): void;
  inOrder(): Iterable<FoundRow>;
}

interface FoundRow {
  chunk: number;
  row: number;
}

export function foundRows(max: number): FoundRows {
  const written = new Float64Array(max);
  const places = new Uint32Array(max);
  const chunks = new Uint32Array(max);
  const rows = new Uint32Array(max);
  let count = 0;
  let order: Uint32Array | undefined;
  return {
    add(writtenMs, place, chunk, row) {
      written[count] = writtenMs;
      places[count] = place;
      chunks[count] = chunk;
      rows[count++] = row;
    },
    *inOrder() {
      order ??= sorted();
      for (const i of order) yield { chunk: chunks[i]!, row: rows[i]! };
    },
  };

  function sorted(): Uint32Array {
    const all = new Uint32Array(count);
    for (let i = 0; i < count; i++) all[i] = i;
    return all.sort((a, b) => written[b]! - written[a]! || places[a]! - places[b]!);
  }
}
