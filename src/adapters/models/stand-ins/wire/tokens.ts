/** Tokens as a stand-in counts them: four characters each. */

export function tokensOf(value: unknown): number {
  return Math.ceil((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).length / 4);
}
