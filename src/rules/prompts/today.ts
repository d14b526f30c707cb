/** The date as a model reads it, in the time zone of the workspace. */

const MINUTE_MS = 60_000;
const MAX_MINUTES = 100;

/** `Monday, 16 November 2026` */
export function todayText(now: Date, timeZone: string): string {
  let zone = zones.get(timeZone);
  if (zone === undefined) zones.set(timeZone, (zone = { format: formatOf(timeZone), texts: new Map() }));
  // Cached by minute: formatting a date costs more than the rest of a short prompt.
  const minute = Math.floor(now.getTime() / MINUTE_MS);
  let text = zone.texts.get(minute);
  if (text === undefined) {
    if (zone.texts.size >= MAX_MINUTES) zone.texts.clear();
    zone.texts.set(minute, (text = zone.format.format(now)));
  }
  return text;
}

/** A cache: a formatter is expensive to create. A text depends only on the minute and the zone. */
const zones = new Map<string, { format: Intl.DateTimeFormat; texts: Map<number, string> }>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const options = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone });
}
