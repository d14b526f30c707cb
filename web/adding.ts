/** Whether the form for a new task is open, and for whom. */
import { signal } from '@preact/signals';

export const isAdding = signal(false);
export const addingFor = signal('');
