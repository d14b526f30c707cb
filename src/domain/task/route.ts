/** A router's choice, and how it stands in the result of its work. */
export interface Route {
  agent: string;
  reason?: string | undefined;
  message?: string | undefined;
}

export function printRoute({ agent, reason, message }: Route): string {
  return JSON.stringify({ route_to: agent, ...(reason ? { reason } : {}), ...(message ? { message } : {}) });
}

/** Undefined if the text is no choice. */
export function readRoute(text: string): Route | undefined {
  try {
    const said = JSON.parse(text) as { route_to?: unknown; reason?: unknown; message?: unknown };
    if (typeof said.route_to !== 'string') return undefined;
    return {
      agent: said.route_to,
      ...(typeof said.reason === 'string' ? { reason: said.reason } : {}),
      ...(typeof said.message === 'string' && said.message.trim() !== '' ? { message: said.message } : {}),
    };
  } catch {
    return undefined;
  }
}
