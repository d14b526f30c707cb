/**
 * Which rows have just changed, for a short tint of their background. If many rows change at once,
 * none is tinted, because the whole page is new.
 */
import { useEffect, useRef, useState } from 'preact/hooks';

const TINT_MS = 600;
const TINTED_MAX = 5;
const NONE: ReadonlySet<string> = new Set();

interface Look<T> {
  id: (row: T) => string;
  /** A row has changed if this text differs. */
  text: (row: T) => string;
  /** Rows of another scope are new, not changed. */
  scope: string;
}

export function useTint<T>(rows: readonly T[] | undefined, look: Look<T>): ReadonlySet<string> {
  const before = useRef<{ scope: string; texts: Map<string, string> }>(undefined);
  const [tinted, setTinted] = useState(NONE);
  useEffect(() => {
    if (rows === undefined) return;
    const texts = new Map(rows.map((row) => [look.id(row), look.text(row)]));
    const old = before.current;
    before.current = { scope: look.scope, texts };
    if (old === undefined || old.scope !== look.scope) return;
    const changed = [...texts].filter(([id, text]) => old.texts.get(id) !== text).map(([id]) => id);
    if (changed.length === 0 || changed.length > TINTED_MAX) return;
    const next = new Set(changed);
    setTinted(next);
    setTimeout(() => setTinted((now) => (now === next ? NONE : now)), TINT_MS);
  }, [rows, look.scope]);
  return tinted;
}
