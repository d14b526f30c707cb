/** What somebody wants of the engine. Every surface only submits these; the engine is the one writer of state. */
export type Intent =
  | { kind: 'cancel'; id: string; task: string; reason?: string; by: string; at: string }
  | { kind: 'retry'; id: string; task: string; by: string; at: string }
  | { kind: 'tell'; id: string; task: string; text: string; by: string; at: string };

export type IntentKind = Intent['kind'];
