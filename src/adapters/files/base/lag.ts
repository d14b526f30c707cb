/** When files follow memory. */
export type Lag = (wake: () => void) => void;
