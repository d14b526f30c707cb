/**
 * Measures and cuts text in terminal columns. A grapheme is never divided: a letter with its
 * accents, a flag, an emoji with a skin tone.
 */
export function columnsOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let sum = 0;
  for (const { segment } of graphemes(text)) sum += columnsOfGrapheme(segment);
  return sum;
}

/** The start of the text, at most this many columns wide. */
export function cutTo(text: string, columns: number): string {
  if (NARROW.test(text)) return text.slice(0, Math.max(0, columns));
  let left = columns;
  for (const { segment, index } of graphemes(text)) {
    left -= columnsOfGrapheme(segment);
    if (left < 0) return text.slice(0, index);
  }
  return text;
}

/** The end of the text, at most this many columns wide. */
export function endOf(text: string, columns: number): string {
  if (NARROW.test(text)) return text.slice(text.length - Math.min(text.length, Math.max(0, columns)));
  let left = columns;
  for (const { segment, index } of [...graphemes(text)].reverse()) {
    left -= columnsOfGrapheme(segment);
    if (left < 0) return text.slice(index + segment.length);
  }
  return text;
}

/** Fast path for nearly all text: Latin, Greek, Cyrillic, and the symbols of our own output. */
const NARROW =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0590\u2010-\u2027\u2190-\u21ff\u2500-\u25fc]*$/;
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Cs}]/u;
/** Flags, keycaps, characters with the emoji variation selector, joined emoji, skin tones. */
const PICTURE =
  /\p{RI}\p{RI}|^[\d#*]\ufe0f?\u20e3|\p{Emoji}\ufe0f|\p{ExtPict}.*\u200d.*\p{ExtPict}|\p{Emoji_Modifier}/u;
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4c6\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{191d2}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|(?!\p{RI})\p{Emoji_Presentation}/u;
/** Combining marks that occupy a column. */
const SPACING = /[\p{Mc}\uff9e\uff9f]/gu;

function columnsOfGrapheme(grapheme: string): number {
  const base = VISIBLE.exec(grapheme)?.[0];
  if (base === undefined) return 0;
  if (PICTURE.test(grapheme)) return 2;
  const marks = grapheme.replace(base, '').match(SPACING)?.length ?? 0;
  return marks + (WIDE.test(base) ? 2 : 1);
}

/**
 * In windows, because a segmenter takes quadratic time for a long text (half a minute for 100 kB).
 * The last grapheme of a window may be incomplete, so the next window starts with it.
 */
export function* graphemes(text: string): Generator<{ segment: string; index: number }> {
  // Created per call: the first one takes 10 ms and most commands need none; others take 0.03 ms.
  const segmenter = new Intl.Segmenter();
  for (let at = 0; at < text.length;) {
    const start = at;
    // Half a character at the end would end the grapheme before it.
    const end = start + WINDOW + (/[\ud800-\udbff]/.test(text[start + WINDOW - 1] ?? '') ? 1 : 0);
    const parts = [...segmenter.segment(text.slice(start, end))];
    const isLast = end >= text.length;
    for (const { segment, index } of isLast || parts.length === 1 ? parts : parts.slice(0, -1)) {
      yield { segment, index: start + index };
      at = start + index + segment.length;
    }
  }
}

const WINDOW = 256;
