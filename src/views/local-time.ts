/**
 * Times for people, in the zone of this machine (or of `TZ`), with the offset from UTC. Files and
 * JSON contain ISO times in UTC.
 */
export function localDateTime(iso: string): string {
  return `${localDay(iso)} ${localTime(iso)} ${zone(iso)}`;
}

export function localDay(iso: string): string {
  const at = new Date(iso);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

export function localTime(iso: string): string {
  const at = new Date(iso);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
}

/** The offset at that time: `+01:00`. */
export function zone(iso: string): string {
  const minutes = -new Date(iso).getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
}

/** Replaces the ISO times in a text by local ones. */
export function withLocalTimes(text: string): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g, localDateTime);
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
