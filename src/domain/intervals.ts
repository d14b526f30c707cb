/**
 * How often a process looks at something, and how long it collects changes before it acts: one
 * table for all modules.
 */
export const INTERVALS = {
  // Checks for changes by other processes. File events usually come first; the interval is the
  // longest delay.
  /** A process that works looks for changed folders, cancellations and votes. */
  folderCheckMs: 250,
  /** A process that waits for an agent that is busy elsewhere looks again. */
  capacityCheckMs: 100,
  /** A provider that rejects the key, or has no credit for it, is asked again. */
  refusedModelMs: 5 * 60_000,
  /** A provider that cannot be reached is asked again. */
  awayModelMs: 60_000,
  /** A task whose session cannot be read is tried again. */
  unreadableCheckMs: 2000,
  /**
   * A process retries a failed store after the first of these delays; each later delay is longer,
   * up to the second.
   */
  storeRetryMs: 2000,
  storeRetryMaxMs: 60_000,
  /** A process checks whether its peers are alive. */
  peerCheckMs: 1000,
  /** The same among many peers, of whom only the first ones check. */
  peerCheckOfManyMs: 2000,
  /** With many peers, each notices a death after a random delay of at most this. */
  peerNoticeSpreadMs: 1000,
  /** A process saves the time up to which it has read conversations. */
  sessionsMarkMs: 1000,
  /** Votes are counted. */
  voteCheckMs: 20,
  /** Voters that may have died are looked up. */
  voterCheckMs: 500,
  /** Notes are read from the files of a channel. */
  channelCheckMs: 4000,
  /** A writer waits for slow readers of its channel. */
  slowReaderCheckMs: 5,
  /** A process on a shared store looks for texts that something else changed in its folder. */
  textCheckMs: 1000,
  /** A process on a shared store compares its definitions with those that were published. */
  definitionsCheckMs: 2000,
  /** With very many agents, a process looks for edited agent files. */
  rosterCheckMs: 1000,
  /** A process waits for another one that replays journals. */
  replayCheckMs: 5,
  /** Waits for a stopped command to exit. */
  processCheckMs: 20,

  // A database: how long its answers may take, and how often a process asks again
  databaseConnectMs: 10_000,
  databaseAnswerMs: 30_000,
  databasePatienceMs: 60_000,
  /** A process that was stopped waits this long for an answer. */
  databaseLastMs: 1000,
  /** After this time a process reports that it waits for the database. */
  databaseReportMs: 5000,
  databaseRetryMs: 20,
  databaseRetryMaxMs: 500,
  /** Other peers are notified at most this often: notifying takes a lock on the whole server. */
  databaseRingMs: 5,
  /** A running task acts on a request of a person that is older than this. */
  requestAgeMs: 25,
  /** A process that cannot be notified looks for changes. */
  databaseLookMs: 250,
  /** Answers to commits are removed; they are kept for two hours. */
  databaseTidyMs: 10 * 60_000,
  /** A process relies on an earlier answer for at most this long. */
  databaseRememberedMs: 60 * 60_000,

  // Gathering: changes that come closer together than this are handled together
  ringSettleMs: 15,
  /** On a shared store a process waits this much longer for each process that looks before it. */
  ringSpreadMs: 10,
  ringSpreadMaxMs: 500,
  /** A process with tasks under way looks at most this often for what others changed. */
  busyLookMs: 100,
  stateGatherMs: 50,
  /** An editor that writes in place may still be writing this soon after the last change. */
  boardSettleMs: 100,
  /** A ballot that a person changed is not replaced, and nothing is withdrawn, before this time. */
  ballotSavingMs: 1000,
  /** A ballot without its end line is accepted as it is once it has not changed for this long. */
  ballotHalfSavedMs: 2000,
  /** The time between the two looks that find an entry missing. */
  ballotLooksMs: 100,
  /** A single pass waits at most this long for a person who is saving the ballot. */
  ballotPatienceMs: 10_000,
  /** A note that a person's editor moves away while it saves is not deleted. */
  deletionCheckMs: 1000,
  /** Commits to history. */
  commitGapMs: 3000,
  /** A process looks whether others left something for history. */
  historyCheckMs: 5000,
  /**
   * A process looks for people's changes, for history. At its end it looks again, unless the last
   * look is more recent than `peopleCheckAgainMs`.
   */
  peopleCheckMs: 60_000,
  peopleCheckAgainMs: 1000,

  // Display
  frameMs: 100,
  /** `top` polls for changes without file events: dead processes, pauses, elapsed time. */
  topCheckMs: 1000,
  /** The window's server gathers changes before it tells its pages. */
  windowGatherMs: 30,
  /** The window's stream sends a heartbeat. */
  windowBeatMs: 10_000,
  progressMs: 2000,
} as const;
