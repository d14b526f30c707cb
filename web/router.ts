/** Pages by the fragment of the address: `#/task/<id>`. The server never sees it. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

interface Place {
  page: string;
  /** The thing that the page is about. */
  id: string;
  query: URLSearchParams;
}

export const place = signal<Place>(read());

addEventListener('hashchange', () => {
  place.value = read();
});

export function go(address: string): void {
  location.hash = address;
}

export function address(page: string, id = ''): string {
  return `#/${page}${id === '' ? '' : `/${encodeURIComponent(id)}`}`;
}

function read(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [page = '', ...rest] = path.split('/');
  return {
    page: page === '' || page.startsWith('t=') ? 'hall' : page,
    id: decoded(rest.join('/')),
    query: new URLSearchParams(query),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A detail is below its list, not beside it. */
export const isNarrow = matchMedia('(max-width: 1180px)');

/** Where a detail is below its list, scrolls to the chosen detail as soon as it is there. */
export function useBroughtTo(isThere: boolean): { readonly current: HTMLDivElement | null } {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Runs after the frame has scrolled to the top, as it does for every page.
    if (isThere && isNarrow.matches) requestAnimationFrame(() => place.current?.scrollIntoView());
  }, [isThere]);
  return place;
}
