/** Planner check-ins: from time to time, when the work of others has moved, the planner is asked to look after it. */

/** `storage/planner-checkin.yaml`, for people: when the planner last looked, how often it should, and why it did. */
export interface CheckInNote {
  /** ISO time; absent: nobody has looked yet. */
  lastCheckin?: string;
  intervalSeconds: number;
  /** File name of the conversation of the last check-in. */
  plannerSession?: string;
  count: number;
  lastReason?: string;
}

/** What the program itself must remember between check-ins. */
export interface CheckInMemory {
  /** A fingerprint of the work as it was. */
  work: string;
  /** The check-in that is not known to have ended. */
  task?: string;
}

export const CHECK_IN_SECONDS = 60;
