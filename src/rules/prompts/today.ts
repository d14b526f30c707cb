/** The date as a model reads it, in the time zone of the workspace. */

/** `Monday, 16 November 2026` */
export function todayText(now: Date, timeZone: string): string {
  return format(timeZone).format(now);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const options = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
  const made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone });
  formats.set(timeZone, made);
  return made;
}
