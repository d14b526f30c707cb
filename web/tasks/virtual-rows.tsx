/** Rows of one height. Many of them scroll in a box, and only those in sight are drawn. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { count } from '../text.ts';

/** More rows than this scroll in their own box. */
const ROWS_MAX = 60;
const AROUND = 20;
const ROW_PX = 30;

interface VirtualRowsProps<T> {
  rows: readonly T[];
  /** The row that stays in sight; -1: none. */
  chosen: number;
  draw: (row: T) => JSX.Element;
}

export function VirtualRows<T>({ rows, chosen, draw }: VirtualRowsProps<T>): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [rowPx, setRowPx] = useState(ROW_PX);
  const isLong = rows.length > ROWS_MAX;
  const start = isLong ? Math.min(first, Math.max(0, rows.length - ROWS_MAX)) : 0;
  const drawn = isLong ? rows.slice(start, start + ROWS_MAX + AROUND) : rows;
  useEffect(() => {
    const height = box.current?.querySelector<HTMLElement>(':scope > :not([aria-hidden])')?.offsetHeight;
    if (height !== undefined && height > 0) setRowPx(height);
  }, [isLong]);
  useEffect(() => {
    const { current } = box;
    if (!isLong || current === null || chosen === -1) return;
    const at = chosen * rowPx;
    if (at < current.scrollTop) current.scrollTop = at;
    if (at + rowPx > current.scrollTop + current.clientHeight) current.scrollTop = at + rowPx - current.clientHeight;
  }, [chosen]);
  // In steps of half the rows around, so that most scrolling draws nothing.
  const look = (top: number): void => {
    const next = Math.max(0, Math.floor(top / rowPx) - AROUND);
    setFirst(Math.floor(next / (AROUND / 2)) * (AROUND / 2));
  };
  return (
    <div
      class={isLong ? 'wfscroll' : ''}
      ref={box}
      onScroll={(event) => isLong && look(event.currentTarget.scrollTop)}
      {...(isLong ? { role: 'region', tabIndex: 0, 'aria-label': `${count(rows.length)} tasks` } : {})}
    >
      <div aria-hidden="true" style={{ height: `${start * rowPx}px` }} />
      {drawn.map(draw)}
      <div aria-hidden="true" style={{ height: `${Math.max(0, rows.length - start - drawn.length) * rowPx}px` }} />
    </div>
  );
}
