/**
 * Times for people, in the zone of this machine (or of `TZ`), with the offset from UTC. Files and
 * JSON contain ISO times in UTC.
 */
export function localDateTime(iso: string): string {
  return `${localDay(iso)} ${localTime(iso)} ${zone(iso)}`;
}

/** Date and time in a zone such as `Europe/Berlin`. */
export function dateTimeIn(timeZone: string, iso: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { ...DATE_TIME, timeZone });
  const parts = Object.fromEntries(format.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second, timeZoneName = '' } = parts;
  const offset = timeZoneName === 'GMT' ? '+00:00' : timeZoneName.slice('GMT'.length);
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${offset}`;
}

const DATE_TIME = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'longOffset',
} as const;

export function localDay(iso: string): string {
  const at = new Date(iso);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

export function localTime(iso: string): string {
  const at = new Date(iso);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
}

export function zone(iso: string): string {
  const minutes = -new Date(iso).getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
}

export function withLocalTimes(text: string): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g, localDateTime);
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
