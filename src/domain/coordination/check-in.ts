/** Planner check-ins: at intervals, the planner is asked to review the work if it has changed. */

/** `storage/planner-checkin.yaml`, for people. */
export interface CheckInNote {
  /** ISO time; absent before the first check-in. */
  lastCheckin?: string;
  intervalSeconds: number;
  /** File name of the conversation of the last check-in. */
  plannerSession?: string;
  count: number;
  lastReason?: string;
}

/** The program's own state between check-ins. */
export interface CheckInMemory {
  /** A fingerprint of the state of the work at the last check-in. */
  work: string;
  /** The last check-in, until it is known to have ended. */
  task?: string;
}

export const CHECK_IN_SECONDS = 60;
