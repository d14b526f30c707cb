/** The outside sources of a bullet, in the field `influenced_by`: `slack/sarah, web/web_search`. */
import { fieldOf, type Item } from './item.js';

export const INFLUENCED_BY = 'influenced_by';

export function influencesOf(item: Item): string[] {
  return influences(String(fieldOf(item, INFLUENCED_BY)?.value ?? ''));
}

export function influences(text: string): string[] {
  return text.split(',').flatMap((source) => (source.trim() === '' ? [] : [source.trim()]));
}
