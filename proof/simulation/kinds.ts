/**
 * Counts rare events of the protocol that, besides faults, a run must contain.
 *
 * Owns: the list. As with faults, a run without an event proves nothing about it.
 */

export const KINDS = [
  // Failures that were tolerated, by their cause, …
  'toleratedCertain',
  'toleratedCompensated',
  'toleratedAnswered',
  'toleratedLeft',
  // … and by the kind of their step.
  'toleratedChild',
  'toleratedItem',
  /** Items of a list failed in several of its parts. */
  'failedInParts',
  /** A step that replaces a failed one was begun. */
  'fallback',
  // A child was retried, by a machine or at a person's request, in another way, and with success.
  'triedAgain',
  'triedAsAsked',
  'triedInAnotherWay',
  'triedAndDone',
  /** Items of a list of workflows, by their ends. */
  'listedDone',
  'listedFailed',
  'reminded',
  /** A reminder of an incident that is open then; and of one whose time a pause has moved. */
  'remindedOfIncident',
  'remindedAfterPause',
  /** A failed execution was retried, also with another input of its failed step. */
  'executionRetried',
  'retriedWithInput',
  /** An attempt, a try or a round began with input from a person; a round among these. */
  'inputGiven',
  'roundGiven',
  /** The time of a step was over: of an agent's step, of child executions. */
  'overTime',
  'overTimeChildren',
  /**
   * On-failure steps: done, certainly failed, or possibly not; after a second end; and one that goes on as
   * soon as they are over.
   */
  'followedUp',
  'followedUpInVain',
  'mayHaveFollowedUp',
  'followedUpAgain',
  'goesOnLater',
  /** A next stage after the former one was undone, or was left because it has no effect. */
  'stageAfterUndo',
  'stageLeft',
  /**
   * Accepted work: any, late, found after a crash; probed again; done, never to be done, not over in its
   * time; stopped by an undo, and awaited on the way back.
   */
  'accepted',
  'acceptedLate',
  'acceptedFound',
  'askedTwice',
  'acceptedDone',
  'acceptedNever',
  'acceptedOver',
  'acceptedStopped',
  'acceptedAwaited',
  /** A claim was deferred for its agent's rate, and one has come at its turn. */
  'rateDeferred',
  'rateTurn',
  /**
   * Rounds: another began; all were done; one was retried, also because its execution was; one is undone
   * before the one below it; one more would have been needed; and their failure was tolerated.
   */
  'roundBegun',
  'roundsDone',
  'roundTriedAgain',
  'roundGoesOn',
  'roundUndone',
  'roundsAtMost',
  'roundsTolerated',
  /**
   * Lanes: an execution got a place, also after waiting for it, and after a retry; it got none in its time;
   * and a place was kept after the end was announced.
   */
  'placed',
  'placedLater',
  'placedAgain',
  'noPlace',
  'leftLate',
  /**
   * Carried on by the process before: any; given to a queue after all, for lack of time; while the execution
   * was paused, or stopped, or had its place in a lane; the process died with it; and its lease was lost.
   */
  'carriedOn',
  'carriedToQueue',
  'carriedPaused',
  /** A step that was read before a pause was begun in it. */
  'begunInPause',
  'carriedStopped',
  'carriedPlaced',
  'carriedKilled',
  'carriedLost',
  /**
   * Values outside the table: named by a record, loaded, and left by a process that died before the record;
   * and a step failed because a value that it reads is lost.
   */
  'valueApart',
  'valueLoaded',
  'valueLeft',
  'valueLostFor',
  /** The death of an attempt was recorded: under its lease, later, and when another attempt had begun. */
  'deathUnderLease',
  'deathLater',
  'deathOfOlder',
  /** Executions that were born paused; agents that were paused. */
  'bornPaused',
  'pausedAgent',
  'pausedWhileOpen',
  /** The first probe of an attempt could not tell, and its breaker was closed. */
  'untoldFirst',
  'untoldLater',
  /** The default that counts without an answer. */
  'otherwise',
  /** A wrong answer about work that is done: nobody gave the right answer, or asked for it again. */
  'unmended',
  'askedForAgain',
  'foundNotDone',
  /** A wrong answer of an item that asks quietly, beside another of its execution. */
  'quietQuestion',
  /**
   * Bulk actions: executions that have obeyed each, or were already in the requested state; pages with
   * refusals. Vouched: resolved with the word that nothing happened.
   */
  'bulkRetried',
  'bulkCanceled',
  'bulkPaused',
  'bulkResumed',
  'bulkResolved',
  'bulkSkipped',
  'bulkGaveOutput',
  'bulkVouched',
  'bulkApproved',
  'bulkRejected',
  'bulkRemembered',
  'bulkRefused',
  /** An answered command was repeated. */
  'commandRepeated',
  /** A command id was used with another command, which was refused. */
  'commandReused',
  /** An operator had an agent called now, and this woke a step. */
  'triedNow',
  /** A read of an agent's pause failed. */
  'pauseUnread',
  /** A process died in the middle of a page, and when its page was counted. */
  'bulkKilled',
  'bulkKilledCounted',
  /**
   * Erasures: of executions, and of those that belong to them; refused; completed by a repeated call; and an
   * erased key has begun another execution.
   */
  'erased',
  'erasedChild',
  'eraseRefused',
  'eraseAgain',
  'begunAgain',
  /**
   * Messages to executions: accepted, also before a step waited for them, and in a pause; taken, also of a
   * sender that died, after a retry, and seen after the time was over; none in time, and one that came too
   * late; refused, because no step can take it.
   */
  'messageSent',
  'messageEarly',
  'messageInPause',
  'messageTaken',
  /** A round began with it; a later try of that round kept it; a round began without one. */
  'messageInRound',
  'messageKept',
  'roundWithoutMessage',
  'messageOfDead',
  'messageAfterRetry',
  'messageSeenLate',
  'messageMissed',
  'messageLeft',
  'messageRefused',
  /** A step for a message was skipped; its failure was tolerated. */
  'receiveSkipped',
  'receiveTolerated',
  /** A wait until an instant was over then; its data named none. */
  'waitedUntil',
  'untilNoInstant',
  /** Another agent of a stage accepted work; it did not advance, and was given up. */
  'acceptedByOther',
  'stalledOther',
  /** Four eyes: another person gave an approval, and a person who has acted was refused. */
  'approvedByAnother',
  'refusedToSame',
] as const;
export type Kind = (typeof KINDS)[number];
/** The minimum counts of frequent events for this many executions; for fewer, in proportion. */
const OFTEN: Partial<Record<Kind, number>> = {
  executionRetried: 1_000,
  inputGiven: 1_000,
  begunAgain: 1_000,
  carriedOn: 10_000,
};
const OF_EXECUTIONS = 200_000;

/** The events that were too rare in a run of this many executions. */
export const tooRare = (kinds: Readonly<Record<string, number>>, executions: number): Kind[] =>
  KINDS.filter((kind) => (kinds[kind] ?? 0) < Math.max(1, ((OFTEN[kind] ?? 0) * executions) / OF_EXECUTIONS));

export type KindCounts = Record<Kind, number>;

export const noKinds = (): KindCounts => Object.fromEntries(KINDS.map((kind) => [kind, 0])) as KindCounts;
