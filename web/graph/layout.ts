/** Asks the worker for the places of nodes and edges. */
export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

export interface LayoutRequest {
  id: number;
  nodes: string[];
  /** `width`: of the label. */
  edges: { from: string; to: string; width: number }[];
  /** Nodes that are drawn inside one frame. */
  groups: string[][];
  size: { width: number; height: number };
}

export interface LayoutReply {
  id: number;
  width: number;
  height: number;
  nodes: Point[];
  /** `isArc`: of a ring; its second point is the one towards which it bends. */
  edges: { points: Point[]; label: Point; isArc?: boolean }[];
  rings: { at: Point; size: number }[];
  /** Undefined if every node is already in another group. */
  groups: (Box | undefined)[];
}

let worker: Worker | undefined;
let last = 0;
const waiting = new Map<number, (reply: LayoutReply) => void>();

export function layout(request: Omit<LayoutRequest, 'id'>): Promise<LayoutReply> {
  worker ??= start();
  const id = ++last;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    worker!.postMessage({ id, ...request } satisfies LayoutRequest);
  });
}

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

/** Trusted Types refuse script addresses. The only policy of the page admits this one. */
function start(): Worker {
  const address = document.getElementById('hello')!.dataset['worker']!;
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  const createScriptURL = (url: string): string => {
    if (url !== address) throw new TypeError('only the worker of this page may run');
    return url;
  };
  const url = trustedTypes?.createPolicy('guild', { createScriptURL }).createScriptURL(address) ?? address;
  const made = new Worker(url, { type: 'module' });
  made.addEventListener('message', ({ data }: MessageEvent<LayoutReply>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  });
  return made;
}
