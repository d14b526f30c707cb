/** Caches the result of `convert` for each object, for as long as the object lives. */
export function memoize<Key extends object, Value extends {}>(convert: (key: Key) => Value): (key: Key) => Value {
  const cache = new WeakMap<Key, Value>();
  return (key) => {
    let value = cache.get(key);
    if (value === undefined) cache.set(key, (value = convert(key)));
    return value;
  };
}
