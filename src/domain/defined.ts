/** Drops the keys whose value is undefined, for records that are compared, printed or merged. */
export function defined<T extends object>(fields: T): T {
  const kept = {} as T;
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept;
}
