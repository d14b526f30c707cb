/** Whether the form for a new task is open. */
import { signal } from '@preact/signals';

export const isAdding = signal(false);
